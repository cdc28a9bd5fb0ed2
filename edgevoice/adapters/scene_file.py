"""Reads a scene from its YAML file; everything wrong in it is told at once."""

from __future__ import annotations

import difflib
import math
import re
import wave
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from edgevoice.adapters.room_acoustics import COLOURS
from edgevoice.adapters.scene import (
    Acoustics,
    Cue,
    EspeakVoice,
    Expect,
    Line,
    Noise,
    PiperVoice,
    Scene,
    Voice,
)
from edgevoice.errors import DataError

Read: TypeAlias = Callable[["_Page", str, yaml.Node], Any]
"""Reads the value of a key (dotted, for messages); notes what is wrong and gives None."""

_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_MAX_BYTES = 256 * 1024


def load_scene(path: Path) -> Scene:
    """The scene in the file ``path``; the files it names are relative to it.

    Raises `DataError` with a line ``file:line: what; what to do`` for each problem.
    """
    page = _Page(path)
    scene = _scene(page, page.root())
    page.raise_problems()
    return scene


@dataclass
class _Page:
    """The file that is being read, and what is wrong in it."""

    path: Path
    problems: list[tuple[int, str]] = field(default_factory=list)

    def root(self) -> yaml.Node | None:
        try:
            text = self.path.read_bytes()[: _MAX_BYTES + 1].decode("utf-8-sig")
        except OSError as error:
            raise DataError(f"{self.path}: {error.strerror}", "name a scene file") from None
        except UnicodeDecodeError:
            raise DataError(f"{self.path}: not a text file", "name a scene file") from None
        if len(text) > _MAX_BYTES:
            raise DataError(f"{self.path}: too large for a scene", "name a scene file")
        return self._compose(text)

    def _compose(self, text: str) -> yaml.Node | None:
        try:
            return yaml.compose(text, yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            raise DataError(f"{self.path}:{line}: not valid YAML: {error.problem}") from None
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            reason = str(error).splitlines()[0] if str(error) else "nested too deep"
            raise DataError(f"{self.path}: not valid YAML: {reason}") from None

    def note(self, node: yaml.Node, what: str) -> None:
        self.problems.append((node.start_mark.line + 1, what))

    def raise_problems(self) -> None:
        if self.problems:
            lines = (f"{self.path}:{line}: {what}" for line, what in sorted(self.problems))
            raise DataError("\n".join(lines))


# -- what may stand where --------------------------------------------------------------


def _scene(page: _Page, root: yaml.Node | None) -> Scene:
    if root is None:
        raise DataError(f"{page.path}: nothing in it", "write 'talker:' and a list of lines")
    values = _keys(page, "", root, _SCENE)
    return Scene(**_renamed(values, room="acoustics", talker="lines"))


def _room(page: _Page, where: str, node: yaml.Node) -> Acoustics:
    return Acoustics(**_keys(page, where, node, _ROOM))


def _noise(page: _Page, where: str, node: yaml.Node) -> Noise | None:
    if isinstance(node, yaml.ScalarNode):
        colour = _word(("none", *COLOURS))(page, where, node)
        return Noise(math.inf) if colour == "none" else Noise(colour=colour) if colour else None
    values = _keys(page, where, node, _NOISE)
    _one_of(page, where, node, "wav", "colour")
    return Noise(**values)


def _talker(page: _Page, where: str, node: yaml.Node) -> tuple[Line, ...]:
    if not isinstance(node, yaml.SequenceNode):
        page.note(node, f"{where}: expected a list of lines ('- say: …'), got {_shown(node)}")
        return ()
    return tuple(
        _line(page, f"{where}, line {number}", item, number)
        for number, item in enumerate(node.value, 1)
    )


def _line(page: _Page, where: str, node: yaml.Node, number: int) -> Line:
    values = _keys(page, where, node, _LINE)
    _one_of(page, where, node, "say", "wav", needed=True)
    _one_of(page, where, node, "at", "when")
    if number == 1:
        values.setdefault("when", Cue.READY)
    return Line(**values)


def _voice(page: _Page, where: str, node: yaml.Node) -> Voice | None:
    if isinstance(node, yaml.ScalarNode):
        variant = _text(page, where, node)
        return EspeakVoice(variant) if variant else None
    names = [key.value for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []
    if "espeak" in names:
        return EspeakVoice(**_renamed(_keys(page, where, node, _ESPEAK), espeak="variant"))
    return PiperVoice(**_renamed(_keys(page, where, node, _PIPER), piper="model"))


# -- the shapes of values --------------------------------------------------------------


def _keys(page: _Page, where: str, node: yaml.Node, known: Mapping[str, Read]) -> dict[str, Any]:
    """The good values of the keys that are there."""
    if not isinstance(node, yaml.MappingNode):
        expected = f"expected keys such as '{next(iter(known))}:', got {_shown(node)}"
        page.note(node, f"{where}: {expected}" if where else expected)
        return {}
    values: dict[str, Any] = {}
    seen: dict[str, int] = {}
    for key, value in node.value:
        name = str(key.value) if isinstance(key, yaml.ScalarNode) else _shown(key)
        dotted = f"{where}.{name}" if where else name
        if name in seen:
            page.note(key, f"{dotted}: given twice, first in line {seen[name]}; keep one")
        elif name not in known:
            page.note(key, f"{dotted}: unknown key; {_guess(name, known)}")
        elif (read := known[name](page, dotted, value)) is not None:
            values[name] = read
        seen.setdefault(name, key.start_mark.line + 1)
    return values


def _renamed(values: Mapping[str, Any], **fields: str) -> dict[str, Any]:
    """Values by the names of the fields they are for, where those differ from the keys."""
    return {fields.get(name, name): value for name, value in values.items()}


def _one_of(
    page: _Page, where: str, node: yaml.Node, first: str, second: str, needed: bool = False
) -> None:
    """Note it when both keys stand in ``node``, or neither though one is needed."""
    if not isinstance(node, yaml.MappingNode):
        return
    names = [key.value for key, _ in node.value]
    if first in names and second in names:
        page.note(node, f"{where}: has both {first} and {second}; keep one")
    elif needed and first not in names and second not in names:
        page.note(node, f"{where}: has neither {first} nor {second}; give one")


def _number(low: float, high: float, kind: type[float] | type[int] = float) -> Read:
    def read(page: _Page, where: str, node: yaml.Node) -> float | None:
        text = node.value if isinstance(node, yaml.ScalarNode) else ""
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
        if low <= value <= high and kind(value) == value:
            return kind(value)
        noun = "number" if kind is float else "whole number"
        page.note(node, f"{where}: expected a {noun} from {low} to {high}, got {_shown(node)}")
        return None

    return read


def _word(choices: Collection[str], kind: Callable[[str], Any] = str) -> Read:
    def read(page: _Page, where: str, node: yaml.Node) -> Any:
        name = str(node.value) if isinstance(node, yaml.ScalarNode) else ""
        if name in choices:
            return kind(name)
        near = difflib.get_close_matches(name, choices, n=1)
        expected = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(choices)}"
        page.note(node, f"{where}: {_shown(node)} cannot stand here; {expected}")
        return None

    return read


def _text(page: _Page, where: str, node: yaml.Node) -> str | None:
    if isinstance(node, yaml.ScalarNode) and node.value.strip():
        return " ".join(node.value.split())
    page.note(node, f"{where}: expected a text, got {_shown(node)}")
    return None


def _file(page: _Page, where: str, node: yaml.Node) -> Path | None:
    name = _text(page, where, node)
    if name is None:
        return None
    path = page.path.parent / Path(name).expanduser()
    if path.is_file():
        return path
    page.note(node, f"{where}: no file {path}; paths are relative to the scene file")
    return None


def _recording(page: _Page, where: str, node: yaml.Node) -> Path | None:
    path = _file(page, where, node)
    if path is None:
        return None
    try:
        with wave.open(str(path)) as file:
            if file.getnframes():
                return path
            reason = "empty"
    except (wave.Error, EOFError, OSError) as error:
        reason = str(error) or "cut off"
    page.note(node, f"{where}: {path} is not a PCM WAV file ({reason}); convert it to 16-bit PCM")
    return None


def _named(enum: type[Enum]) -> Read:
    return _word([str(each.value) for each in enum], enum)


def _guess(name: str, known: Mapping[str, Read]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]}?" if near else f"one of {', '.join(known)} can stand here"


