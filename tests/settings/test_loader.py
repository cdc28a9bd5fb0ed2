"""Which file is read, and what a right one means."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgevoice.errors import ConfigError
from edgevoice.settings import loader
from edgevoice.settings.keys import KEYS
from edgevoice.settings.loader import load, parse
from edgevoice.settings.schema import Settings


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without a configuration, all of whose places are below the path."""
    monkeypatch.delenv("EDGEVOICE_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(loader, "SYSTEM_FILE", tmp_path / "etc" / "edgevoice.yaml")
    return tmp_path


def write(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_without_any_file_the_defaults_hold(places: Path) -> None:
    loaded = load()
    assert loaded.settings == Settings()
    assert loaded.path is None


def test_the_first_place_wins(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = write(places / "home" / ".config" / "edgevoice" / "edgevoice.yaml")
    assert load().path is None, "XDG_CONFIG_HOME is set"
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert load().path == home
    monkeypatch.setenv("XDG_CONFIG_HOME", str(places / "xdg"))
    xdg = write(places / "xdg" / "edgevoice" / "edgevoice.yaml")
    assert load().path == xdg
    system = write(places / "etc" / "edgevoice.yaml")
    assert load().path == system
    named = write(places / "env.yaml")
    monkeypatch.setenv("EDGEVOICE_CONFIG", str(named))
    assert load().path == named
    option = write(places / "option.yaml")
    assert load(option).path == option


def test_a_named_file_must_exist(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"gone.yaml: no such file; "):
        load(places / "gone.yaml")
    monkeypatch.setenv("EDGEVOICE_CONFIG", str(places / "gone.yaml"))
    with pytest.raises(ConfigError, match=r"gone.yaml: no such file; "):
        load()


def test_a_dangling_link_is_not_passed_over(places: Path) -> None:
    (places / "etc").mkdir()
    (places / "etc" / "edgevoice.yaml").symlink_to(places / "gone.yaml")
    with pytest.raises(ConfigError, match="no such file"):
        load()


def test_what_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="is a directory; name the file in it"):
        load(tmp_path)
    with pytest.raises(ConfigError, match="cannot be read: Not a directory"):
        load(write(tmp_path / "file") / "edgevoice.yaml")
    with pytest.raises(ConfigError, match="cannot be read: embedded null byte"):
        load("a\0b")

    def refuse(*_: object) -> None:  # a mode would not stop root, who runs many a test
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ConfigError, match="cannot be read: Permission denied; see its owner"):
        load(tmp_path / "edgevoice.yaml")


@pytest.mark.parametrize(
    "text", ["", "# only a comment\n", "---\n", "---\n...\n", "~", "{}", "turn:\nllm:\n", "\ufeff"]
)
def test_a_file_that_says_nothing_means_the_defaults(text: str, tmp_path: Path) -> None:
    assert load(write(tmp_path / "edgevoice.yaml", text)).settings == Settings()


def test_the_type_of_a_key_decides_how_it_is_read(tmp_path: Path) -> None:
    text = """
barge_in:
  enabled: OFF
  hard_words: [no, off, 42, "yes, stop"]
dead_air: {enabled: on}
timeouts: {task_s: 300, held_s: 2e0, follow_up_s: &time 9}
audio: {input: 3, earcons: no}
llm: {model: "true", temperature: .5}
recovery:
  llm_retries_s: [1, *time]
history:
  system_prompt: |
    One.
    Two.
"""
    got = load(write(tmp_path / "edgevoice.yaml", text)).settings
    assert got.barge_in.enabled is False
    assert got.barge_in.hard_words == ["no", "off", "42", "yes, stop"]
    assert got.dead_air.enabled == "on"
    assert repr((got.timeouts.task_s, got.timeouts.held_s)) == "(300.0, 2.0)"
    assert (got.audio.input, got.audio.earcons) == ("3", False)
    assert (got.llm.model, got.llm.temperature) == ("true", 0.5)
    assert got.recovery.llm_retries_s == [1.0, 9.0]
    assert got.history.system_prompt == "One.\nTwo.\n"


def test_a_profile_changes_only_what_the_file_leaves_open(tmp_path: Path) -> None:
    text = "turn:\n  hysteresis_window_ms: 180\nprofile: aggressive\n"
    loaded = load(write(tmp_path / "edgevoice.yaml", text))
    assert loaded.settings.turn.min_silence_to_speak_ms == 300
    assert loaded.settings.turn.hysteresis_window_ms == 180
    assert loaded.settings.turn.min_text_length == Settings().turn.min_text_length
    assert loaded.origin("turn.hysteresis_window_ms") == f"{loaded.path}:2"
    assert loaded.origin("turn.min_silence_to_speak_ms") == "profile aggressive"
    assert loaded.origin("turn.min_text_length") == "default"


_WORDS = st.sampled_from(
    ["turn", "policy", "llm", "threads", "activation", ":", ": ", "- ", "\n", "\n  ", "[", "]", "{",
     "}", ",", "'", '"', "&a ", "*a", "!!int ", "!x", "|", ">", "#", "?", "<<", "~", "\t", "%YAML ",
     "---", "...", "\\x", "1e9", "0x1", ".nan", "on", "\ufeff", "\r", "\x85", "\u2028"]
)  # fmt: skip


def assert_only_config_errors(data: bytes) -> None:
    told = ""
    try:
        parse(data, Path("x.yaml"))
    except ConfigError as error:
        told = str(error)
    assert all(line.startswith("x.yaml:") for line in told.splitlines())


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode()))
@settings(max_examples=300, deadline=None)
def test_no_bytes_at_all_raise_anything_else(data: bytes) -> None:
    assert_only_config_errors(data)


@given(st.lists(_WORDS | st.text(max_size=3), max_size=40).map("".join))
@settings(max_examples=600, deadline=None)
def test_nothing_that_looks_like_yaml_raises_anything_else(text: str) -> None:
    assert_only_config_errors(text.encode(errors="replace"))


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(st.sampled_from(sorted(KEYS)), _VALUES)
@settings(max_examples=300, deadline=None)
def test_any_value_of_any_key_is_taken_or_refused_in_one_breath(name: str, value: object) -> None:
    import yaml

    section, _, leaf = name.rpartition(".")
    document = {section: {leaf: value}} if section else {leaf: value}
    assert_only_config_errors(yaml.safe_dump(document).encode())
