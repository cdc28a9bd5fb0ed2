"""Whether the device makes progress, for the watchdog of the service manager.

A thread that is alive proves nothing: what counts is that sound comes in, is
decided about, and goes out.  Each of these has a counter of its own, and the
watchdog is fed only when all of them have moved since it was fed last.  Who
looks is no timer thread but whoever waits for the end of the process.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping

log = logging.getLogger(__name__)

Counter = Callable[[], float]
"""Any number that is another one after some work was done."""


class Watchdog:
    """Calls ``feed`` at most every ``every_s`` seconds, while all ``counters`` move."""

    def __init__(
        self,
        counters: Mapping[str, Counter],
        feed: Callable[[], object],
        every_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._counters = counters
        self._feed = feed
        self._every_s = every_s
        self._clock = clock
        self._seen = dict.fromkeys(counters, float("nan"))  # unlike any number
        self._fed_at = clock()
        self._complained = False

    def look(self) -> None:
        """Feed, if it is time and everything has moved."""
        hungry_s = self._clock() - self._fed_at
        if hungry_s < self._every_s:
            return
        now = {name: counter() for name, counter in self._counters.items()}
        stuck = [name for name, value in now.items() if value == self._seen[name]]
        if not stuck:
            self._feed()
            self._seen, self._fed_at, self._complained = now, self._clock(), False
        elif hungry_s > 2 * self._every_s and not self._complained:
            self._complained = True
            log.error("no progress for %.0f s: %s", hungry_s, ", ".join(stuck))
