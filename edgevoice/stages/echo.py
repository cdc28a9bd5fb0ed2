"""Which of two echo cancellers to believe, and how much echo may be left.

The linear filter leaves the user's voice whole but cannot cancel what a
loudspeaker distorts; the suppressor silences every echo and, with it, pieces
of whoever speaks at the same time.  Where the filter does well its output is
taken, for then an interruption is heard from its first syllable; where it does
not, the suppressor's is.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from edgevoice.core.events import RATE
from edgevoice.ports import FRAME, EchoCanceller, EchoFilter, HighPass, Samples
from edgevoice.stages.alignment import Alignment

_FULL_SCALE = 32768.0

_TRUST_DB, _DISTRUST_DB = -14.0, -9.0
"""The filter is taken while it leaves less than this of the echo, with hysteresis."""

_MARGIN_DB = 15.0
"""From the share that is mostly left to what is hardly ever passed.

Measured in the room: the 60th percentile of what is left lies at -33 dB of the
echo, the 99th at -16 to -20, with and without distortion.
"""

_DRIFT_MARGIN_DB = 6.0
"""The same from what is seldom passed: with two clocks the distance is another one."""

_MOSTLY, _SELDOM = 0.6, 0.95
"""The percentiles that are followed.  Whoever interrupts speaks into an echo for no more than
the tenth of a second until the hold, and is not counted where the suppressor notices them."""

_TAIL = 0.8
"""The room's echo falls by no more than this in a block of 20 ms (RT60 of 0.6 s: 0.79)."""

_HEARD = 20.0
"""An echo tells of the filter only when its power is this many times the noise."""

_AUDIBLE = 4.0
"""An echo is heard when the microphone has so many times the power of the noise."""

_TAKEN_AWAY = 0.1
"""And it is taken away when the suppressor passes less than this of it; of a voice it passes
more."""

_NOISE_BLOCKS = 150
_CLEARLY_NEAR = 0.01
"""RMS that the suppressor lets through only when somebody is there."""

_NOTHING = 1e-12

_REST_GAIN, _RAMP = 0.2, 40
"""What is left of an echo goes down by 14 dB, within 2.5 ms."""
_OPEN_BLOCKS = 8
"""And not for 160 ms after anything else was heard: a syllable."""

_LEARNING_BLOCKS = 30
"""Until 0.6 s of an echo were seen to be taken away, nobody can be told from the device itself."""

_NEVER_HEARD = 250
"""After 5 s of playing without that there is none: headphones, or a muted loudspeaker."""

_PLAYING = 0.003
"""RMS from which the device is heard, and its echo."""


@dataclass(frozen=True, slots=True)
class Near:
    """What the microphone heard without the device.

    Both are at 16 kHz: ``samples`` are whole, to tell somebody's first sound in,
    ``clean`` has what is left of the device's own voice turned down, to put
    words to.  ``leak`` is the RMS (of full scale) that the rest may reach in
    ``samples``.
    """

    samples: Samples
    clean: Samples
    leak: float


