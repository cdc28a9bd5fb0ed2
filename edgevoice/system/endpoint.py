"""The place of the control socket in the file system, and that only one daemon has it."""

from __future__ import annotations

import fcntl
import os
import socket
import stat
from contextlib import suppress
from pathlib import Path

from edgevoice.errors import DaemonError, OutputError

MODE = 0o660
"""The owner and the group of the daemon may control it, nobody else."""

_BACKLOG = 16


class Endpoint:
    """A listening Unix socket.

    A lock beside it tells a daemon that lives from a socket file that one has left behind:
    the kernel releases the lock whatever the daemon dies of.  The file of the lock stays,
    for deleting it would let two daemons hold two locks.
    """

    def __init__(self, path: Path) -> None:
        """Listen at ``path``.

        Raises `edgevoice.errors.DaemonError` when another daemon does, and
        `edgevoice.errors.OutputError` when there can be no socket.
        """
        self.path = path
        try:
            self._lock = _locked(path)
        except OSError as error:
            raise _refusal(path, error) from None
        try:
            self.socket = _listening(path)
        except OSError as error:
            os.close(self._lock)
            raise _refusal(path, error) from None

    def close(self) -> None:
        """Take it away again."""
        self.socket.close()
        with suppress(OSError):
            self.path.unlink()
        os.close(self._lock)


def _locked(path: Path) -> int:
    lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = os.read(lock, 20).decode("ascii", "replace").strip()
        os.close(lock)
        raise DaemonError(
            f"edgevoice is running already (process {pid or 'unknown'} has {path})",
            "stop it first, or give this one another control.socket",
        ) from None
    os.ftruncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode("ascii"))
    return lock


def _listening(path: Path) -> socket.socket:
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise OutputError(f"{path} is there and is no socket", "set control.socket elsewhere")
        path.unlink()
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listening.bind(str(path))
        path.chmod(MODE)  # before anybody can connect
        listening.listen(_BACKLOG)
    except OSError:
        listening.close()
        raise
    listening.setblocking(False)
    return listening


def _refusal(path: Path, error: OSError) -> OSError:
    if isinstance(error, (DaemonError, OutputError)):
        return error
    reason = error.strerror or str(error)  # "AF_UNIX path too long" has no number
    return OutputError(f"no control socket at {path}: {reason}", "set control.socket elsewhere")
