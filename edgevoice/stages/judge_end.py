"""Judge the end: does the pause sound as if the user had finished?

Thread ``judge_end``.  Asked by the driver once a pause; `edgevoice.stages.listen` leaves
the sound in passing, without waking it.  Owns the last seconds of sound and the model.
Blocks while the model computes, which is why the recogniser does not do it.
"""

from __future__ import annotations

import time
from collections import deque

import numpy as np

from edgevoice.core.commands import JudgeEnd
from edgevoice.core.events import TurnVerdict
from edgevoice.ports import FRAME, EndOfTurn
from edgevoice.runtime.stage import Post, Stage
from edgevoice.stages.recognise import Sound


class JudgeEndStage(Stage[JudgeEnd]):
    """Answers each `JudgeEnd` with a `TurnVerdict`."""

    def __init__(self, events: Post, model: EndOfTurn) -> None:
        super().__init__("judge_end", events, capacity=8)
        self._model = model
        self._turn: int | None = None
        self._kept: deque[Sound] = deque(maxlen=model.window // FRAME)

    def replace(self, model: EndOfTurn) -> None:
        """Take another engine, after the old one has failed (any thread)."""
        self._model = model
        self.mend()

    @property
    def turn(self) -> int | None:
        """The turn that was judged last."""
        return self._turn

    def keep(self, sound: Sound) -> None:
        """Remember the newest frame (the thread of `listen`)."""
        self._kept.append(sound)

    def handle(self, message: JudgeEnd) -> None:
        """Judge one pause."""
        self._turn = message.turn
        kept = self._kept.copy()  # in one go, while `keep` waits for the interpreter
        heard = [s.samples for s in kept if message.since < s.end <= message.until]
        if not heard:
            return
        probability = self._model.probability(np.concatenate(heard))
        self.emit(TurnVerdict(time.monotonic(), message.turn, round(probability, 4), message.until))
