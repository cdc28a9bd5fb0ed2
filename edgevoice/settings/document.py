"""From the bytes of a YAML file to its tree of nodes, each with its line.

Nodes, not values: YAML 1.1 would make ``no`` in a list of words a ``False``
and ``010`` an 8.  What a scalar means is decided later, by the key it is for.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import yaml
from yaml.reader import ReaderError

MAX_BYTES = 128 * 1024
"""The sample with every key is under 20 KiB; more is not a configuration."""

MAX_DEPTH = 20
"""The schema needs three levels; the composer's recursion must end somewhere."""

_IN_OTHER_WORDS = {
    r"found character '\\t' that cannot .*": "a tab; indent with spaces",
    r"found character '(.)' that cannot .*": r"a text that begins with '\1' needs quotes",
    r"found undefined alias (.*)": r"unknown alias \1; a text that begins with '*' needs quotes",
    r"mapping values are not allowed here": (
        "a second ':', a wrong indent, or no ':' in the line above; a text with ': ' needs quotes"
    ),
    r"found unexpected end of stream": "a quote that is opened here is never closed",
    r"expected <block end>, but found .*": "a wrong indent, or more text after a closing quote",
    r"expected ',' or '([\]}])', but got .*": r"no ',' or '\1' before this; is a bracket open?",
    r"expected the node content, but found '(.+)'": r"a value is missing before '\1'",
    r"but found another document": "a second document begins here; keep one",
    r"could not find expected ':'": "a key without ':' after it",
}
"""The parser's frequent complaints, as the writer of the file would put them."""


class Problem(NamedTuple):
    """Something wrong in the file; ``line`` counts from 1, 0 is the file as a whole."""

    line: int
    text: str


class BrokenDocument(Exception):  # noqa: N818 - it is what the file is
    """The file cannot be read as YAML at all."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.problem = Problem(line, text)


def decode(data: bytes) -> str:
    """The text of a file in UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = f"byte 0x{data[error.start]:02X} is not UTF-8; save the file as UTF-8"
        raise BrokenDocument(line, problem) from None


def compose(text: str, problems: list[Problem]) -> yaml.Node | None:
    """The root of the one document in ``text``; None when it holds nothing.

    What can be passed over is added to ``problems``; raises `BrokenDocument`
    for the rest.
    """
    loader: _Composer | None = None
    try:
        loader = _Composer(text, problems)
        return loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        raise _broken(error) from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise BrokenDocument(
            line, f"character U+{error.character:04X} is not allowed in YAML"
        ) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # PyYAML lets chr() and int() fail on escapes and directives out of range.
        line = _line(loader.get_mark()) if loader else 0
        raise BrokenDocument(line, f"not valid YAML: {error}") from None


def line_of(node: yaml.Node) -> int:
    """The line ``node`` starts in, from 1."""
    return _line(node.start_mark)


class _Composer(yaml.SafeLoader):
    """PyYAML's composer, which refuses what a configuration has no use for."""

    def __init__(self, text: str, problems: list[Problem]) -> None:
        super().__init__(text)
        self._problems = problems
        self._open: list[str | None] = []

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: yaml.Event = self.peek_event()  # type: ignore[no-untyped-call]
        line, anchor = _line(event.start_mark), getattr(event, "anchor", None)
        if isinstance(event, yaml.AliasEvent) and anchor in self._open:
            raise BrokenDocument(line, f"*{anchor} refers to itself")
        if len(self._open) == MAX_DEPTH:
            raise BrokenDocument(line, f"nested more than {MAX_DEPTH} levels deep")
        if (tag := getattr(event, "tag", None)) is not None:
            shown = tag.replace("tag:yaml.org,2002:", "!!")[:60]
            self._problems.append(Problem(line, f"the tag {shown} is not allowed; remove it"))
        self._open.append(anchor)
        node: yaml.Node | None = super().compose_node(parent, index)
        self._open.pop()
        return node


def _broken(error: yaml.MarkedYAMLError) -> BrokenDocument:
    problem = error.problem or "not valid YAML"
    # An open quote is found missing at the end of the file; it was opened where the context is.
    unclosed = problem == "found unexpected end of stream"
    mark = error.context_mark if unclosed and error.context_mark else error.problem_mark
    return BrokenDocument(_line(mark), f"not valid YAML: {_reworded(problem)}")


def _reworded(problem: str) -> str:
    for pattern, words in _IN_OTHER_WORDS.items():
        if match := re.fullmatch(pattern, problem):
            return match.expand(words)
    return problem


def _line(mark: object) -> int:
    """The line of one of PyYAML's marks, from 1; 0 when there is none."""
    return int(getattr(mark, "line", -1)) + 1
