"""The committed files are what the schema renders, and say what the reader reads."""

import json
import re
from pathlib import Path

import pytest
import yaml

from edgevoice.settings import render
from edgevoice.settings.keys import KEYS, SECTIONS
from edgevoice.settings.loader import Loaded, load, load_file
from edgevoice.settings.schema import PROFILES, Settings

REPOSITORY = Path(__file__).parents[2]


def uncommented(sample: str) -> str:
    return re.sub(r"(?m)^( *)#(\w+:)", r"\1\2", sample)


@pytest.mark.parametrize(
    ("name", "form", "rendered"),
    [
        ("config/edgevoice.yaml", "yaml", render.sample()),
        ("docs/configuration.md", "markdown", render.markdown()),
    ],
)
def test_the_committed_file_is_up_to_date(name: str, form: str, rendered: str) -> None:
    hint = f"run: edgevoice config schema --format {form} > {name}"
    assert (REPOSITORY / name).read_text(encoding="utf-8") == rendered, hint


def test_the_sample_as_it_stands_changes_nothing() -> None:
    loaded = load(REPOSITORY / "config/edgevoice.yaml")
    assert loaded.settings == Settings()
    assert loaded.lines == {}


def test_the_sample_with_every_key_set_is_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "edgevoice.yaml"
    path.write_text(uncommented(render.sample()), encoding="utf-8")
    loaded = load(path)
    assert loaded.settings == Settings()
    assert loaded.lines.keys() == KEYS.keys()


@pytest.mark.parametrize("name", KEYS)
def test_any_one_key_of_the_sample_can_be_set(name: str, tmp_path: Path) -> None:
    section, _, leaf = name.rpartition(".")
    head, found, tail = render.sample().partition(f"\n{section}:\n" if section else "\n\n")
    path = tmp_path / "edgevoice.yaml"
    path.write_text(head + found + re.sub(rf"(?m)^( *)#({leaf}:)", r"\1\2", tail, count=1))
    loaded = load(path)
    assert list(loaded.lines) == [name]


def test_the_page_has_every_key_and_profile() -> None:
    page = render.markdown()
    for section in SECTIONS:
        assert f"\n## {section}\n" in page
    for key in KEYS.values():
        assert f"| `{key.leaf}` | " in page
    for changes in PROFILES.values():
        for name, value in changes.items():
            assert re.search(rf"\n\| `{name}` \|.* `{re.escape(str(value).lower())}` \|", page)


def test_the_json_schema_has_every_key_with_its_default() -> None:
    schema = json.loads(render.json_schema())
    for key in KEYS.values():
        node = schema["properties"]
        if key.section:
            assert node[key.section]["additionalProperties"] is False
            node = node[key.section]["properties"]
        entry = node[key.leaf]
        item = entry["items"] if key.is_list else entry
        assert entry["default"] == key.default
        if key.choices:
            assert [str(choice) for choice in item["enum"]] == list(key.choices)
        elif key.ge is not None:
            assert (item["minimum"], item["maximum"]) == (key.ge, key.le)
    assert schema["additionalProperties"] is False


def test_what_holds_is_yaml_again_and_says_where_from(tmp_path: Path) -> None:
    path = tmp_path / "edgevoice.yaml"
    path.write_text("profile: aggressive\nllm: {threads: 2}\nbarge_in:\n  hard_words: [no]\n")
    loaded = load_file(path)
    shown = render.effective(loaded)

    again = tmp_path / "again.yaml"
    again.write_text(shown)
    assert load_file(again).settings == loaded.settings
    assert re.search(rf"(?m)^  threads: 2 +# {re.escape(str(path))}:2$", shown)
    assert re.search(r"(?m)^  min_silence_to_speak_ms: 300 +# profile aggressive$", shown)
    assert re.search(r"(?m)^  max_tokens: 160 +# default$", shown)


def test_what_holds_without_a_file_is_the_defaults() -> None:
    values = yaml.safe_load(render.effective(Loaded(Settings())))
    flat = {key: value for key, value in values.items() if key not in SECTIONS}
    for section in SECTIONS:
        flat |= {f"{section}.{leaf}": value for leaf, value in values[section].items()}
    assert flat == {name: key.default for name, key in KEYS.items()}
