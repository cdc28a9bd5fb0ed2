"""The driver: the one thread that owns the core.

Commanded by events in its inbox, from every stage.  Owns the `Conversation`;
nobody else may touch it.  Blocks only on its inbox, never longer than to the
core's deadline.  Each event and what followed is shown to the recorder, then
the commands are carried out in order by the routes, which must not block.
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


class Driver(Stage[Event]):
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

    def handle(self, event: Event) -> None:
        """One event through the core, its commands out of it."""
        commands = self._core.handle(event)
        if self._recorder is not None:
            self._recorder(event, commands)
        for command in commands:
            self._routes[type(command)](command)
        self._tick_if_due()

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
