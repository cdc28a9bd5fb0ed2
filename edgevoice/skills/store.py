"""Where timers and alarms survive a restart: one small JSON file."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

_VERSION = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """A timer or an alarm."""

    id: int
    kind: str
    """``timer`` or ``alarm``."""
    name: str
    """In the owner's words; empty for one without a name."""
    due: float
    """Seconds since the epoch."""


def state_directory() -> Path:
    """Where the daemon keeps what must survive: systemd's, or the user's (XDG)."""
    # systemd separates several by colons; the unit names one.
    if named := os.environ.get("STATE_DIRECTORY", "").partition(":")[0]:
        return Path(named)
    base = os.environ.get("XDG_STATE_HOME", "")
    return Path(base if os.path.isabs(base) else Path.home() / ".local" / "state", "edgevoice")


class Store:
    """Keeps the entries in ``path``; its directory is made when it is needed.

    A disk that cannot be written costs the memory over a restart, and nothing else.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> list[Entry]:
        """What was kept; a file that cannot be read is set aside, with one line in the log."""
        try:
            data = json.loads(self._path.read_text(encoding="utf-8"))
            return [_entry(item) for item in _items(data)]
        except FileNotFoundError:
            return []
        except OSError as error:
            log.warning("%s: cannot be read (%s); no timer is kept", self._path, error.strerror)
        except (ValueError, TypeError, KeyError, RecursionError):
            self._set_aside()
        return []

    def save(self, entries: Iterable[Entry]) -> None:
        """Replace what is kept, whole or not at all."""
        data = {"version": _VERSION, "entries": [asdict(entry) for entry in entries]}
        new = self._path.with_suffix(".new")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with new.open("w", encoding="utf-8") as file:
                os.fchmod(file.fileno(), 0o600)
                json.dump(data, file, ensure_ascii=False)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self._path)
        except OSError as error:
            log.warning("%s: cannot be written (%s)", self._path, error.strerror)

    def _set_aside(self) -> None:
        aside = self._path.with_suffix(".broken")
        try:
            self._path.replace(aside)
        except OSError:
            aside = self._path
        log.warning("%s: is broken, kept as %s; its timers are lost", self._path, aside.name)


def _items(data: Any) -> list[Any]:
    if not isinstance(data, dict) or data.get("version") != _VERSION:
        raise ValueError("not a file of this version")
    if not isinstance(data["entries"], list):
        raise TypeError("no list of entries")
    return data["entries"]


def _entry(item: Any) -> Entry:
    entry = Entry(**item)
    kinds = (type(entry.id), type(entry.kind), type(entry.name), type(entry.due))
    if kinds not in ((int, str, str, float), (int, str, str, int)):
        raise TypeError("a field of another type")
    if entry.kind not in ("timer", "alarm") or not 0 <= entry.due < 1e11:
        raise ValueError("a value out of range")
    return entry
