"""A stage: a named thread with a bounded inbox and a heartbeat.

Commanded by whoever posts to its inbox; stopped through the same inbox, so
that what was posted before is still done.  `Stage.post` never waits and may be
called from an audio callback: it takes no lock, only an eventfd and a deque,
both of which the interpreter keeps whole.

A thread cannot be killed.  One that hangs in its engine is cut off, so that
nothing it does is heard of any more, and another stage takes its inbox over.
"""

from __future__ import annotations

import logging
import os
import select
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, Self, TypeVar

from edgevoice.core.commands import TurnCommand
from edgevoice.core.events import Event, Fault, FaultKind
from edgevoice.errors import EngineError

M = TypeVar("M")
X = TypeVar("X")
Post = Callable[[Event], object]
Clock = Callable[[], float]
"""Seconds, monotonic: the machine's, or a simulated world's."""

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
        self._cut_off = False
        self.emit = self.outlet(events)
        self.beat = time.monotonic()
        """When the stage last showed that it is alive (monotonic)."""
        self.dropped = 0
        """Messages that did not fit into the inbox."""
        self._inbox: deque[M] = deque()
        self._capacity = capacity
        self._wakeup = Wakeup()
        self._stopping = False
        self._leaving = False
        self._ended = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    # -- other threads ----------------------------------------------------------

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def post(self, message: M, *, rouse: bool = True) -> bool:
        """Hand over a message; false when the stage has ended, or, counted, the inbox is full.

        What need not be done at once does not ``rouse`` it: a heartbeat later is soon enough.
        """
        if self._ended:
            return False
        if len(self._inbox) >= self._capacity:
            self.dropped += 1
            return False
        self._inbox.append(message)
        if rouse:
            self._wakeup.rouse()
        return True

    def post_all(self, messages: Sequence[M]) -> None:
        """Hand over several messages, and rouse the stage once."""
        *first, last = messages
        for message in first:
            self.post(message, rouse=False)
        self.post(last)

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
    def progress(self) -> float:
        """Is another number after some work was done; for the watchdog."""
        return self.beat

    def silent_s(self, now: float) -> float:
        """How long it has shown no sign of life at ``now`` (monotonic); 0 when it has ended."""
        return now - self.beat if self._thread.is_alive() and not self._cut_off else 0.0

    @property
    def stopping(self) -> bool:
        """Whether the stage was told to end."""
        return self._stopping or self._cut_off

    # -- one stage after another --------------------------------------------------

    def outlet(self, target: Callable[[X], object]) -> Callable[[X], object]:
        """``target`` for as long as this stage is not cut off; all it makes leaves through one."""
        return lambda item: None if self._cut_off else target(item)

    def cut_off(self) -> None:
        """From now on nothing that the stage does is heard of (any thread)."""
        self._cut_off = True

    def leave(self, timeout: float) -> bool:
        """End after the message at hand; the others stay for a successor.  False when it hangs."""
        self._leaving = True
        self._wakeup.rouse()
        if self._thread.is_alive():
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def inherit(self, old: Self) -> None:
        """Take over what was posted to a stage that left or was cut off; before `start`."""
        self._inbox, self._wakeup = old._inbox, old._wakeup
        self.dropped = old.dropped

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
        while not self._leaving:
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
        """Run it; what it raises becomes a `Fault`.  The stage lives on, without its engine not."""
        try:
            return work()
        except Exception as error:
            kind = self.kind_of(error)
            self._leaving |= kind is FaultKind.ENGINE
            log.error("stage %s failed: %s", self.name, place_of(error))
            self.emit(Fault(time.monotonic(), kind, self.name, describe(error), turn=self.turn))
            return HEARTBEAT_S

    def kind_of(self, error: Exception) -> FaultKind:
        """What an error of the stage's work means."""
        return self.fault_kind

    @property
    def turn(self) -> int | None:
        """The turn the stage is working on, for the fault it may report."""
        return None


T = TypeVar("T", bound=TurnCommand)


class TurnStage(Stage[T]):
    """A stage whose messages belong to turns, any of which may be called off.

    Turn ids only ever grow, so "this turn and all before it" is one word, which
    the driver writes and the work reads as often as it likes.
    """

    def __init__(self, name: str, events: Post, capacity: int) -> None:
        super().__init__(name, events, capacity)
        self._turn: int | None = None
        self._cancelled = -1

    @property
    def turn(self) -> int | None:
        """The turn that is worked on."""
        return self._turn

    def kind_of(self, error: Exception) -> FaultKind:
        """An engine that says that it failed still works; after any other error nobody knows."""
        said = isinstance(error, (EngineError, MemoryError))
        return self.fault_kind if said else FaultKind.ENGINE

    def inherit(self, old: Self) -> None:
        """What was called off stays called off."""
        super().inherit(old)
        self._cancelled = old._cancelled

    def cancel(self, turn: int) -> None:
        """Stop with this turn and all before it (the driver's thread)."""
        self._cancelled = max(self._cancelled, turn)

    def handle(self, message: T) -> None:
        """Do it, unless the turn was called off while the message waited."""
        self._turn = message.turn

        def cancelled() -> bool:
            self.beat = time.monotonic()  # whoever asks is alive
            return self._cancelled >= message.turn or self.stopping

        if not cancelled():
            self.work(message, cancelled)

    def work(self, message: T, cancelled: Callable[[], bool]) -> None:
        """Do what the message says; stop soon after ``cancelled`` is true."""
        raise NotImplementedError


def describe(error: Exception) -> str:
    """The error in one line."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


def place_of(error: Exception) -> str:
    """Kind and place of an error, without its text, which may quote what somebody said."""
    frames = traceback.extract_tb(error.__traceback__)
    where = " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(frames[-4:]))
    return f"{type(error).__name__} at {where}"
