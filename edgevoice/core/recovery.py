"""When to stop trying."""

from __future__ import annotations

from collections import deque


class CircuitBreaker:
    """Opens when one kind of fault comes too often, and closes by itself (PAT-004).

    ``faults`` within ``window_s`` seconds open it for ``open_s`` seconds.  Time
    is an argument, in seconds of any one monotonic clock.
    """

    def __init__(self, faults: int, window_s: float, open_s: float) -> None:
        self._window = window_s
        self._open = open_s
        self._times: deque[float] = deque(maxlen=faults)
        self._open_until: float | None = None

    def fault(self, at: float) -> bool:
        """Count a fault; whether the breaker is open now."""
        self._times.append(at)
        full = len(self._times) == self._times.maxlen
        if full and at - self._times[0] <= self._window:
            self._open_until = at + self._open
            self._times.clear()
        return self.is_open(at)

    def is_open(self, at: float) -> bool:
        """Whether nothing may be tried at ``at``."""
        return self._open_until is not None and at < self._open_until
