"""The driver: the one thread that owns the core.

Commanded by events in its inbox, from every stage, and by errands: work of others
that needs the core, such as a look at it.  Owns the `Conversation`; nobody else may
touch it.  Blocks only on its inbox, never longer than to the core's deadline.  Each
event and what followed is shown to the recorder, then the commands are carried out
in order by the routes, which must not block.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from edgevoice.core.commands import Command
from edgevoice.core.conversation import Conversation
from edgevoice.core.events import Event, FaultKind, Tick
from edgevoice.runtime.stage import HEARTBEAT_S, Clock, Stage

Route = Callable[[Any], object]
Recorder = Callable[[Event, Sequence[Command]], None]
Errand = Callable[[Conversation], object]
Answered = Callable[[Sequence[Command], Conversation], object]


def all_of(recorders: Sequence[Recorder]) -> Recorder:
    """One recorder that shows everything to each of them, in order."""

    def record(event: Event, commands: Sequence[Command]) -> None:
        for recorder in recorders:
            recorder(event, commands)

    return record


class Driver(Stage[Event | Errand]):
    """Feeds events to the core and carries its commands out."""

    fault_kind = FaultKind.UNKNOWN

    def __init__(
        self,
        conversation: Conversation,
        recorder: Recorder | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        super().__init__("driver", self.post, capacity=4096)
        self._core = conversation
        self._recorder = recorder
        self._clock = clock
        self._routes: Mapping[type[Any], Route] = {}

    def connect(self, routes: Mapping[type[Any], Route]) -> None:
        """Say who carries out which command; before `start`."""
        self._routes = routes

    # -- other threads ----------------------------------------------------------------

    def look(self, errand: Errand) -> bool:
        """Let ``errand`` see the core, soon, on the driver's thread; it must not change it."""
        return self.post(errand)

    def submit(self, event: Event, answered: Answered) -> bool:
        """Post ``event``; the commands that follow from it and the core go to ``answered`` too.

        That is called on the driver's thread and must not block.
        """
        return self.post(lambda core: answered(self._take(event), core))

    # -- the driver's thread ----------------------------------------------------------

    def handle(self, message: Event | Errand) -> None:
        """One event through the core, its commands out of it; or an errand."""
        if isinstance(message, Event):
            self._take(message)
        else:
            message(self._core)
        self._tick_if_due()

    def _take(self, event: Event) -> Sequence[Command]:
        commands = self._core.handle(event)
        if self._recorder is not None:
            self._recorder(event, commands)
        for command in commands:
            self._routes[type(command)](command)
        return commands

    def idle(self) -> float:
        """Sleep to the core's deadline."""
        self._tick_if_due()
        deadline = self._core.deadline
        if deadline is None:
            return HEARTBEAT_S
        return min(HEARTBEAT_S, max(0.0, deadline - self._clock()))

    def _tick_if_due(self) -> None:
        """Frames come all the time: a deadline must not wait for an empty inbox."""
        deadline = self._core.deadline
        now = self._clock()
        if deadline is not None and deadline <= now:
            self.handle(Tick(now))
