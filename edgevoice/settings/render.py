"""What is written from the schema: the sample YAML, the documentation and the JSON schema."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from edgevoice.settings.keys import KEYS, SECTIONS, TOOLS, Key, Value, keys_in, value_of
from edgevoice.settings.loader import Loaded
from edgevoice.settings.schema import PROFILES
from edgevoice.settings.tools import PARAMETER_KEYS, TOOL_KEYS

_SAMPLE_HEAD = """\
# The configuration of edgevoice.
#
# It is read from the first of these that exists: the file of --config, the file named in
# $EDGEVOICE_CONFIG, /etc/edgevoice/edgevoice.yaml, ~/.config/edgevoice/edgevoice.yaml.
# Every key stands below with its default, behind a '#': remove the '#' to set it.
# In brackets after each explanation: the unit, and the limits or choices.
#
#   edgevoice config check     tells all that is wrong, with its line
#   edgevoice config show      tells what holds, and where it came from

"""

_MARKDOWN_HEAD = """\
# Configuration

Written by `edgevoice config schema --format markdown`; do not edit.

edgevoice reads one YAML file, the first of these that exists: the file of `--config`, the file
named in `$EDGEVOICE_CONFIG`, `/etc/edgevoice/edgevoice.yaml`, `~/.config/edgevoice/edgevoice.yaml`
(in `$XDG_CONFIG_HOME` if that is set). A file that is named must exist; without any file the
defaults below hold. `config/edgevoice.yaml` is a file with every key, to start from.

`edgevoice config check` tells everything that is wrong at once, a line each, and ends with exit
status 78; the daemon does the same at its start and does not run with half a configuration:

```
/etc/edgevoice/edgevoice.yaml:12: turn.min_silence_to_speak_ms: expected a whole number of ms \
from 50 to 5000, got "fast"
```

`edgevoice config show` tells what holds and where each value came from, and `edgevoice config
schema --format json` writes a JSON schema for editors. The type of a key decides how its value
is read: `[stop, no]` is a list of two words, and `dead_air.enabled: on` is the word on.
"""

_SAMPLE_TOOLS = """\
# Commands of your own that can be asked for by voice (docs/skills.md).
tools:
  # - name: lamp
  #   description: Switch the lamp on or off.
  #   command: [/usr/local/bin/lamp, "{state}"]
  #   parameters:
  #     state: {choices: ["on", "off"]}
  #   sentences: ["turn the lamp {state}"]"""

_ABOUT_TOOLS = """\
A list of commands of your own that can be asked for by voice; `docs/skills.md` shows how. Each
has a name, a description, a command, and what it needs of the rest. `parameters` names the values
that the command takes, `environment` the variables it gets besides `PATH`, `HOME` and `LANG`.
"""

_NO_BREAK = "\N{NO-BREAK SPACE}"

_JSON_TYPES: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}


def sample() -> str:
    """The sample YAML: every key with its explanation, commented out at its default."""
    blocks = ["\n".join(_sample_key(key, "")) for key in keys_in("").values()]
    blocks += ["\n".join(_sample_section(section)) for section in SECTIONS]
    blocks.append(_SAMPLE_TOOLS)
    return _SAMPLE_HEAD + "\n\n".join(blocks) + "\n"


def _sample_section(section: str) -> Iterator[str]:
    yield f"# {_about(section)}"
    yield f"{section}:"
    for number, key in enumerate(keys_in(section).values()):
        if number:
            yield ""
        yield from _sample_key(key, "  ")


def _sample_key(key: Key, indent: str) -> Iterator[str]:
    note = ", ".join(part for part in (key.unit, key.limits) if part)
    glued = note.replace(" ", _NO_BREAK)
    text = f"{key.doc} [{glued}]" if note else key.doc
    lead = f"{indent}# "
    for line in textwrap.wrap(text, 99, initial_indent=lead, subsequent_indent=lead):
        yield line.replace(_NO_BREAK, " ")
    yield f"{indent}#{key.leaf}: {_yaml(key.default)}"


