"""Listen: echo cancellation, speech detection and the wake word.

Thread ``listen``.  Fed by `edgevoice.stages.capture`; passes the cancelled
sound on to the recogniser and tells the driver what it hears, every 20 ms.
Owns the echo cancellers, the detector and the wake engine.  Blocks on nothing.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Self

import numpy as np

from edgevoice.core.events import RATE, SoundFrame, WakeHeard
from edgevoice.ports import FRAME, Samples, SpeechDetector, WakeWord
from edgevoice.runtime.stage import Post, Stage
from edgevoice.stages.capture import Heard
from edgevoice.stages.echo import EchoControl, power
from edgevoice.stages.recognise import Sound

_HUSH_S = 2.0
"""Silence after which nobody is about to say the wake word."""
_LEAD_S = 0.5
"""What the wake engine hears of the time before the silence ended."""
_ANY_SPEECH = 0.05
_ANY_SOUND = 2.0
"""The silence ends with the least sign of speech, or at so many times the noise."""
_FORGETS = 1.01
"""The noise is the least RMS so far, which goes up by a factor of 1.6 a second."""
_LEAST_NOISE = 1e-4
"""RMS of full scale; a digital zero is no measure."""
_PHRASE_BLOCKS = 50
"""A second: the phrase, and the patience after it."""
_LEAST_BLOCKS = 3
"""60 ms: less is a crack of the loudspeaker."""


class Hush:
    """Is it so silent that nobody can be about to speak?

    Most of the time it is, and then the wake engine need not compute, which costs more than
    all else in `Listen`.  Of 38 people who say the phrase after a silence, at three levels and
    in four noises, as many are heard as with an engine that never rests.
    """

    def __init__(self) -> None:
        self._noise = 1.0
        self._silent = 0

    def update(self, energy: float, vad: float, samples: int) -> bool:
        """Take a block; whether it has been silent for `_HUSH_S`."""
        self._noise = max(min(energy, self._noise * _FORGETS), _LEAST_NOISE)
        stirs = vad >= _ANY_SPEECH or energy > _ANY_SOUND * self._noise
        self._silent = 0 if stirs else self._silent + samples
        return self._silent >= _HUSH_S * RATE


class OverEcho:
    """Was anything louder than what may be left of the device's own voice?

    Of 38 people who say the phrase over it at 0 dB everybody is, in six blocks or more; of
    what its own voice scored in two hours in 12 rooms, not one block.
    """

    def __init__(self) -> None:
        self._blocks: deque[bool] = deque(maxlen=_PHRASE_BLOCKS)

    def update(self, energy: float, leak: float) -> None:
        """Take a block; while the room is being learned, with a leak of 1, nobody can tell."""
        self._blocks.append(energy > leak or leak >= 1.0)

    @property
    def heard(self) -> bool:
        """Whether it was, in the time that a phrase takes."""
        return sum(self._blocks) >= _LEAST_BLOCKS


class WakeGate:
    """When a score counts: enough chunks in a row over the threshold.

    While the device speaks real speech scores less, so the threshold is another one and
    more patience is asked.  Its own voice can score that much too: when nothing louder was
    heard than what may be left of its echo, the threshold is that of silence.
    """

    def __init__(self, threshold: float, while_speaking: float, patience: int) -> None:
        self._quiet = (threshold, 1)
        self._speaking = (while_speaking, patience)
        self._run = 0

    def waited(self, speaking: bool) -> int:
        """Chunks between the first score that counted and the one that passed."""
        return (self._speaking if speaking else self._quiet)[1] - 1

    def passes(self, score: float, speaking: bool, over_echo: bool = True) -> bool:
        """Take the next score, and whether anything louder than the echo's rest was heard."""
        threshold, patience = self._speaking if speaking else self._quiet
        if not over_echo:
            threshold = max(threshold, self._quiet[0])
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
        echo: EchoControl,
        detector: SpeechDetector,
        wake: WakeWord,
        gate: WakeGate,
        pass_on: Callable[[Sound], object],
    ) -> None:
        super().__init__("listen", events, capacity=200)
        self.echo = echo
        self._detector = detector
        self._wake = wake
        self.gate = gate
        """Set by whoever changes the settings; one word, read once a chunk."""
        self._pass_on = self.outlet(pass_on)
        self._vad = 0.0
        self._for_detector = np.zeros(0, np.int16)
        self._for_wake = np.zeros(0, np.int16)
        self._hush = Hush()
        self._over_echo = OverEcho()
        self._frames: list[Heard] = []
        self.level = 0.0
        """RMS of full scale of the microphone before cancellation; one word, read by anybody."""
        self.device_speaks = False
        """Set by the driver; one word, read once a chunk."""

    def inherit(self, old: Self) -> None:
        """Whether the device speaks has not changed."""
        super().inherit(old)
        self.device_speaks = old.device_speaks

    def handle(self, message: Heard) -> None:
        """One frame; every second one completes a block (EasyTurn wants 20 to 40 ms)."""
        self._frames.append(message)
        if len(self._frames) * FRAME < self.echo.block:
            return
        near = np.concatenate([frame.near for frame in self._frames])
        far = np.concatenate([frame.far for frame in self._frames])
        self._frames.clear()
        self._hear(near, far, message)

    def _hear(self, near: Samples, far: Samples, newest: Heard) -> None:
        self.level = rms(near)
        heard, _ = self.echo.process(near, far)
        self._pass_on(Sound(heard.clean, newest.end))
        self._detect(heard.samples)
        vad, leak = round(self._vad, 4), round(heard.leak, 6)
        energy, echo = rms(heard.samples), rms(far)
        self.emit(SoundFrame(newest.at, newest.end, len(near), energy, vad, echo, leak))
        self._over_echo.update(energy, leak)
        # What the suppressor leaves of a phrase over the device's voice is often none.
        self._keep_for_wake(heard.samples)
        if not self._hush.update(energy, vad, len(near)):
            self._look_for_wake_word(newest)

    def _detect(self, near: Samples) -> None:
        self._for_detector = np.concatenate((self._for_detector, near))
        size = self._detector.chunk
        while len(self._for_detector) >= size:
            self._vad = self._detector.probability(self._for_detector[:size])
            self._for_detector = self._for_detector[size:]

    def _keep_for_wake(self, near: Samples) -> None:
        kept = round(_LEAD_S * RATE) - len(near)
        self._for_wake = np.concatenate((self._for_wake[-kept:], near))

    def _look_for_wake_word(self, message: Heard) -> None:
        size = self._wake.chunk
        while len(self._for_wake) >= size:
            chunk, self._for_wake = self._for_wake[:size], self._for_wake[size:]
            phrase, score = self._wake.score(chunk)
            if self.gate.passes(score, self.device_speaks, self._over_echo.heard):
                self._tell_of(phrase, score, message)

    def _tell_of(self, phrase: str, score: float, message: Heard) -> None:
        self._wake.reset()
        late = self.gate.waited(self.device_speaks) * self._wake.chunk
        late += self._wake.lag_ms * RATE // 1000
        end = message.end - len(self._for_wake) - late
        self.emit(WakeHeard(message.at, phrase, round(score, 4), max(0, end)))


def rms(samples: Samples) -> float:
    """Root mean square as a share of full scale, rounded to 6 places (a trace stays short)."""
    return round(math.sqrt(power(samples)), 6)
