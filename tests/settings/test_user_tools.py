"""The tools of the configuration: read, and every mistake told with its line."""

import json
from pathlib import Path

import pytest

from edgevoice.errors import ConfigError
from edgevoice.settings import render
from edgevoice.settings.loader import load_file
from edgevoice.settings.schema import Parameter, UserTool
from edgevoice.skillset import _command, with_sentences

LAMP = """\
tools:
  - name: lamp
    description: Switch the lamp.
    command: [/bin/lamp, "--state={state}", "{level}"]
    parameters:
      state: {choices: ["on", "off"]}
      level: {type: integer, min: 0, max: 10, required: false}
    environment: {ROOM: kitchen}
    timeout_s: 5
    sentences: ["turn the lamp {state}"]
"""


def written(tmp_path, text):
    path = tmp_path / "edgevoice.yaml"
    path.write_text(text)
    return path


def test_a_tool_is_read(tmp_path: Path):
    (tool,) = load_file(written(tmp_path, LAMP)).settings.tools
    assert tool == UserTool(
        name="lamp",
        description="Switch the lamp.",
        command=["/bin/lamp", "--state={state}", "{level}"],
        parameters={
            "state": Parameter(choices=["on", "off"]),
            "level": Parameter(type="integer", min=0, max=10, required=False),
        },
        environment={"ROOM": "kitchen"},
        timeout_s=5.0,
        sentences=["turn the lamp {state}"],
    )


def test_its_parameters_become_a_schema_and_its_sentences_templates(tmp_path: Path):
    (tool,) = load_file(written(tmp_path, LAMP)).settings.tools
    assert _command(tool, 300.0).parameters == {
        "type": "object",
        "properties": {
            "state": {"type": "string", "enum": ["on", "off"]},
            "level": {"type": "integer", "minimum": 0, "maximum": 10},
        },
        "required": ["state"],
        "additionalProperties": False,
    }
    templates = with_sentences({"language": "en", "intents": {}}, [tool])
    (data,) = templates["intents"]["lamp"]["data"]
    assert data["sentences"] == ["turn the lamp {state}"]
    assert data["lists"]["state"] == {"values": ["on", "off"]}


def test_nothing_below_tools_is_no_tool(tmp_path: Path):
    assert load_file(written(tmp_path, "tools:\n")).settings.tools == ()


def changed(old, new):
    assert old in LAMP
    return LAMP.replace(old, new)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("tools: 7\n", 1, "expected a list of tools"),
        ("tools:\n  - lamp\n", 2, "expected keys such as 'name:'"),
        ("tools:\n  - name: lamp\n", 2, "a tool needs description and command"),
        (changed("name: lamp", "nmae: lamp"), 2, "unknown key; did you mean name?"),
        (changed("name: lamp", "name: The Lamp"), 2, "is no name"),
        (changed("{level}", "{colour}"), 2, "{colour} is no parameter of lamp"),
        (changed("{level}", "{level"), 2, "write {{ for a brace"),
        (changed("command: [/bin/lamp,", "command: /bin/lamp #"), 4, "expected a list"),
        (changed("timeout_s: 5", "timeout_s: fast"), 9, "expected a number of s from 0 to 86400"),
        (changed("type: integer", "type: int"), 7, "expected one of string"),
        (changed("min: 0", "least: 0"), 7, "unknown key"),
        (changed("ROOM: kitchen", "7: kitchen"), 8, "expected NAME: value"),
        (changed("state: {choices", "State!: {choices"), 6, "is no name"),
        (LAMP + LAMP.partition("\n")[2], 11, "two tools named lamp"),
    ],
)
def test_every_mistake_is_told_with_its_line(tmp_path: Path, text: str, line: int, what: str):
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_file(path)
    told = str(caught.value).splitlines()
    assert any(told_line.startswith(f"{path}:{line}: tools") for told_line in told), told
    assert any(what in told_line for told_line in told), told


def test_the_json_schema_knows_them(tmp_path: Path):
    import fastjsonschema
    import yaml

    check = fastjsonschema.compile(json.loads(render.json_schema()))
    check(yaml.safe_load(LAMP))