def effective(loaded: Loaded) -> str:
    """All values as YAML, each with a comment that says where it came from."""
    rows: list[tuple[str, str]] = []
    for name, key in KEYS.items():
        if key.section and f"{key.section}:" not in (text for text, _ in rows):
            rows.append((f"{key.section}:", ""))
        indent = "  " if key.section else ""
        value = _yaml(value_of(loaded.settings, name))
        rows.append((f"{indent}{key.leaf}: {value}", loaded.origin(name)))
    if loaded.settings.tools:
        rows.append((f"# tools: {', '.join(tool.name for tool in loaded.settings.tools)}", ""))
    column = max(len(text) for text, _ in rows if len(text) < 60)
    return "".join(f"{text:<{column}}  # {origin}\n" if origin else f"{text}\n"
                   for text, origin in rows)  # fmt: skip


def markdown() -> str:
    """The page of the documentation: a table of keys for each section, and the profiles."""
    parts = [_MARKDOWN_HEAD, "## Top level\n", _table(keys_in("").values())]
    for section in SECTIONS:
        parts += [f"## {section}\n", f"{_about(section)}\n", _table(keys_in(section).values())]
    parts += ["## tools\n", _ABOUT_TOOLS, _table(TOOL_KEYS.values())]
    parts += ["Of each of `parameters`:\n", _table(PARAMETER_KEYS.values())]
    parts += ["## Profiles\n", "What each profile makes of the defaults:\n", _profiles()]
    return "\n".join(parts)


def _table(keys: Iterable[Key]) -> str:
    rows = ["| key | default | unit | values | meaning |", "| --- | --- | --- | --- | --- |"]
    rows += [
        f"| `{key.leaf}` | `{_yaml(key.default)}` | {key.unit} | {_values(key)} | {key.doc} |"
        for key in keys
    ]
    return "\n".join(rows) + "\n"


def _values(key: Key) -> str:
    """The limits, or the kind of value where there are none."""
    kind = "true, false" if key.type is bool else key.limits or "text"
    return f"list of {kind}" if key.is_list else kind


def _profiles() -> str:
    names = [name for name in PROFILES if PROFILES[name]]
    rows = [f"| key | default | {' | '.join(names)} |", "| --- " * (len(names) + 2) + "|"]
    for key in dict.fromkeys(key for name in names for key in PROFILES[name]):
        default = KEYS[key].default
        values = " | ".join(f"`{_yaml(PROFILES[name].get(key, default))}`" for name in names)
        rows.append(f"| `{key}` | `{_yaml(default)}` | {values} |")
    return "\n".join(rows) + "\n"


def json_schema() -> str:
    """The schema as JSON Schema (draft 2020-12), for editors that check while one types."""
    properties = {key.leaf: _json_key(key) for key in keys_in("").values()}
    properties |= {section: _json_section(section) for section in SECTIONS}
    properties[TOOLS] = {"type": ["array", "null"], "items": _json_tool()}
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "edgevoice configuration",
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": properties,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _json_tool() -> dict[str, Any]:
    parameter = {leaf: _json_key(key) for leaf, key in PARAMETER_KEYS.items()}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["name", "description", "command"],
        "properties": {
            **{leaf: _json_key(key) for leaf, key in TOOL_KEYS.items()},
            "parameters": {
                "type": "object",
                "additionalProperties": {
                    "type": ["object", "null"],
                    "additionalProperties": False,
                    "properties": parameter,
                },
            },
            "environment": {"type": "object", "additionalProperties": {"type": "string"}},
        },
    }


def _json_section(section: str) -> dict[str, Any]:
    return {
        "description": _about(section),
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {key.leaf: _json_key(key) for key in keys_in(section).values()},
    }


def _json_key(key: Key) -> dict[str, Any]:
    item: dict[str, Any] = {"type": _JSON_TYPES[key.type]}
    if key.choices:
        item["enum"] = [key.type(choice) for choice in key.choices]
    elif key.ge is not None and key.le is not None:
        item |= {"minimum": key.ge, "maximum": key.le}
    about: dict[str, Any] = {"description": f"{key.doc} [{key.unit}]" if key.unit else key.doc}
    about |= {"default": key.default}
    return about | ({"type": "array", "items": item} if key.is_list else item)


def _about(section: str) -> str:
    """What the section is for: the first line of its class's docstring."""
    return (SECTIONS[section].__doc__ or "").partition("\n")[0]


def _yaml(value: Value) -> str:
    """``value`` on one line of YAML, quoted where a plain word would mean something else."""
    text: str = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**6)
    return text.removesuffix("...\n").rstrip("\n")
