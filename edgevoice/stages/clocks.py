"""How much the clocks of the microphone and of the loudspeaker differ.

Each callback comes with the monotonic time of its sound, so each stream tells
how fast it runs against the time of the machine, whether it is silent or not:
the difference is known before the first answer, from which an echo would have
to tell it.
"""

from __future__ import annotations

from dataclasses import dataclass

_SETTLED_S = 5.0
"""Times that are wrong by up to a millisecond then tell the difference to 25 ppm, and after
a minute to 1."""

_MEMORY_S = 60.0
"""Marks fade over this: a clock follows its temperature within minutes."""

_JUMP_S = 0.004
"""A stream that is so far from its line on the average has lost a block, or was closed."""

_SMOOTHING = 1 / 16
"""A block that comes 50 ms late, alone, is no jump."""

_IMPLAUSIBLE_PPM = 1000.0
"""Crystals differ by a tenth of this: the times are not of the sound."""


@dataclass(frozen=True, slots=True)
class Mark:
    """``sound`` seconds of a stream, counted in samples, had passed at the monotonic ``at``."""

    sound: float = 0.0
    at: float = 0.0


class Pace:
    """Seconds of sound to a second of time."""

    def __init__(self) -> None:
        self._newest = Mark()
        self._line: _Line | None = None
        self._off = 0.0

    @property
    def value(self) -> float | None:
        """None until the stream has run for some seconds without a gap."""
        line = self._line
        if line is None or self._newest.at - line.since < _SETTLED_S:
            return None
        return line.slope

    def add(self, mark: Mark) -> None:
        """Take a mark, unless it is the one that was taken last."""
        if mark == self._newest:
            return
        self._newest = mark
        if self._line is None or self._has_jumped(self._line, mark):
            self._line, self._off = _Line(mark), 0.0
        else:
            self._line.add(mark)

    def _has_jumped(self, line: _Line, mark: Mark) -> bool:
        self._off += _SMOOTHING * (line.distance(mark, self.value or 1.0) - self._off)
        return abs(self._off) > _JUMP_S


class _Line:
    """Of least squares through marks that fade.

    Its moments are those of D. West, "Updating mean and variance estimates: an improved
    method", Communications of the ACM 22 (1979), 532.
    """

    def __init__(self, first: Mark) -> None:
        self.since = self._newest_at = self._at = first.at
        self._sound = first.sound
        self._weight = 1.0
        self._variance = self._covariance = 0.0

    @property
    def slope(self) -> float:
        """Seconds of sound to a second; there must be two marks."""
        return self._covariance / self._variance

    def distance(self, mark: Mark, slope: float) -> float:
        """From a line of that slope through the middle of the marks, in seconds of sound."""
        return mark.sound - self._sound - slope * (mark.at - self._at)

    def add(self, mark: Mark) -> None:
        """One more."""
        fading = max(0.0, 1 - (mark.at - self._newest_at) / _MEMORY_S)
        self._newest_at = mark.at
        self._weight = fading * self._weight + 1
        before = mark.at - self._at
        self._at += before / self._weight
        self._sound += (mark.sound - self._sound) / self._weight
        self._variance = fading * self._variance + before * (mark.at - self._at)
        self._covariance = fading * self._covariance + before * (mark.sound - self._sound)


class Drift:
    """How much faster the loudspeaker's clock runs than the microphone's."""

    def __init__(self) -> None:
        self.ppm: float | None = None
        """Parts per million, as known last; None before it was known first."""
        self._near, self._far = Pace(), Pace()

    def look(self, near: Mark, far: Mark) -> None:
        """The newest marks of the microphone and of the loudspeaker."""
        self._near.add(near)
        self._far.add(far)
        pace, other = self._near.value, self._far.value
        if pace is None or other is None:
            return
        ppm = (other / pace - 1) * 1e6
        if abs(ppm) < _IMPLAUSIBLE_PPM:
            self.ppm = ppm
