"""An audio ring between an audio callback and one thread.

Threads: one writer (the audio callback) and one reader.  Neither ever waits:
the writer owns ``_written``, the reader owns ``_read``, and each is one word
that the other only reads.  A full ring loses the newest block and counts it.
"""

from __future__ import annotations

import numpy as np

from edgevoice.ports import Samples


class Ring:
    """Holds up to ``capacity`` int16 samples."""

    def __init__(self, capacity: int) -> None:
        self._data = np.zeros(capacity, np.int16)
        self._written = 0
        self._read = 0
        self.lost = 0
        """Samples that did not fit."""

    def __len__(self) -> int:
        return self._written - self._read

    def write(self, block: Samples) -> None:
        """Append a block; the writer's only call."""
        n, size = len(block), len(self._data)
        if n > size - len(self):
            self.lost += n
            return
        at = self._written % size
        first = min(n, size - at)
        self._data[at : at + first] = block[:first]
        self._data[: n - first] = block[first:]
        self._written += n

    def take(self) -> Samples:
        """All there is, as a copy; the reader's call."""
        n, size = len(self), len(self._data)
        at = self._read % size
        first = min(n, size - at)
        out = np.concatenate((self._data[at : at + first], self._data[: n - first]))
        self._read += n
        return out
