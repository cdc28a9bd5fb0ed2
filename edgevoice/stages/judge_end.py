"""Judge the end: does the pause sound as if the user had finished?

Thread ``judge_end``.  Asked by the driver once a pause; `edgevoice.stages.listen` leaves
the sound in passing, without waking it.  Owns the last seconds of sound and the model.
Blocks while the model computes, which is why the recogniser does not do it.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Self

import numpy as np

from edgevoice.core.commands import JudgeEnd
from edgevoice.core.events import TurnVerdict
from edgevoice.ports import EndOfTurn
from edgevoice.runtime.stage import Clock, Post, Stage
from edgevoice.stages.recognise import Sound


class JudgeEndStage(Stage[JudgeEnd]):
    """Answers each `JudgeEnd` with a `TurnVerdict`.

    Without a model, because no policy wants one or it cannot be loaded, no verdict comes,
    and what was said is judged without.
    """

    def __init__(
        self, events: Post, model: EndOfTurn | None, clock: Clock = time.monotonic
    ) -> None:
        super().__init__("judge_end", events, capacity=8)
        self._model = model
        self._clock = clock
        self._turn: int | None = None
        self._kept: deque[Sound] = deque()

    def inherit(self, old: Self) -> None:
        """The sound it kept is that of the pause that waits for a verdict."""
        super().inherit(old)
        if self._model is not None:
            self._kept = old._kept.copy()

    @property
    def turn(self) -> int | None:
        """The turn that was judged last."""
        return self._turn

    def keep(self, sound: Sound) -> None:
        """Remember the newest block (the thread of `listen`)."""
        if self._model is None:
            return
        self._kept.append(sound)
        while self._kept[0].end <= sound.end - self._model.window:
            self._kept.popleft()

    def handle(self, message: JudgeEnd) -> None:
        """Judge one pause."""
        self._turn = message.turn
        kept = self._kept.copy()  # in one go, while `keep` waits for the interpreter
        heard = [s.samples for s in kept if message.since < s.end <= message.until]
        if self._model is None or not heard:
            return
        probability = self._model.probability(np.concatenate(heard))
        self.emit(TurnVerdict(self._clock(), message.turn, round(probability, 4), message.until))
