"""The control socket: the owner's way to see the daemon and to tell it what to do.

Thread ``control``, its own.  Owns the listening socket and every connection; sleeps in a
selector and blocks on nothing else.  The driver's thread and others hand it work through
`Control.soon`, which never waits.  What is said there is in `edgevoice.system.protocol`,
what is done in `edgevoice.system.desk`.

Nobody can hurt the conversation from here: a peer that sends nonsense gets one error for
each line of it, one that does not read is dropped, and the number of peers is limited.
"""

from __future__ import annotations

import logging
import os
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from edgevoice import __version__
from edgevoice.system import protocol
from edgevoice.system.desk import Desk
from edgevoice.system.endpoint import Endpoint
from edgevoice.system.protocol import Id, Lines, Message, ProtocolError

log = logging.getLogger(__name__)

MAX_PEERS = 32
MAX_PENDING = 64
"""Requests of all peers that wait for their answer."""
MAX_UNREAD = 256 * 1024
"""Bytes that may wait for a peer to read them; some minutes of every event there is."""
LEVELS_S = 0.1
"""Between two events of levels."""
PATIENCE_S = 5.0
"""What the core does not answer within this time is answered for it."""
_WAITING_S = 0.5
"""How often is looked whether somebody waits in vain."""
_CHUNK = 65_536

Levels = Callable[[], dict[str, float]]


@dataclass(eq=False)
class Peer:
    """A connection."""

    socket: socket.socket
    number: int
    lines: Lines = field(default_factory=Lines)
    unsent: bytearray = field(default_factory=bytearray)
    events: frozenset[str] = frozenset()


@dataclass(eq=False)
class Pending:
    """A request that is not answered yet."""

    peer: Peer
    id: Id
    waits: bool
    """For what was asked for to be over, not only accepted."""
    deadline: float | None


