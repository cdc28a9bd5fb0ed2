"""From the nodes of a YAML file to values, by what the schema says of each key.

The type of the key decides how a scalar is read: ``no`` is a word in a list of
words and false where true or false is wanted.  Nothing is converted silently.
"""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import yaml

from edgevoice.settings.document import Problem, line_of
from edgevoice.settings.keys import KEYS, SECTIONS, TOOLS, Key, Scalar, Value, keys_in
from edgevoice.settings.schema import UserTool

_WHOLE = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_NULLS = {"", "~", "null", "Null", "NULL"}
_UNPRINTABLE = {"Cc", "Cs", "Zl", "Zp"}
_PLAIN_NAME = re.compile(r"[\w.-]{1,60}")


@dataclass
class Tree:
    """What a file says: values and lines by dotted key, and what is wrong with it."""

    values: dict[str, Value] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    tools: list[UserTool] = field(default_factory=list)
    tools_node: yaml.Node | None = None
    """What stands below ``tools``; `edgevoice.settings.tools` reads it."""


def read(root: yaml.Node | None) -> Tree:
    """All that the document says; every problem is collected, none is raised."""
    tree = Tree()
    if root is not None:
        _read_mapping(tree, "", root)
    return tree


def _read_mapping(tree: Tree, section: str, node: yaml.Node) -> None:
    """Read ``node`` as the keys of ``section``; of the top level when it is empty."""
    keys = keys_in(section)
    siblings = [*keys] if section else [*keys, *SECTIONS, TOOLS]
    if is_null(node):  # every key of it is commented out
        return
    if not isinstance(node, yaml.MappingNode):
        text = f"expected keys such as '{next(iter(keys))}:', got {shown(node)}"
        tree.problems.append(Problem(line_of(node), f"{section}: {text}" if section else text))
        return
    for leaf, key_node, value_node in entries(node, section, tree.problems):
        if not section and leaf in SECTIONS:
            _read_mapping(tree, leaf, value_node)
        elif not section and leaf == TOOLS:
            tree.tools_node = value_node
        elif leaf in keys:
            _read_value(tree, keys[leaf], value_node)
        else:
            tree.problems.append(Problem(line_of(key_node), unknown(section, leaf, siblings)))


def _read_value(tree: Tree, key: Key, node: yaml.Node) -> None:
    tree.lines[key.name] = line_of(node)
    problems = list(mismatches(key, node))
    tree.problems += problems
    if not problems:
        tree.values[key.name] = value(key, node)


def entries(
    mapping: yaml.MappingNode, section: str, problems: list[Problem]
) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
    """Name, key and value of each entry; only the first of two with one name."""
    seen: dict[str, int] = {}
    for key_node, node in mapping.value:
        line = line_of(key_node)
        if not isinstance(key_node, yaml.ScalarNode):
            problems.append(Problem(line, f"a key must be a word, got {shown(key_node)}"))
            continue
        leaf = key_node.value
        if leaf in seen:
            text = f"{_dotted(section, leaf)}: given twice, first in line {seen[leaf]}; keep one"
            problems.append(Problem(line, text))
            continue
        seen[leaf] = line
        yield leaf, key_node, node


def unknown(section: str, leaf: str, siblings: Sequence[str]) -> str:
    """The complaint about a key that does not exist, with what may have been meant."""
    elsewhere = [
        f"'{key.leaf}:' below '{key.section}:'"
        for key in KEYS.values()
        if key.section and leaf in (key.leaf, key.name)
    ]
    guess = " or ".join(elsewhere or difflib.get_close_matches(leaf, siblings, n=1))
    hint = f"did you mean {guess}?" if guess else "edgevoice config schema lists all keys"
    return f"{_dotted(section, leaf)}: unknown key; {hint}"


def mismatches(key: Key, node: yaml.Node) -> Iterator[Problem]:
    """What is wrong with ``node`` as the value of ``key``: nothing, or a problem an item."""
    if not key.is_list:
        if not _fits(key, node):
            yield _mismatch(key, key.name, key.expected, node)
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value, 1):
            if not _fits(key, item):
                where = f"{key.name}, item {number}"
                yield _mismatch(key, where, key.expected_item, item)
    else:
        yield _mismatch(key, key.name, key.expected, node)


def _mismatch(key: Key, where: str, expected: str, node: yaml.Node) -> Problem:
    text = f"{where}: expected {expected}, got {shown(node)}"
    return Problem(line_of(node), text + _advice(key, node))


def _advice(key: Key, node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode) or is_null(node):
        return ""
    if key.type is not str:
        return "; remove the quotes" if node.style else ""
    if key.is_list and _fits(key, node):
        return f"; write [{shown(node)}]"
    similar = difflib.get_close_matches(node.value, key.choices, n=1)
    return f"; did you mean {similar[0]}?" if similar else ""


def _fits(key: Key, node: yaml.Node) -> bool:
    return _scalar(key, node) is not None


def value(key: Key, node: yaml.Node) -> Value:
    """The value of a ``node`` in which `mismatches` found nothing."""
    items = node.value if isinstance(node, yaml.SequenceNode) else [node]
    values = [value for item in items if (value := _scalar(key, item)) is not None]
    return values if key.is_list else values[0]


def _scalar(key: Key, node: yaml.Node) -> Scalar | None:
    """``node`` as a value, or an item, of ``key``; None when it is not one."""
    if not isinstance(node, yaml.ScalarNode) or is_null(node):
        return None
    value = _parsed(key, node)
    if value is None or (key.choices and str(value) not in key.choices):
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        low, high = key.ge, key.le
        inside = (low is None or value >= low) and (high is None or value <= high)
        return value if inside else None
    return value


def _parsed(key: Key, node: yaml.ScalarNode) -> Scalar | None:
    text: str = node.value
    if key.type is str:
        return text if _is_printable(text) and (text or key.default == "") else None
    if node.style:  # quoted or a block: a text, whatever it looks like
        return None
    if key.type is bool:
        return _TRUTH.get(text.lower())
    if key.type is int:
        return int(text) if _WHOLE.fullmatch(text) else None
    return float(text) if _NUMBER.fullmatch(text) else None


def _is_printable(text: str) -> bool:
    """No control characters, no line separators and no halves of surrogate pairs."""
    return all(c in "\n\t" or unicodedata.category(c) not in _UNPRINTABLE for c in text)


def is_null(node: yaml.Node) -> bool:
    """Whether nothing stands there."""
    return isinstance(node, yaml.ScalarNode) and not node.style and node.value in _NULLS


def shown(node: yaml.Node) -> str:
    """``node`` as it is quoted in a message: short, and on one line."""
    if not isinstance(node, yaml.ScalarNode):
        return "a list" if isinstance(node, yaml.SequenceNode) else "keys"
    if is_null(node):
        return "nothing"
    text: str = node.value
    if not text:
        return "an empty text"
    is_bare = text.lower() in _TRUTH or _NUMBER.fullmatch(text) is not None
    if is_bare and not node.style and len(text) <= 40:
        return text
    return json.dumps(_short(text), ensure_ascii=not _is_printable(text))


def _dotted(section: str, leaf: str) -> str:
    is_plain = _PLAIN_NAME.fullmatch(leaf) is not None
    shown = leaf if is_plain else json.dumps(_short(leaf), ensure_ascii=not _is_printable(leaf))
    return f"{section}.{shown}" if section else shown


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"
