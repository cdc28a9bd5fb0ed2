"""A client of the control socket: what the owner's commands talk to the daemon with.

One thread, blocking, and the standard library alone: a command must start at once.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from edgevoice.errors import DaemonError
from edgevoice.system.places import candidates
from edgevoice.system.protocol import VERSION, Message, encode

PATIENCE_S = 10.0
"""Longer than the daemon's own: what it knows is better than that it took long."""

_START = "start it: systemctl start edgevoice, or edgevoice run"


class Client:
    """A connection to the daemon.  Use as a context manager."""

    def __init__(self, setting: str = "") -> None:
        """Connect; ``setting`` is the key ``control.socket``.

        Raises `edgevoice.errors.DaemonError` when there is no daemon, or it does not answer.
        """
        self._socket = _connected(candidates(setting))
        self._file = self._socket.makefile("rb")
        self._events: list[Message] = []
        self._socket.settimeout(PATIENCE_S)
        self.hello: dict[str, Any] = self._greeting()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
        self._socket.close()

    def request(self, command: str, *, patient: bool = False, **arguments: Any) -> dict[str, Any]:
        """Ask for ``command``; its reply's payload.

        ``patient`` waits as long as it takes.  Raises `DaemonError` when it is refused.
        """
        self._socket.settimeout(None if patient else PATIENCE_S)
        with suppress(OSError):  # it may have told why it hangs up
            self._socket.sendall(encode({"command": command, **arguments}))
        while (message := self._read())["type"] not in ("reply", "error"):
            self._events.append(message)
        if message["type"] == "error":
            raise DaemonError(f"{command}: {message['payload']['message']}")
        payload: dict[str, Any] = message["payload"]
        return payload

    def events(self, kinds: Sequence[str]) -> Iterator[Message]:
        """Subscribe; a ``state`` event of this moment, then every event as it comes.

        Raises `DaemonError` when the daemon ends.
        """
        snapshot = self.request("subscribe", events=list(kinds))
        yield {"type": "state", "payload": snapshot}
        while True:
            self._socket.settimeout(None)  # a request in between has set it
            yield self._events.pop(0) if self._events else self._read()

    def _greeting(self) -> dict[str, Any]:
        message = self._read()
        payload: dict[str, Any] = message["payload"]
        if message["type"] != "hello" or payload.get("protocol") != VERSION:
            found = payload.get("protocol", "no edgevoice")
            raise DaemonError(
                f"the daemon speaks protocol {found}, this command {VERSION}",
                "restart the daemon, so that both are of one version",
            )
        return payload

    def _read(self) -> Message:
        try:
            line = self._file.readline()
        except TimeoutError:
            raise DaemonError(
                "edgevoice is there, but does not answer", "journalctl -u edgevoice may say why"
            ) from None
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            raise DaemonError("edgevoice has ended", _START)
        try:
            message: Message = json.loads(line)
            return {"type": message["type"], "payload": dict(message["payload"])}
        except (ValueError, KeyError, TypeError):
            raise DaemonError(
                "what listens at the control socket is no edgevoice", "see control.socket"
            ) from None


def _connected(paths: Sequence[Path]) -> socket.socket:
    denied = ""
    for path in paths:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(PATIENCE_S)
        try:
            connection.connect(str(path))
        except PermissionError:
            denied = denied or str(path)
        except OSError:
            pass
        else:
            return connection
        connection.close()
    if denied:
        raise DaemonError(
            f"{denied} may not be opened", "sudo usermod -aG edgevoice $USER, then log in again"
        )
    raise DaemonError("edgevoice is not running", _START)
