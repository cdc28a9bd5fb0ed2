"""Run a command of the owner's, so that whatever it does harms nothing.

No shell; a process group of its own, which is killed whole; an environment with
nothing in it but what is named; output that is read to the end and kept in part.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

MAX_OUTPUT = 64 * 1024
"""Bytes that are kept of what a command prints; the rest is read and thrown away."""

_LOOK_S = 0.05
"""How soon a call that is called off is noticed."""

_KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TZ")


class CommandError(Exception):
    """The command did not do what it should; the text is for the language model."""


@dataclass(frozen=True)
class Limits:
    """What a command may use."""

    timeout_s: float
    directory: str
    environment: Mapping[str, str]


def run(
    command: Sequence[str],
    limits: Limits,
    cancelled: Callable[[], bool],
    printed: Callable[[], None] = lambda: None,
) -> str:
    """What ``command`` prints on its standard output, `MAX_OUTPUT` bytes at most.

    ``printed`` is called whenever it prints something.  Raises `CommandError` when it
    cannot be started, fails, takes too long or is called off; by then no process of it
    is left.
    """
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=limits.directory or "/",
            env=clean_environment(limits.environment),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CommandError(f"cannot be started: {reason}") from None
    try:
        output = _read(process, time.monotonic() + limits.timeout_s, cancelled, printed)
    finally:
        _end(process)
    if process.returncode:
        raise CommandError(f"it failed with status {process.returncode}")
    return output.decode("utf-8", "replace")


def clean_environment(more: Mapping[str, str]) -> dict[str, str]:
    """The variables a program cannot well do without, and ``more``."""
    return {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ} | {**more}


def _read(
    process: subprocess.Popen[bytes],
    deadline: float,
    cancelled: Callable[[], bool],
    printed: Callable[[], None],
) -> bytes:
    """Its output until it ends; a child that keeps the pipe open does not keep us."""
    assert process.stdout is not None
    pipe = process.stdout.fileno()
    os.set_blocking(pipe, False)
    poll = select.poll()
    poll.register(pipe, select.POLLIN | select.POLLHUP)
    kept = bytearray()
    while True:
        if cancelled():
            raise CommandError("it was called off")
        if time.monotonic() > deadline:
            raise CommandError("it took too long")
        ended = process.poll() is not None
        ready = poll.poll(0 if ended else 1000 * _LOOK_S)
        chunk = os.read(pipe, 65536) if ready else None
        if chunk:
            printed()
            kept += chunk[: MAX_OUTPUT - len(kept)]
        elif ended:
            return bytes(kept)
        elif chunk == b"":
            poll.unregister(pipe)  # it has closed its output and goes on


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of it, children included."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()
