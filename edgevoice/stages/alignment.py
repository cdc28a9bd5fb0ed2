"""Where the echo of what was played lies in what is heard.

Times that the sound system tells bring the two together but for the way through the air,
some tens of milliseconds.  A loudspeaker with a radio, a television or a sound server
holds back more than that and does not tell; and a stream that stumbles may come out later
from then on.  Whatever lies beyond the reach of the echo cancellers is then played and
heard, but not cancelled: the device would be interrupted by itself.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from edgevoice.core.events import RATE
from edgevoice.ports import Samples

_WINDOW = RATE
"""Samples of what is heard that are looked at: in the rooms of `bench.echo` an echo in them has a
clearness of 17 to 124, anything else less than 12."""

LATEST = 3 * RATE // 2
"""No echo is later: radio holds back by 0.2 to 0.5 s."""

_CLEAR = 15.0
_AS_CLEAR = 0.5
"""Of the clearest: what is less clear is no arrival of its own."""

_EVERY = RATE // 2
"""Samples between two looks; one takes 5 ms."""

_JUMP = RATE // 100
"""A change that is no drift: of two clocks, between two looks, it is 0.2 ms."""

_COVERED = RATE * 35 // 100
"""What the cancellers find themselves, with the room's echo after it."""

_NEAREST = RATE * 6 // 100
"""Where in their reach a later echo is put: it may still come a little sooner."""


def arrivals(near: Samples, far: Samples, reach: range) -> npt.NDArray[np.float64]:
    """How clearly ``near`` has what ``far`` has, for each lateness in ``reach``, in samples.

    Both end at the same time; ``far`` may begin earlier.  1.0 is the root mean square over
    ``reach``.  The phase transform: C. Knapp and G. Carter, "The generalized correlation
    method for estimation of time delay", IEEE Transactions on Acoustics, Speech, and Signal
    Processing 24 (1976), 320.
    """
    size = 1 << (len(near) + len(far) - 1).bit_length()
    tapered = near * np.hanning(len(near))  # or where both are cut off would look like an echo
    cross = np.fft.rfft(tapered, size) * np.conj(np.fft.rfft(far, size))
    whole = np.fft.irfft(cross / (np.abs(cross) + 1e-9), size)
    places = np.arange(reach.start, reach.stop) - (len(far) - len(near))
    within = np.abs(whole[places % size])
    return np.asarray(within / max(float(np.sqrt(np.mean(np.square(within)))), 1e-12))


class Alignment:
    """Holds what was played back for as long as the cancellers need to meet its echo.

    ``moved`` counts how often an echo was found where none was known: the first, and each
    that came at another time than before.
    """

    def __init__(self) -> None:
        self._near = np.zeros(_WINDOW, np.int16)
        self._far = np.zeros(_WINDOW + LATEST, np.int16)
        self._unseen = 0
        self.found: int | None = None
        """Samples from playing to the echo; None before it was heard clearly."""
        self.held_back = 0
        """Samples."""
        self.moved = 0

    def align(self, near: Samples, far: Samples) -> Samples:
        """Take the next samples of both, of one length; what was played, held back."""
        self._near = np.concatenate((self._near[len(near) :], near))
        self._far = np.concatenate((self._far[len(far) :], far))
        self._unseen += len(near)
        if self._unseen >= _EVERY:
            self._unseen = 0
            self._look()
        end = len(self._far) - self.held_back
        return self._far[end - len(far) : end]

    def _look(self) -> None:
        if not self._far.any() or not self._near.any():
            return  # most of a device's day
        found = self._likeliest(arrivals(self._near, self._far, range(LATEST)))
        if found is None:
            return
        before, self.found = self.found, found
        covered = 0 <= found - self.held_back <= _COVERED
        if not covered:
            self.held_back = max(0, found - _NEAREST)
        self.moved += not covered or before is None or abs(found - before) >= _JUMP

    def _likeliest(self, clearness: npt.NDArray[np.float64]) -> int | None:
        """None without a clear one.

        What was found before stays; else it is the first, for what is reflected, or was said
        twice, comes later.
        """
        clear = np.flatnonzero(clearness > max(_CLEAR, _AS_CLEAR * clearness.max()))
        if self.found is not None:
            again = clear[np.abs(clear - self.found) < _JUMP]
            clear = again if len(again) else clear
        return int(clear[0]) if len(clear) else None
