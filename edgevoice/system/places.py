"""Where the control socket is: one rule for the daemon and for its clients."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

NAME = "control.sock"
_SYSTEM = Path("/run/edgevoice")
_EVERYBODYS = Path("/tmp")


def candidates(setting: str = "") -> list[Path]:
    """Every path the socket may have, the first choice first.

    ``setting`` is the key ``control.socket``; when it is set there is no other choice.
    """
    if setting:
        return [Path(setting).expanduser().absolute()]
    return [directory / NAME for directory in _directories() if _is_safe(directory)]


def _directories() -> Iterator[Path]:
    if named := os.environ.get("RUNTIME_DIRECTORY"):  # systemd.exec(5): may be a list
        yield Path(named.partition(":")[0])
    yield _SYSTEM
    if named := os.environ.get("XDG_RUNTIME_DIR"):
        yield Path(named) / "edgevoice"
    # Without a login session there is no runtime directory: in a container, or after su.
    yield _EVERYBODYS / f"edgevoice-{os.getuid()}"


def home(setting: str = "") -> Path | None:
    """Where a daemon may put its socket: the first choice whose directory it can write to.

    The user's own directories are made when they are missing.
    """
    for path in candidates(setting):
        if setting or _is_ours(path.parent):
            return path
    return None


def _is_ours(directory: Path) -> bool:
    if directory != _SYSTEM:
        try:
            directory.mkdir(mode=0o700, exist_ok=True)
        except OSError:
            return False
    return _is_safe(directory) and os.access(directory, os.W_OK | os.X_OK)


def _is_safe(directory: Path) -> bool:
    """Whether nobody else has put the directory there: /tmp is everybody's."""
    try:
        return directory.parent != _EVERYBODYS or directory.lstat().st_uid == os.getuid()
    except OSError:
        return True
