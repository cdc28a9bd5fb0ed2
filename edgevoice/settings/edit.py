"""Changes values in a configuration file and leaves all else in it as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TypeAlias

import yaml

from edgevoice.settings.document import compose
from edgevoice.settings.keys import Value

_Entry: TypeAlias = tuple[yaml.Node, yaml.Node]


def changed(text: str, values: Mapping[str, Value]) -> str:
    """``text`` with these values by dotted key; comments, order and spelling of the rest stay.

    ``text`` must be a configuration without errors.
    """
    for name, value in values.items():
        text = _set(text, name, _written(value))
    return text


def _set(text: str, name: str, value: str) -> str:
    section, _, leaf = name.rpartition(".")
    root = compose(text, [])
    if not section:
        return _set_in(text, root, leaf, value, "")
    entry = _entry(root, section)
    if entry is None:
        return _appended(text, f"{section}:\n  {leaf}: {value}\n")
    key, body = entry
    if _entry(body, leaf) is None and not _is_flow(body):
        return _inserted(text, key.start_mark.line, _indent(body), leaf, value)
    return _set_in(text, body, leaf, value, "  ")


def _set_in(text: str, mapping: yaml.Node | None, leaf: str, value: str, indent: str) -> str:
    entry = _entry(mapping, leaf)
    if entry is not None:
        start: int = entry[1].start_mark.index
        end: int = entry[1].end_mark.index
        return f"{text[:start]}{value}{text[end:]}"
    if mapping is not None and _is_flow(mapping):
        opened: int = mapping.start_mark.index + 1
        comma = ", " if mapping.value else ""
        return f"{text[:opened]}{leaf}: {value}{comma}{text[opened:]}"
    return _appended(text, f"{indent}{leaf}: {value}\n")


def _inserted(text: str, head: int, indent: str, leaf: str, value: str) -> str:
    """Below its commented default if there is one in the section, else as its first key."""
    lines = text.splitlines(keepends=True)
    if not lines[head].endswith("\n"):
        lines[head] += "\n"
    at = head + 1
    for number in range(head + 1, len(lines)):
        if re.match(r"[^\s#]", lines[number]):
            break
        if re.match(rf"\s*#\s?{leaf}:", lines[number]):
            at = number + 1
            break
    return "".join([*lines[:at], f"{indent}{leaf}: {value}\n", *lines[at:]])


def _appended(text: str, lines: str) -> str:
    return text + ("\n" if text and not text.endswith("\n") else "") + lines


def _entry(mapping: yaml.Node | None, leaf: str) -> _Entry | None:
    if not isinstance(mapping, yaml.MappingNode):
        return None
    return next(((key, node) for key, node in mapping.value if key.value == leaf), None)


def _is_flow(node: yaml.Node) -> bool:
    return isinstance(node, yaml.MappingNode) and bool(node.flow_style)


def _indent(body: yaml.Node) -> str:
    if isinstance(body, yaml.MappingNode) and body.value:
        column: int = body.value[0][0].start_mark.column
        return " " * column
    return "  "


def _written(value: Value) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else _plain(value)


def _plain(value: bool | int | float | str) -> str:
    if isinstance(value, str) and not re.fullmatch(r"[A-Za-z][\w.+-]*", value):
        return json.dumps(value, ensure_ascii=False)
    return str(value).lower() if isinstance(value, bool) else str(value)
