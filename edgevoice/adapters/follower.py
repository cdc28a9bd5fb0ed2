"""A stream at 16 kHz brought to another clock, a few millionths faster or slower."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from edgevoice.ports import FRAME, Samples

_Signal: TypeAlias = npt.NDArray[np.float64]

_HALF = 16
"""Samples on either side of which a sample is made; what comes out is so late, 1 ms."""

_TAPS = np.arange(1 - _HALF, _HALF + 1)


class ClockFollower:
    """`edgevoice.ports.Follower`: a fractional delay that moves evenly over each frame.

    The delay is a windowed sinc (T. Laakso and others, "Splitting the unit delay", IEEE
    Signal Processing Magazine 13 (1996), 30).  At 300 ppm it moves by 0.05 samples in a
    frame, so the frame is made with the delays of both its ends and faded from one to the
    other, 60 dB over the error up to 6 kHz.  soxr's variable rate would do as well but lies
    15 ms behind, which is as long as some echoes take to arrive.
    """

    def __init__(self) -> None:
        self._ratio = 1.0
        self._buffer: _Signal = np.zeros(_HALF)
        self._next = float(_HALF)
        """Where in the buffer the next sample lies."""

    def follow(self, ppm: float) -> None:
        """From now on what comes in runs ``ppm`` faster than what is to go out."""
        self._ratio = 1 + ppm / 1e6

    def process(self, block: Samples) -> Samples:
        """Take a block; as much comes back, but for a sample more or less now and then."""
        frames = [self._convert(block[i : i + FRAME]) for i in range(0, len(block), FRAME)]
        return np.concatenate([np.zeros(0, np.int16), *frames])

    def _convert(self, frame: Samples) -> Samples:
        self._buffer = np.concatenate((self._buffer, frame))
        count = max(0, len(self._buffer) - _HALF - int(self._next))
        made = self._made(count)
        self._next += count * self._ratio
        done = int(self._next) - _HALF + 1
        self._buffer, self._next = self._buffer[done:], self._next - done
        return made

    def _made(self, count: int) -> Samples:
        whole = int(self._next)
        here, moved = self._next - whole, count * (self._ratio - 1)
        around = self._buffer[whole - _HALF + 1 : whole + _HALF + count]
        if not count or not around.any():
            return np.zeros(count, np.int16)  # most of a device's day
        first = np.correlate(around, _kernel(here))
        last = np.correlate(around, _kernel(here + moved))
        faded = first + (last - first) * (np.arange(count) / count)
        return np.clip(np.rint(faded), -32768, 32767).astype(np.int16)


def _kernel(delay: float) -> _Signal:
    """Weights of the samples around for a place ``delay`` samples after the middle one."""
    offset = _TAPS - delay
    angle = np.pi * np.clip(offset / _HALF, -1, 1)
    blackman = 0.42 + 0.5 * np.cos(angle) + 0.08 * np.cos(2 * angle)
    return np.asarray(np.sinc(offset) * blackman)