class EchoControl:
    """Runs both cancellers side by side; keep one for the daemon's life."""

    def __init__(
        self,
        canceller: EchoCanceller,
        linear: EchoFilter,
        high_pass: HighPass,
        alignment: Alignment | None = None,
    ) -> None:
        """Without an ``alignment`` others cancel the echo: there is nothing to learn."""
        self._canceller = canceller
        self._linear = linear
        self._high_pass = high_pass
        self._alignment = alignment
        self._moved = 0
        self._quality = _Quality()
        self._echo = 0.0
        self._to_learn, self._to_hear = _LEARNING_BLOCKS, _NEVER_HEARD
        self._playing = 0.0
        self._trusted = False
        self._gain = 1.0
        self._open = 0

    @property
    def block(self) -> int:
        """Samples it wants at 16 kHz."""
        return self._linear.block

    @property
    def left_db(self) -> float:
        """What the linear filter mostly leaves of the echo, in dB; 0 before any was heard."""
        return self._quality.left_db

    @property
    def delay_ms(self) -> float:
        """From playing a sample to its echo."""
        found = self._alignment.found if self._alignment else None
        return self._linear.delay_ms if found is None else found * 1000 / RATE

    def process(self, near: Samples, far: Samples) -> tuple[Near, Samples]:
        """The next `block` samples of both.

        Returns what is believed, and what the suppressor made of it.
        """
        near = self._high_pass.process(near)
        far = self._aligned(near, far)
        suppressed = np.concatenate(
            [
                self._canceller.process(near[i : i + FRAME], far[i : i + FRAME])
                for i in range(0, len(near), FRAME)
            ]
        )
        filtered = self._linear.process(near, far)
        self._echo = max(filtered.echo**2, _TAIL * self._echo)
        passed = power(suppressed)
        self._quality.update(power(filtered.samples), self._echo, passed)
        self._decide()
        if self._is_learning(near, far, passed):
            return Near(suppressed, suppressed, 1.0), suppressed
        if not self._trusted:
            return Near(suppressed, suppressed, 0.0), suppressed
        leak = self._quality.leak(self._echo)
        clean = self._without_rest(filtered.samples, suppressed)
        return Near(filtered.samples, clean, leak), suppressed

    def _without_rest(self, filtered: Samples, suppressed: Samples) -> Samples:
        """Turned down where it is no louder than what is left of the echo may be.

        Else the recogniser, which also hears what came before the onset, puts words to it
        in front of what somebody says.  A hiss that begins a word is as soft, but the
        suppressor lets it pass; and once somebody speaks, all their sounds stay.
        """
        before, self._gain = self._gain, self._gain_of(power(filtered), power(suppressed))
        if before == self._gain == 1.0:
            return filtered
        gains = np.full(len(filtered), self._gain)
        gains[:_RAMP] = np.linspace(before, self._gain, _RAMP)
        return np.asarray(np.rint(filtered * gains), np.int16)

    def _gain_of(self, filtered: float, suppressed: float) -> float:
        rest = self._quality.rest(self._echo)
        if rest < self._quality.noise or filtered > rest:
            self._open = _OPEN_BLOCKS
        self._open -= 1
        if self._open >= 0:
            return 1.0
        passed = float(np.sqrt(suppressed / max(filtered, _NOTHING)))
        return min(1.0, max(_REST_GAIN, passed))

    def _aligned(self, near: Samples, far: Samples) -> Samples:
        """What was played, held back until it meets its echo; what moved is learned again."""
        if self._alignment is None:
            return far
        far = self._alignment.align(near, far)
        if self._moved != self._alignment.moved:
            is_known = self._trusted and not self._moved
            self._moved = self._alignment.moved
            if not is_known:
                self._begin_anew()
        return far

    def _begin_anew(self) -> None:
        self._linear.forget()
        self._quality.forget()
        self._to_learn, self._to_hear = _LEARNING_BLOCKS, _NEVER_HEARD

    def _is_learning(self, near: Samples, far: Samples, passed: float) -> bool:
        """Whether there may be an echo that neither canceller has learned to take away."""
        if self._alignment is None or not self._to_learn or not self._to_hear:
            return False
        self._playing = max(power(far), _TAIL * self._playing)
        playing = self._playing > _PLAYING**2
        level = power(near)
        heard = level > max(_AUDIBLE * self._quality.noise, _PLAYING**2)
        self._to_hear -= playing
        # Before an echo was found the suppressor takes everything away, voices as well.
        if playing and heard and self._alignment.found is not None:
            self._to_learn -= passed < _TAKEN_AWAY * level
        return playing

    def _decide(self) -> None:
        limit = _DISTRUST_DB if self._trusted else _TRUST_DB
        self._trusted = self._quality.left_db < limit and self._quality.follows


class _Percentile:
    """A percentile followed by steps: no record is kept.

    H. Robbins and S. Monro, "A stochastic approximation method", Annals of
    Mathematical Statistics 22 (1951), 400.
    """

    def __init__(self, share: float, step: float) -> None:
        self.value = 0.0
        self._share = share
        self._step = step
        self._seen = 0

    def update(self, value: float) -> None:
        """Take one more; the first ones count for more."""
        step = self._step * (1 + 5 / (1 + self._seen / 10))
        self._seen += 1
        self.value += step * (self._share if value > self.value else self._share - 1)


class _Quality:
    """Follows what share of the echo the filter leaves."""

    def __init__(self) -> None:
        self._recent: deque[float] = deque(maxlen=_NOISE_BLOCKS)
        self._noise = _NOTHING
        self.forget()

    def forget(self) -> None:
        """The filter has a new path to learn; the noise is as it was."""
        self._mostly = _Percentile(_MOSTLY, 0.6)
        self._seldom = _Percentile(_SELDOM, 1.0)

    @property
    def left_db(self) -> float:
        """What is mostly left."""
        return self._mostly.value

    def update(self, left: float, echo: float, suppressed: float) -> None:
        """Take the powers of a block."""
        self._recent.append(left)
        self._noise = 2 * sorted(self._recent)[len(self._recent) // 10]
        if echo <= _HEARD * self._noise or suppressed > _CLEARLY_NEAR**2:
            return
        share_db = 10 * np.log10(max(left - self._noise, _NOTHING) / echo)
        self._mostly.update(share_db)
        self._seldom.update(share_db)

    @property
    def follows(self) -> bool:
        """Whether the filter seldom leaves more than the echo itself.

        After a hiccup of the sound it may, for many seconds: what it predicts is not what is
        heard.  No voice would then be louder than what may be left.
        """
        return self._seldom.value < 0.0

    @property
    def noise(self) -> float:
        """Power of what is there without an echo."""
        return self._noise

    def rest(self, echo: float) -> float:
        """Power that is hardly ever passed by the rest of an echo."""
        worst_db = max(self._mostly.value + _MARGIN_DB, self._seldom.value + _DRIFT_MARGIN_DB)
        return float(echo * 10 ** (worst_db / 10))

    def leak(self, echo: float) -> float:
        """RMS that is hardly ever passed by that and the noise."""
        return float(np.sqrt(self.rest(echo) + 4 * self._noise))


def power(samples: Samples) -> float:
    """Mean square, 1.0 at full scale; 0.0 of nothing."""
    return float(np.mean(np.square(samples / _FULL_SCALE))) if len(samples) else 0.0
