"""A stage: a named thread with a bounded inbox and a heartbeat.

Commanded by whoever posts to its inbox; stopped through the same inbox, so
that what was posted before is still done.  `Stage.post` never waits and may be
called from an audio callback: it takes no lock, only an eventfd and a deque,
both of which the interpreter keeps whole.
"""

from __future__ import annotations

import logging
import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from edgevoice.core.events import Event, Fault, FaultKind

M = TypeVar("M")
Post = Callable[[Event], object]

log = logging.getLogger(__name__)

HEARTBEAT_S = 1.0
"""A stage that waits shows that it is alive this often."""


class Wakeup:
    """Lets one thread sleep until another, or a callback, rouses it."""

    def __init__(self) -> None:
        self._fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._poll = select.poll()
        self._poll.register(self._fd, select.POLLIN)

    def rouse(self) -> None:
        """Wake the sleeper, now or when it next wants to sleep."""
        os.eventfd_write(self._fd, 1)

    def sleep(self, seconds: float) -> None:
        """Until roused, or for so long."""
        if self._poll.poll(max(0.0, seconds * 1000)):
            os.eventfd_read(self._fd)

    def __del__(self) -> None:
        os.close(self._fd)


class Stage(Generic[M]):
    """Base of the stages.  Subclasses say what they do with a message in `handle`."""

    fault_kind = FaultKind.ENGINE

    def __init__(self, name: str, events: Post, capacity: int = 512) -> None:
        self.name = name
        self.emit = events
        self.beat = time.monotonic()
        """When the stage last showed that it is alive (monotonic)."""
        self.dropped = 0
        """Messages that did not fit into the inbox."""
        self._inbox: deque[M] = deque()
        self._capacity = capacity
        self._wakeup = Wakeup()
        self._stopping = False
        self._ended = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    # -- other threads ----------------------------------------------------------

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def post(self, message: M) -> bool:
        """Hand over a message; false when the stage has ended, or, counted, the inbox is full."""
        if self._ended:
            return False
        if len(self._inbox) >= self._capacity:
            self.dropped += 1
            return False
        self._inbox.append(message)
        self._wakeup.rouse()
        return True

    def stop(self, timeout: float = 2.0) -> bool:
        """End after what was posted so far; false and named when it hangs."""
        if not self._thread.is_alive():
            return True
        self._stopping = True
        self._wakeup.rouse()
        self._thread.join(timeout)
        if self._thread.is_alive():
            log.error("stage %s does not stop; left behind", self.name)
            return False
        self._ended = True
        return True

    @property
    def stopping(self) -> bool:
        """Whether the stage was told to end."""
        return self._stopping

    # -- the stage's own thread ---------------------------------------------------

    def handle(self, message: M) -> None:
        """Do what the message says."""
        raise NotImplementedError

    def idle(self) -> float:
        """Called when the inbox is empty; returns how long to sleep at most, in seconds."""
        return HEARTBEAT_S

    def opened(self) -> None:
        """Called once on the stage's thread before the first message."""

    def closed(self) -> None:
        """Called once on the stage's thread after the last message."""

    def _run(self) -> None:
        self._guarded(self.opened)
        while True:
            self.beat = time.monotonic()
            if self._inbox:
                message = self._inbox.popleft()
                self._guarded(lambda: self.handle(message))  # noqa: B023 - called at once
            elif self._stopping:
                break
            else:
                self._wakeup.sleep(self._guarded(self.idle) or 0.0)
        self._guarded(self.closed)

    def _guarded(self, work: Callable[[], float | None]) -> float | None:
        """Run it; what it raises becomes a `Fault` and the stage lives on."""
        try:
            return work()
        except Exception as error:
            log.exception("stage %s failed", self.name)
            self.emit(
                Fault(time.monotonic(), self.fault_kind, self.name, describe(error), turn=self.turn)
            )
            return HEARTBEAT_S

    @property
    def turn(self) -> int | None:
        """The turn the stage is working on, for the fault it may report."""
        return None


def describe(error: Exception) -> str:
    """The error in one line."""
    return f"{type(error).__name__}: {error}".splitlines()[0]
