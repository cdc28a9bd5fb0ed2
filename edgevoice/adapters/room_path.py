"""From the loudspeaker's samples to the sound at the microphone, block by block.

Costs a few hundredths of a core, since it runs beside a device that is being measured.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from edgevoice.adapters.room_acoustics import Signal
from edgevoice.ports import Samples

FULL_SCALE = 32768.0
_ZERO_CROSSINGS = 16
_PHASES = 256


class EchoPath:
    """A loudspeaker with a clock of its own, its delay and the room's response.

    Time is counted in microphone samples.  ``ratio`` is loudspeaker samples per
    microphone sample, ``distortion`` the drive of a tanh (0 is a perfect
    loudspeaker; small signals keep their level at any drive).
    """

    def __init__(
        self, response: Signal, delay: int, block: int, ratio: float = 1.0, distortion: float = 0.0
    ) -> None:
        self._clock = RateConverter(ratio)
        self._convolve = Convolver(response, block)
        self._on_its_way = np.zeros(delay)
        self._block = block
        self._distortion = distortion

    def play(self, samples: Samples) -> None:
        """Take what the loudspeaker plays next."""
        signal = samples / FULL_SCALE
        if self._distortion:
            signal = np.tanh(self._distortion * signal) / self._distortion
        self._clock.push(signal)

    def propagate(self) -> tuple[Signal, Signal]:
        """The next block as it leaves the loudspeaker, and as it arrives at the microphone."""
        leaving = self._clock.pull(self._block)
        self._on_its_way = np.concatenate((self._on_its_way, leaving))
        arriving = self._convolve(self._on_its_way[: self._block])
        self._on_its_way = self._on_its_way[self._block :]
        return leaving, arriving


class RateConverter:
    """Band-limited interpolation at any ratio of rates, with no delay.

    Smith and Gossett, "A flexible sampling-rate conversion method", ICASSP 1984:
    a table of windowed sinc kernels, interpolated between its entries.  soxr would
    hold back a block or more, which a delay that is right to the sample forbids.
    """

    def __init__(self, ratio: float) -> None:
        self._ratio = ratio
        self._half = int(np.ceil(_ZERO_CROSSINGS * max(1.0, ratio)))
        self._kernels = _kernels(self._half, max(1.0, ratio))
        self._buffer: Signal = np.zeros(self._half)
        self._first = -self._half  # index of the buffer's first sample
        self._made = 0

    def push(self, signal: Signal) -> None:
        """Take more input."""
        self._buffer = np.concatenate((self._buffer, signal))

    def pull(self, count: int) -> Signal:
        """The next ``count`` samples.

        Input must have been pushed for 16 samples more, of whichever clock is slower.
        """
        position = (self._made + np.arange(count)) * self._ratio
        self._made += count
        whole = np.floor(position).astype(np.intp)
        start = int(whole[0]) - self._first - self._half + 1
        self._buffer, self._first = self._buffer[start:], self._first + start
        if self._ratio == 1.0:
            return self._buffer[self._half - 1 :][:count].copy()
        windows = np.lib.stride_tricks.sliding_window_view(self._buffer, 2 * self._half)
        windows = windows[whole - whole[0]]
        return np.asarray(np.einsum("ij,ij->i", windows, self._between(position - whole)))

    def _between(self, fraction: Signal) -> Signal:
        phase = fraction * _PHASES
        entry = phase.astype(np.intp)
        share = (phase - entry)[:, None]
        return self._kernels[entry] * (1 - share) + self._kernels[entry + 1] * share


def _kernels(half: int, widening: float) -> Signal:
    """Kernels of shape (phases + 1, 2 half); row p is for a place p / phases after a sample."""
    taps = np.arange(2 * half) - half + 1
    offset = (taps[None, :] - np.arange(_PHASES + 1)[:, None] / _PHASES) / widening
    inside = np.clip(1 - (offset / _ZERO_CROSSINGS) ** 2, 0, None)
    kernels = np.sinc(offset) * np.i0(9.0 * np.sqrt(inside))
    return np.asarray(kernels / kernels.sum(axis=1, keepdims=True))


class Convolver:
    """Streaming convolution without delay: overlap-save in uniform partitions.

    Wefers, "Partitioned convolution algorithms for real-time auralization" (2015),
    chapter 5.  Costs one small transform each way and a multiplication per partition.
    """

    def __init__(self, response: Signal, block: int) -> None:
        parts = -(-len(response) // block)
        padded = np.pad(response, (0, parts * block - len(response)))
        self._filters: npt.NDArray[np.complex128] = np.fft.rfft(
            padded.reshape(parts, block), 2 * block
        )
        self._spectra = np.zeros_like(self._filters)
        self._newest = 0
        self._before: Signal = np.zeros(block)

    def __call__(self, block: Signal) -> Signal:
        """The response to the next block, as long as it."""
        parts = len(self._filters)
        self._newest = (self._newest - 1) % parts
        self._spectra[self._newest] = np.fft.rfft(np.concatenate((self._before, block)))
        self._before = block
        # The spectra lie in a ring, newest first; two products spare the copy that unrolls it.
        split = parts - self._newest
        total = np.einsum("ij,ij->j", self._filters[:split], self._spectra[self._newest :])
        total += np.einsum("ij,ij->j", self._filters[split:], self._spectra[: self._newest])
        return np.fft.irfft(total)[len(block) :]
