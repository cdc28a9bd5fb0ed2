"""Sample-rate conversion of a stream with soxr."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgevoice.ports import Samples


class SoxrResampler:
    """Converts one stream of int16 mono from one rate to another, block by block.

    soxr collects input and gives it out in lumps: 30 ms of them at its ``HQ``
    recipe, 20 ms at ``LQ`` (measured with 10 ms blocks, 48 to 16 kHz).  Live
    sound takes ``LQ``, whose stop band still lies 16 bits down.
    """

    def __init__(self, rate_in: int, rate_out: int, quality: str = "HQ") -> None:
        import soxr

        self._stream: Any = soxr.ResampleStream(
            rate_in, rate_out, 1, dtype="int16", quality=quality
        )

    @classmethod
    def live(cls, rate_in: int, rate_out: int) -> SoxrResampler:
        """For sound that is waited for: the smallest delay."""
        return cls(rate_in, rate_out, "LQ")

    def process(self, block: Samples) -> Samples:
        """Take a block; what is ready comes back, sometimes nothing."""
        out: Samples = self._stream.resample_chunk(block)
        return out

    def finish(self) -> Samples:
        """The rest of the stream, which ends here."""
        out: Samples = self._stream.resample_chunk(np.zeros(0, np.int16), last=True)
        return out
