"""Understand: what needs no language model.

Thread ``understand``.  Commanded by the driver: prompts, on their way to the language
model, through the inbox.  Owns the intents.  It stands before `edgevoice.stages.think`,
so that a model that is slow, hangs or is broken keeps nobody from setting a timer.
Blocks on nothing.

Looking a prompt up has no effect: a match is told to the core, which decides
whether the tool is run.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable

from edgevoice.core.commands import Generate
from edgevoice.core.events import FaultKind, ToolCalled
from edgevoice.ports import Call, Intents
from edgevoice.runtime.stage import Post, TurnStage, place_of

log = logging.getLogger(__name__)

Think = Callable[[Generate], object]


class Understand(TurnStage[Generate]):
    """Answers a prompt with a tool call if an intent is found in it, else hands it on."""

    fault_kind = FaultKind.UNKNOWN

    def __init__(self, events: Post, intents: Intents, think: Think) -> None:
        super().__init__("understand", events, capacity=16)
        self._intents = intents
        self._think = think

    def opened(self) -> None:
        """Warm up."""
        self._intents.warm_up()

    def kind_of(self, error: Exception) -> FaultKind:
        """It has no engine that could be built again."""
        return self.fault_kind

    def work(self, message: Generate, cancelled: Callable[[], bool]) -> None:
        """One prompt."""
        call = self._match(message.heard)
        if call is None:
            self._think(message)
            return
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        self.emit(
            ToolCalled(
                time.monotonic(), message.turn, 0, call.name, arguments,
                call.long_running, direct=True,
            )
        )  # fmt: skip

    def _match(self, heard: str) -> Call | None:
        try:
            return self._intents.match(heard) if heard else None
        except Exception as error:  # a template that goes wrong must not cost the answer
            log.error("no intents: %s", place_of(error))
            return None