class Control:
    """The server.  Use as a context manager; `attach` opens the desk."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Serve at ``endpoint``, which this now owns and closes."""
        self._endpoint = endpoint
        self._desk: Desk | None = None
        self._levels: Levels = dict
        self._selector = selectors.DefaultSelector()
        self._wakeup = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._work: deque[Callable[[], None]] = deque()
        self._peers: set[Peer] = set()
        self._pending: set[Pending] = set()
        self._number = 0
        self._next_levels = 0.0
        self._next_look = 0.0
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="control", daemon=True)

    # -- other threads ----------------------------------------------------------------

    def __enter__(self) -> Control:
        self._selector.register(self._endpoint.socket, selectors.EVENT_READ, self._accept)
        self._selector.register(self._wakeup, selectors.EVENT_READ, self._woken)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping = True
        self.soon(lambda: None)
        self._thread.join()
        self._endpoint.close()
        self._selector.close()
        os.close(self._wakeup)

    def attach(self, desk: Desk, levels: Levels) -> None:
        """From now on requests are served; before, each is told that the daemon is starting."""
        self._levels = levels
        self._desk = desk

    def publish(self, kind: str, payload: dict[str, Any]) -> None:
        """Tell all who have subscribed to ``kind``."""
        if self._peers:
            self.soon(lambda: self._tell(kind, payload))

    def soon(self, work: Callable[[], None]) -> None:
        """Do ``work`` on the control thread; takes no lock, and does not wait."""
        self._work.append(work)
        os.eventfd_write(self._wakeup, 1)

    # -- the control thread -----------------------------------------------------------

    def _run(self) -> None:
        while not self._stopping:
            for key, mask in self._selector.select(self._sleep()):
                key.data(mask)
            while self._work:
                self._work.popleft()()
            self._look_at_the_clock(time.monotonic())
        for peer in list(self._peers):
            self._send_now(peer)
            self._drop(peer)

    def _woken(self, _: int) -> None:
        os.eventfd_read(self._wakeup)

    def _sleep(self) -> float | None:
        now = time.monotonic()
        due = [p.deadline for p in self._pending if p.deadline is not None]
        if any("levels" in peer.events for peer in self._peers):
            due.append(self._next_levels)
        if any(pending.waits for pending in self._pending):
            due.append(self._next_look)
        return max(0.0, min(due) - now) if due else None

    def _look_at_the_clock(self, now: float) -> None:
        for pending in [p for p in self._pending if p.deadline is not None and p.deadline <= now]:
            self._answer(pending, ProtocolError("busy", "the conversation did not answer in time"))
        if now >= self._next_levels:
            self._next_levels = now + LEVELS_S
            if any("levels" in peer.events for peer in self._peers):
                self._tell("levels", self._levels())
        if now >= self._next_look:
            self._next_look = now + _WAITING_S
            if self._desk is not None and any(pending.waits for pending in self._pending):
                self._desk.give_up()

    # -- connections --------------------------------------------------------------------

    def _accept(self, _: int) -> None:
        try:
            connection, _address = self._endpoint.socket.accept()
        except OSError as error:  # it went away again, or there are no descriptors left
            log.warning("control: a connection was not accepted (%s)", error.strerror)
            return
        connection.setblocking(False)
        self._number += 1
        peer = Peer(connection, self._number)
        self._peers.add(peer)
        self._selector.register(
            connection, selectors.EVENT_READ, lambda mask: self._serve(peer, mask)
        )
        self._send(peer, protocol.hello(__version__))
        if len(self._peers) > MAX_PEERS:
            full = ProtocolError("full", f"there are {MAX_PEERS} connections already")
            self._send(peer, protocol.refusal(full))
            self._drop(peer)

    def _serve(self, peer: Peer, mask: int) -> None:
        if mask & selectors.EVENT_WRITE:
            self._send_now(peer)
        if mask & selectors.EVENT_READ and peer in self._peers:
            self._receive(peer)

    def _receive(self, peer: Peer) -> None:
        try:
            data = peer.socket.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._drop(peer)
            return
        for line in peer.lines.feed(data):
            self._take(peer, line)
            if peer not in self._peers:
                return

    def _send(self, peer: Peer, message: Message) -> None:
        if peer not in self._peers:
            return
        peer.unsent += protocol.encode(message)
        self._send_now(peer)
        if peer in self._peers and len(peer.unsent) > MAX_UNREAD:
            log.warning("control: peer %d does not read what it asked for: dropped", peer.number)
            self._drop(peer)

    def _send_now(self, peer: Peer) -> None:
        try:
            while peer.unsent:
                sent = peer.socket.send(peer.unsent)
                del peer.unsent[:sent]
        except BlockingIOError:
            pass
        except OSError:
            self._drop(peer)
            return
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if peer.unsent else 0)
        key = self._selector.get_key(peer.socket)
        if key.events != wanted:
            self._selector.modify(peer.socket, wanted, key.data)

    def _drop(self, peer: Peer) -> None:
        if peer in self._peers:
            self._peers.discard(peer)
            # What was to be waited for is still looked after until it is over.
            self._pending = {p for p in self._pending if p.waits or p.peer is not peer}
            self._selector.unregister(peer.socket)
            peer.socket.close()

    # -- requests -----------------------------------------------------------------------

    def _take(self, peer: Peer, line: bytes | None) -> None:
        try:
            request = protocol.parse(line)
            if self._desk is None:
                raise ProtocolError("starting", "edgevoice is still getting ready", request.id)
            if len(self._pending) >= MAX_PENDING:
                raise ProtocolError("full", "too many requests wait already", request.id)
        except ProtocolError as error:
            self._send(peer, protocol.refusal(error))
            return
        if request.command == "subscribe":
            peer.events = frozenset(request.arguments.get("events", ("state", "turn")))
        patient = request.wait or request.command == "reload"
        deadline = None if patient else time.monotonic() + PATIENCE_S
        pending = Pending(peer, request.id, request.wait, deadline)
        self._pending.add(pending)
        self._desk.serve(
            request,
            lambda payload: self.soon(lambda: self._answer(pending, payload)),
            lambda error: self.soon(lambda: self._answer(pending, error)),
        )

    def _answer(self, pending: Pending, answer: Message | ProtocolError) -> None:
        """Only the first answer counts, and none when the peer has gone."""
        if pending not in self._pending:
            return
        self._pending.discard(pending)
        if isinstance(answer, ProtocolError):
            answer.request = pending.id
            self._send(pending.peer, protocol.refusal(answer))
        else:
            self._send(pending.peer, protocol.reply(pending.id, answer))

    def _tell(self, kind: str, payload: dict[str, Any]) -> None:
        message = protocol.event(kind, payload)
        for peer in [peer for peer in self._peers if kind in peer.events]:
            self._send(peer, message)
