"""Record and replay: events and commands as JSON lines.

A trace begins with a line that holds the core's tuning and the time of its
birth; then comes one line for each event, with the commands it led to.  The
core is pure, so a trace recorded on a device replays bit for bit anywhere.
Traces hold what was said; none is written unless it is asked for.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, TextIO

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core import tuning as tu
from edgevoice.core.conversation import Conversation
from edgevoice.errors import DataError, EdgeVoiceError

VERSION = 1

_EVENTS = {
    name: kind
    for name, kind in vars(ev).items()
    if isinstance(kind, type) and issubclass(kind, ev.Event)
}
_WRONG = (KeyError, TypeError, ValueError, AttributeError, OverflowError)
"""What `decode` raises when a value is not what it should be."""


def encode(item: Any) -> Any:
    """A dataclass, enum or container as plain JSON values; floats stay exact."""
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        return {f.name: encode(getattr(item, f.name)) for f in dataclasses.fields(item)}
    if isinstance(item, Enum):
        return item.value
    if isinstance(item, (frozenset, set)):
        return sorted(encode(i) for i in item)
    if isinstance(item, (tuple, list)):
        return [encode(i) for i in item]
    return item


def named(item: ev.Event | cmd.Command) -> dict[str, Any]:
    """The same with the name of its class in front."""
    fields: dict[str, Any] = encode(item)
    return {"is": type(item).__name__, **fields}


def decode(kind: Any, value: Any) -> Any:
    """The inverse of `encode` for a value of the annotated type ``kind``.

    Raises one of `TypeError`, `ValueError`, `KeyError`, `OverflowError` when it
    is no such value.
    """
    origin = typing.get_origin(kind)
    if origin in (types.UnionType, typing.Union):
        inner = [k for k in typing.get_args(kind) if k is not type(None)]
        return None if value is None else decode(inner[0], value)
    if origin in (tuple, list, frozenset):
        inner_kind = typing.get_args(kind)[0]
        return origin(decode(inner_kind, v) for v in _expected(list, value))
    if issubclass(kind, Enum):
        return kind(value)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = typing.get_type_hints(kind)
        fields = _expected(dict, value)
        return kind(**{name: decode(hints[name], v) for name, v in fields.items()})
    if kind is float and type(value) is int:
        return float(value)
    return _expected(kind, value)


def _expected(kind: type, value: Any) -> Any:
    """The value; true and false are no numbers here."""
    if type(value) is not kind:
        raise TypeError(f"{value!r:.60} is no {kind.__name__}")
    return value


class Recorder:
    """Writes a trace; give it to the driver as its recorder."""

    def __init__(self, file: TextIO, tuning: tu.Tuning, born: float) -> None:
        self._file = file
        self._line({"edgevoice": VERSION, "born": born, "tuning": encode(tuning)})

    def __call__(self, event: ev.Event, commands: Sequence[cmd.Command]) -> None:
        """One event and what followed."""
        self._line({"event": named(event), "commands": [named(c) for c in commands]})

    def _line(self, entry: dict[str, Any]) -> None:
        # ASCII: half a surrogate pair is no UTF-8, and some line ends are no ASCII.
        self._file.write(json.dumps(entry, separators=(",", ":")) + "\n")


@dataclasses.dataclass(frozen=True)
class Step:
    """One line of a trace: its number, the event, and the commands as JSON values."""

    line: int
    event: ev.Event
    commands: list[dict[str, Any]]


def read(path: Path) -> tuple[tu.Tuning, float, Iterator[Step]]:
    """The tuning, the time of birth and the steps of a trace.

    Raises `DataError` with file and line when it is no trace.
    """
    try:
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error})", "name a trace file") from None
    head = _parsed(path, 1, lines[0])
    version = head.get("edgevoice")
    if version != VERSION:
        what = "no edgevoice trace" if version is None else f"trace version {version}"
        raise DataError(f"{path}:1: {what}, this edgevoice replays version {VERSION}")
    try:
        tuning, born = decode(tu.Tuning, head["tuning"]), decode(float, head["born"])
    except _WRONG as error:
        raise DataError(f"{path}:1: no tuning of this version ({error!r})") from None
    return tuning, born, _steps(path, lines)


def _steps(path: Path, lines: list[str]) -> Iterator[Step]:
    for number, line in enumerate(lines[1:], 2):
        entry = _parsed(path, number, line)
        try:
            fields = dict(entry["event"])
            event = decode(_EVENTS[fields.pop("is")], fields)
            yield Step(number, event, _expected(list, entry["commands"]))
        except _WRONG as error:
            raise DataError(f"{path}:{number}: no event of this version ({error!r})") from None


def _parsed(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", str(error))
        raise DataError(f"{path}:{number}: not JSON ({reason})") from None
    if not isinstance(entry, dict):
        raise DataError(f"{path}:{number}: not a JSON object")
    return entry


@dataclasses.dataclass(frozen=True)
class Difference:
    """Where a replay did not give what was recorded."""

    line: int
    recorded: list[dict[str, Any]]
    replayed: list[dict[str, Any]]


def replay(path: Path) -> Iterator[tuple[Step, Conversation, Difference | None]]:
    """Feed a trace to a fresh core, step by step."""
    tuning, born, steps = read(path)
    try:
        core = Conversation(tuning, born)
    except (EdgeVoiceError, ValueError) as error:
        raise DataError(f"{path}:1: {error}", "the trace was edited") from None
    for step in steps:
        replayed = [named(c) for c in core.handle(step.event)]
        same = replayed == step.commands
        yield step, core, None if same else Difference(step.line, step.commands, replayed)
