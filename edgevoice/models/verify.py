"""Whether a model's files are the pinned ones: by a stamp at once, by sha256 for sure.

A file whose hash was right is recorded with its size and modification time.  As
long as those are unchanged it counts as intact, and starting costs no hashing.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from edgevoice.models.catalogue import Entry, ModelFile
from edgevoice.models.paths import wrong_sizes

Advance = Callable[[int], object]
"""Told of so many bytes more."""


class State(StrEnum):
    """What is known of a model without reading it."""

    MISSING = "missing"
    BROKEN = "broken"
    UNVERIFIED = "unverified"
    READY = "ready"


def state_of(entry: Entry, directory: Path) -> State:
    """Looks at sizes and the stamp only."""
    folder = directory / entry.folder
    if not any(os.path.lexists(folder / file.path) for file in entry.files):
        return State.MISSING
    if wrong_sizes(entry, directory):
        return State.BROKEN
    intact = _read_stamp(entry, directory) == _facts(entry, directory)
    return State.READY if intact else State.UNVERIFIED


def verify(entry: Entry, directory: Path, advance: Advance = lambda count: None) -> list[str]:
    """Hash all files; what is wrong comes back, one line each, nothing when all is well."""
    wrong = wrong_sizes(entry, directory) or _wrong_hashes(entry, directory, advance)
    if not wrong:
        # Who may read the models may not always write beside them.
        with suppress(OSError):
            stamp(entry, directory)
    return wrong


def is_pinned(path: Path, file: ModelFile, advance: Advance = lambda count: None) -> bool:
    """Whether ``path`` has the bytes of ``file``."""
    return path.stat().st_size == file.size and sha256_of(path, advance) == file.sha256


def sha256_of(path: Path, advance: Advance = lambda count: None) -> str:
    """Hex digest of a file of any size."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
            advance(len(block))
    return digest.hexdigest()


def stamp(entry: Entry, directory: Path) -> None:
    """Record that the files, as they are now, were found to be the pinned ones."""
    path = _stamp_path(entry, directory)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}")
    temporary.write_text(json.dumps(_facts(entry, directory), indent=1), encoding="utf-8")
    temporary.replace(path)


def _wrong_hashes(entry: Entry, directory: Path, advance: Advance) -> list[str]:
    found = (
        _wrong_hash(directory / entry.folder / file.path, file, advance) for file in entry.files
    )
    return [line for line in found if line]


def _wrong_hash(path: Path, file: ModelFile, advance: Advance) -> str:
    try:
        pinned = is_pinned(path, file, advance)
    except OSError as error:
        return f"{path} cannot be read ({error.strerror})"
    return "" if pinned else f"{path} does not have the sha256 of the catalogue"


def _facts(entry: Entry, directory: Path) -> dict[str, list[str | int]]:
    """Hash wanted, size and modification time (ns) of each file."""
    stats = ((file, (directory / entry.folder / file.path).stat()) for file in entry.files)
    return {file.path: [file.sha256, stat.st_size, stat.st_mtime_ns] for file, stat in stats}


def _read_stamp(entry: Entry, directory: Path) -> object:
    try:
        return json.loads(_stamp_path(entry, directory).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _stamp_path(entry: Entry, directory: Path) -> Path:
    return directory / ".stamps" / f"{entry.name}.json"
