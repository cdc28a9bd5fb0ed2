"""Reads ``tools``, the one list of mappings in the configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from string import Formatter
from typing import Any

import yaml

from edgevoice.settings.document import Problem, line_of
from edgevoice.settings.keys import Key, Value, keys_of
from edgevoice.settings.reading import Tree, entries, is_null, mismatches, shown, unknown, value
from edgevoice.settings.schema import Parameter, UserTool

TOOL_KEYS: Mapping[str, Key] = {key.leaf: key for key in keys_of(UserTool, "tools.")}
PARAMETER_KEYS: Mapping[str, Key] = {
    key.leaf: key for key in keys_of(Parameter, "tools.parameters.")
}
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_tools(tree: Tree, node: yaml.Node) -> None:
    """Add the tools of ``node`` to the tree, and what is wrong with them to its problems."""
    if is_null(node):
        return
    if not isinstance(node, yaml.SequenceNode):
        text = f"tools: expected a list of tools ('- name: …'), got {shown(node)}"
        tree.problems.append(Problem(line_of(node), text))
        return
    for item in node.value:
        before = len(tree.problems)
        fields = _fields(tree.problems, item)
        if len(tree.problems) == before and fields is not None:
            tool = UserTool(**fields)
            tree.problems += [
                Problem(line_of(item), text) for text in _complaints(tool, tree.tools)
            ]
            tree.tools.append(tool)


def _fields(problems: list[Problem], node: yaml.Node) -> dict[str, Any] | None:
    """The keys of one tool."""
    if not isinstance(node, yaml.MappingNode):
        text = f"tools: expected keys such as 'name:', got {shown(node)}"
        problems.append(Problem(line_of(node), text))
        return None
    found: dict[str, Any] = {}
    for leaf, key_node, value_node in entries(node, "tools", problems):
        if leaf == "parameters":
            found[leaf] = dict(_parameters(problems, value_node))
        elif leaf == "environment":
            found[leaf] = dict(_variables(problems, value_node))
        else:
            found |= _field(problems, TOOL_KEYS, leaf, key_node, value_node)
    missing = [leaf for leaf in ("name", "description", "command") if leaf not in found]
    if missing and not problems:
        problems.append(Problem(line_of(node), f"tools: a tool needs {' and '.join(missing)}"))
    return found


def _field(
    problems: list[Problem],
    keys: Mapping[str, Key],
    leaf: str,
    key_node: yaml.Node,
    node: yaml.Node,
) -> dict[str, Value]:
    """One value by its name, if it is what its key wants."""
    if leaf not in keys:
        section = next(iter(keys.values())).section
        problems.append(Problem(line_of(key_node), unknown(section, leaf, [*keys])))
        return {}
    wrong = list(mismatches(keys[leaf], node))
    problems += wrong
    return {} if wrong else {leaf: value(keys[leaf], node)}


def _parameters(problems: list[Problem], node: yaml.Node) -> Iterator[tuple[str, Parameter]]:
    for name, key_node, inner in _named(problems, node, "tools.parameters"):
        if not _NAME.fullmatch(name):
            text = f"tools.parameters: {name!r} is no name; use small letters, digits and _"
            problems.append(Problem(line_of(key_node), text))
            continue
        fields: dict[str, Any] = {}
        for leaf, leaf_node, value_node in _named(problems, inner, f"tools.parameters.{name}"):
            fields |= _field(problems, PARAMETER_KEYS, leaf, leaf_node, value_node)
        yield name, Parameter(**fields)


def _variables(problems: list[Problem], node: yaml.Node) -> Iterator[tuple[str, str]]:
    for name, key_node, inner in _named(problems, node, "tools.environment"):
        if not _VARIABLE.fullmatch(name) or not isinstance(inner, yaml.ScalarNode):
            text = "tools.environment: expected NAME: value"
            problems.append(Problem(line_of(key_node), text))
        elif "\0" not in inner.value:
            yield name, str(inner.value)


def _named(
    problems: list[Problem], node: yaml.Node, where: str
) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
    """The entries of a mapping with names of the owner's own."""
    if is_null(node):
        return
    if not isinstance(node, yaml.MappingNode):
        problems.append(Problem(line_of(node), f"{where}: expected names, got {shown(node)}"))
        return
    yield from entries(node, where, problems)


def _complaints(tool: UserTool, others: list[UserTool]) -> Iterator[str]:
    """What makes no sense although each value may be right."""
    if not _NAME.fullmatch(tool.name):
        yield f"tools.name: {tool.name!r} is no name; use small letters, digits and _"
    if any(other.name == tool.name for other in others):
        yield f"tools.name: there are two tools named {tool.name}"
    if not tool.command:
        yield "tools.command: expected a program and its arguments, got an empty list"
    for argument in tool.command:
        yield from _placeholders(tool, argument)


def _placeholders(tool: UserTool, argument: str) -> Iterator[str]:
    try:
        fields = [field for _, field, spec, how in Formatter().parse(argument) if field is not None]
    except ValueError as error:
        yield f"tools.command: {argument!r}: {error}; write {{{{ for a brace"
        return
    for name in fields:
        if name not in tool.parameters:
            yield f"tools.command: {{{name}}} is no parameter of {tool.name}"