def _shown(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        text = " ".join(str(node.value).split())
        return f"'{text[:40]}'" if text else "nothing"
    return "a list" if isinstance(node, yaml.SequenceNode) else "keys"


_SCENE: dict[str, Read] = {
    "room": _room,
    "talker": _talker,
    "voice": _voice,
    "seed": _number(0, 2**31, int),
}
_ROOM: dict[str, Read] = {
    "distance": _number(0.02, 3),
    "delay_ms": _number(0, 1000),
    "rt60_s": _number(0, 1),
    "response": _recording,
    "distortion": _number(0, 20),
    "drift_ppm": _number(-1000, 1000),
    "noise": _noise,
}
_NOISE: dict[str, Read] = {
    "colour": _word(COLOURS),
    "wav": _recording,
    "snr_db": _number(-20, 90),
}
_LINE: dict[str, Read] = {
    "say": _text,
    "wav": _recording,
    "at": _number(0, 86400),
    "when": _named(Cue),
    "plus_ms": _number(0, 600_000),
    "level_db": _number(-60, 30),
    "expect": _named(Expect),
}
_ESPEAK: dict[str, Read] = {
    "espeak": _text,
    "speed": _number(80, 450, int),
    "pitch": _number(0, 99, int),
}
_PIPER: dict[str, Read] = {
    "piper": _file,
    "pitch": _number(0.5, 2),
    "pace": _number(0.5, 2),
}
