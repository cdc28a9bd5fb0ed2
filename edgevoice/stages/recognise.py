"""Recognise: sound to words, one utterance at a time.

Thread ``recognise``.  Fed by `edgevoice.stages.listen` with the cancelled
sound, commanded by the driver (begin, flush, stop) through the same inbox, so
that a flush comes after the sound that was heard before it.  Owns the
recogniser and the last seconds of sound, from which an utterance may begin in
the past.  Blocks while the recogniser computes.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import Self

import numpy as np

from edgevoice.core.commands import FlushRecogniser, Recognise, StopRecognising
from edgevoice.core.events import RATE, Transcript
from edgevoice.ports import Hypothesis, Recogniser, Samples
from edgevoice.runtime.stage import Clock, Post, Stage

KEPT_SAMPLES = 5 * RATE
"""How far back an utterance may begin."""

_STEP_S = 0.03
"""Sound that is decoded at once, or a little more."""


@dataclass(frozen=True, slots=True)
class Sound:
    """A block of cancelled sound at 16 kHz; ``end`` is the sample index after it."""

    samples: Samples
    end: int


Order = Sound | Recognise | FlushRecogniser | StopRecognising


class RecogniseStage(Stage[Order]):
    """Decodes while there is an utterance, remembers sound while there is none."""

    def __init__(self, events: Post, recogniser: Recogniser, clock: Clock = time.monotonic) -> None:
        super().__init__("recognise", events, capacity=1000)
        self._clock = clock
        self._recogniser = recogniser
        self._kept: deque[Sound] = deque()
        self._pending: list[Sound] = []
        self._turn: int | None = None
        self._since = 0
        self._apart: tuple[str, ...] = ()
        self._told: tuple[str, ...] = ()
        self._until = 0

    def inherit(self, old: Self) -> None:
        """Begin the utterance again that the old one was at, with the sound that it kept."""
        super().inherit(old)
        self._kept = deque(old._kept, old._kept.maxlen)
        if old._turn is not None:
            self._inbox.appendleft(Recognise(old._turn, old._since, old._apart))

    def hear(self, sound: Sound) -> None:
        """Take the next block (the thread of `listen`); without an utterance it need not hurry."""
        self.post(sound, rouse=self._turn is not None)

    @property
    def turn(self) -> int | None:
        """The turn of the utterance."""
        return self._turn

    def handle(self, message: Order) -> None:
        """Sound, or what to do with it."""
        match message:
            case Sound():
                self._keep(message)
                if self._turn is not None:
                    self._hear(message)
            case Recognise():
                self._begin(message)
            case FlushRecogniser():
                if message.turn == self._turn:
                    self._flush()
            case StopRecognising():
                if message.turn == self._turn:
                    self._turn = None
                    self._pending.clear()

    def _keep(self, sound: Sound) -> None:
        self._kept.append(sound)
        while self._kept[0].end <= sound.end - KEPT_SAMPLES:
            self._kept.popleft()

    def _begin(self, order: Recognise) -> None:
        self._turn, self._since, self._apart = order.turn, order.since, order.apart
        self._told, self._until = _wording(Hypothesis("")), order.since
        self._recogniser.begin(order.apart)
        self._pending = [sound for sound in self._kept if sound.end > order.since]
        self._decode()

    def _hear(self, sound: Sound) -> None:
        self._pending.append(sound)
        if sum(len(each.samples) for each in self._pending) >= _STEP_S * RATE:
            self._decode()

    def _decode(self) -> None:
        if not self._pending:
            return
        samples = np.concatenate([sound.samples for sound in self._pending])
        self._until = self._pending[-1].end
        self._pending.clear()
        hypothesis = self._recogniser.accept(samples)
        if _wording(hypothesis) != self._told:
            self._tell(hypothesis, final=False)

    def _flush(self) -> None:
        self._decode()
        self._tell(self._recogniser.flush(), final=True)

    def _tell(self, hypothesis: Hypothesis, *, final: bool) -> None:
        self._told = _wording(hypothesis)
        assert self._turn is not None
        self.emit(
            Transcript(
                self._clock(),
                self._turn,
                hypothesis.text,
                self._until,
                final,
                hypothesis.words if final else (),
                hypothesis.apart,
            )
        )


def _wording(hypothesis: Hypothesis) -> tuple[str, ...]:
    """What makes it another one: not how sure it is."""
    return (hypothesis.text, *(word.text for word in hypothesis.apart))
