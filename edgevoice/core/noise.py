"""How loud the room is by itself.

Minimum statistics after R. Martin, "Noise power spectral density estimation
based on optimal smoothing and minimum statistics", IEEE Trans. Speech and
Audio Processing 9(5), 2001, on the energy of whole frames: even in the midst
of speech the energy falls to that of the room now and then, so the smallest
smoothed energy of the last seconds is the room's.
"""

from __future__ import annotations

from collections import deque

from edgevoice.core.events import RATE, SoundFrame

QUIETEST = 1 / 32768
"""The level is never below one step of 16-bit audio, so ratios of it mean something."""

_STRETCH = 1 * RATE
_STRETCHES = 6
"""A fan that is switched on is the floor after `_STRETCHES` to one more seconds."""

_SMOOTHING = RATE // 20
"""Samples (50 ms) that a gap in the capture must last to count as silence."""

_SPEECH = 0.5
"""Speech probability from which a frame tells nothing of the room but an upper bound."""


class NoiseFloor:
    """Tracks `level`, the noise floor as RMS of full scale, in time counted in samples.

    Time stands still while somebody speaks: however long they do, what they
    say never becomes the floor.  It falls at once, and rises within seconds.
    """

    def __init__(self) -> None:
        self._until = 0
        self._smooth: float | None = None
        self._stretch = _Stretch()
        self._past: deque[float] = deque(maxlen=_STRETCHES)
        self.level = QUIETEST

    def update(self, frame: SoundFrame) -> float:
        """Take a frame and return `level`; a frame that was taken before changes nothing."""
        if frame.end <= self._until:
            return self.level
        self._until = frame.end
        energy = self._smoothed(frame)
        if frame.vad < _SPEECH or energy < self.level:
            self._take(energy, frame.samples)
        return self.level

    def _smoothed(self, frame: SoundFrame) -> float:
        if self._smooth is None:
            self._smooth = frame.energy
        share = min(1.0, frame.samples / _SMOOTHING)
        self._smooth += share * (frame.energy - self._smooth)
        return self._smooth

    def _take(self, energy: float, samples: int) -> None:
        self._stretch.lowest = min(self._stretch.lowest, energy)
        self._stretch.samples += samples
        self.level = max(QUIETEST, min((self._stretch.lowest, *self._past)))
        if self._stretch.samples >= _STRETCH:
            self._past.append(self._stretch.lowest)
            self._stretch = _Stretch()


class _Stretch:
    """A second of the past, of which only the lowest energy is kept."""

    def __init__(self) -> None:
        self.lowest = float("inf")
        self.samples = 0
