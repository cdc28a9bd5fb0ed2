"""Listen: echo cancellation, speech detection and the wake word.

Thread ``listen``.  Fed by `edgevoice.stages.capture`; passes the cancelled
sound on to the recogniser and tells the driver what it hears, every 20 ms.
Owns the echo canceller, the detector and the wake engine.  Blocks on nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from edgevoice.core.events import RATE, SoundFrame, WakeHeard
from edgevoice.ports import EchoCanceller, Samples, SpeechDetector, WakeWord
from edgevoice.runtime.stage import Post, Stage
from edgevoice.stages.capture import Heard
from edgevoice.stages.recognise import Sound

_FULL_SCALE = 32768.0
_STEP = 2
"""10 ms frames to an event: EasyTurn wants one every 20 to 40 ms."""


class WakeGate:
    """When a score counts: enough chunks in a row over the threshold.

    While the device speaks its own voice can score and real speech scores
    less, so the threshold is another one and more patience is asked.
    """

    def __init__(self, threshold: float, while_speaking: float, patience: int) -> None:
        self._quiet = (threshold, 1)
        self._speaking = (while_speaking, patience)
        self._run = 0

    def passes(self, score: float, speaking: bool) -> bool:
        """Take the next score."""
        threshold, patience = self._speaking if speaking else self._quiet
        self._run = self._run + 1 if score >= threshold else 0
        if self._run < patience:
            return False
        self._run = 0
        return True


class Listen(Stage[Heard]):
    """Cancels, detects, and wakes."""

    def __init__(
        self,
        events: Post,
        canceller: EchoCanceller,
        detector: SpeechDetector,
        wake: WakeWord,
        gate: WakeGate,
        pass_on: Callable[[Sound], object],
    ) -> None:
        super().__init__("listen", events, capacity=200)
        self._canceller = canceller
        self._detector = detector
        self._wake = wake
        self._gate = gate
        self._pass_on = pass_on
        self._vad = 0.0
        self._for_detector = np.zeros(0, np.int16)
        self._for_wake = np.zeros(0, np.int16)
        self._frames: list[tuple[Samples, Samples]] = []
        self.level = 0.0
        """RMS of full scale of the microphone before cancellation; one word, read by anybody."""
        self.device_speaks = False
        """Set by the driver; one word, read once a chunk."""

    def replace(self, canceller: EchoCanceller, detector: SpeechDetector, wake: WakeWord) -> None:
        """Take other engines, after one of the old has failed (any thread)."""
        self._canceller, self._detector, self._wake = canceller, detector, wake
        self.mend()

    def handle(self, message: Heard) -> None:
        """One frame."""
        near = self._canceller.process(message.near, message.far)
        self._pass_on(Sound(near, message.end))
        self._detect(near)
        self._frames.append((near, message.far))
        if len(self._frames) == _STEP:
            self._tell(message)
        self._look_for_wake_word(near, message)

    def _detect(self, near: Samples) -> None:
        self._for_detector = np.concatenate((self._for_detector, near))
        size = self._detector.chunk
        while len(self._for_detector) >= size:
            self._vad = self._detector.probability(self._for_detector[:size])
            self._for_detector = self._for_detector[size:]

    def _tell(self, message: Heard) -> None:
        self.level = rms(message.near)
        near = np.concatenate([near for near, _ in self._frames])
        far = np.concatenate([far for _, far in self._frames])
        self._frames.clear()
        self.emit(
            SoundFrame(message.at, message.end, len(near), rms(near), round(self._vad, 4), rms(far))
        )

    def _look_for_wake_word(self, near: Samples, message: Heard) -> None:
        self._for_wake = np.concatenate((self._for_wake, near))
        size = self._wake.chunk
        if len(self._for_wake) < size:
            return
        chunk, self._for_wake = self._for_wake[:size], self._for_wake[size:]
        phrase, score = self._wake.score(chunk)
        if self._gate.passes(score, self.device_speaks):
            self._wake.reset()
            end = message.end - len(self._for_wake) - self._wake.lag_ms * RATE // 1000
            self.emit(WakeHeard(message.at, phrase, round(score, 4), max(0, end)))


def rms(samples: Samples) -> float:
    """Root mean square as a share of full scale, rounded to 6 places (a trace stays short)."""
    if not len(samples):
        return 0.0
    return round(float(np.sqrt(np.mean(np.square(samples / _FULL_SCALE)))), 6)
