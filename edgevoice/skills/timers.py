"""Timers and alarms: what is set, when it is due, and what must survive a restart.

Thread ``timers`` sleeps until the next one is due, a second at most, because an
alarm goes by the clock on the wall, which may be set at any time.  A timer goes
by the monotonic clock, and by the other only over a restart.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from edgevoice.skills.store import Entry, Store

MOST = 32
"""Timers and alarms at a time."""

LATE_S = 120.0
"""After a restart, what was due so recently still rings; what was due before that was missed."""


@dataclass
class Clocks:
    """The two clocks; a test puts its own in."""

    wall: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic


@dataclass
class _Waiting:
    """An entry that is not due yet; ``ends`` on the monotonic clock, for a timer."""

    entry: Entry
    ends: float | None = field(default=None)


class Timers:
    """All that is set.  Any thread may ask and change it.

    ``ring`` is called, on the thread of the timers, with each entry when it is due.
    """

    def __init__(self, store: Store, ring: Callable[[Entry], None], clocks: Clocks | None = None):
        self._store = store
        self._ring = ring
        self._clocks = clocks or Clocks()
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._waiting: dict[int, _Waiting] = {}
        self._ringing: dict[int, Entry] = {}
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="timers", daemon=True)

    # -- life ------------------------------------------------------------------------

    def start(self) -> list[Entry]:
        """Take up what was kept; what was missed meanwhile is given back, oldest first."""
        now = self._clocks.wall()
        kept = self._store.load()
        missed = [entry for entry in kept if entry.due < now - LATE_S]
        with self._lock:
            for entry in kept:
                if entry not in missed:
                    self._wait_for(entry)
            if missed:
                self._keep()
        self._thread.start()
        return sorted(missed, key=lambda entry: entry.due)

    def stop(self) -> None:
        """End the thread; everything stays kept."""
        with self._lock:
            self._stopping = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(2.0)

    # -- what is set -------------------------------------------------------------------

    def add(self, kind: str, name: str, due: float) -> Entry | None:
        """Set one, due at ``due`` (seconds since the epoch); None when there are too many."""
        with self._lock:
            known = [*self._waiting, *self._ringing]
            if len(known) >= MOST:
                return None
            entry = Entry(max(known, default=0) + 1, kind, name, due)
            self._wait_for(entry)
            self._keep()
            self._changed.notify()
            return entry

    def entries(self, kind: str | None = None) -> list[Entry]:
        """Those that are not due yet, by when they are."""
        with self._lock:
            found = [w.entry for w in self._waiting.values() if kind in (None, w.entry.kind)]
        return sorted(found, key=lambda entry: entry.due)

    def left(self, entry: Entry) -> float:
        """Seconds until ``entry`` is due."""
        with self._lock:
            waiting = self._waiting.get(entry.id)
            return 0.0 if waiting is None else max(0.0, self._left(waiting))

    def cancel(self, entries: list[Entry]) -> None:
        """Forget these."""
        with self._lock:
            for entry in entries:
                self._waiting.pop(entry.id, None)
            self._keep()

    def over(self, number: int) -> None:
        """Number ``number`` has rung, and was heard or given up."""
        with self._lock:
            if self._ringing.pop(number, None) is not None:
                self._keep()

    # -- inside, with the lock ------------------------------------------------------------

    def _wait_for(self, entry: Entry) -> None:
        ends = None
        if entry.kind == "timer":
            ends = self._clocks.monotonic() + entry.due - self._clocks.wall()
        self._waiting[entry.id] = _Waiting(entry, ends)

    def _left(self, waiting: _Waiting) -> float:
        if waiting.ends is not None:
            return waiting.ends - self._clocks.monotonic()
        return waiting.entry.due - self._clocks.wall()

    def _keep(self) -> None:
        """What rings is kept, too: nobody may have heard it when the power goes."""
        now = self._clocks.wall()
        waiting = [
            # The wall clock may have been set since: a timer is kept by what is left of it.
            w.entry if w.ends is None else replace(w.entry, due=now + self._left(w))
            for w in self._waiting.values()
        ]
        self._store.save([*waiting, *self._ringing.values()])

    # -- the thread ----------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            with self._lock:
                due = self.take_due()
                if not due and not self._stopping:
                    self._changed.wait(self._sleep_s())
                if self._stopping:
                    return
            for entry in due:
                self._ring(entry)

    def take_due(self) -> list[Entry]:
        """Those that are due now; from here on they ring (with the lock held)."""
        due = [w.entry for w in self._waiting.values() if self._left(w) <= 0]
        for entry in due:
            del self._waiting[entry.id]
            self._ringing[entry.id] = entry
        return sorted(due, key=lambda entry: entry.due)

    def _sleep_s(self) -> float:
        left = (self._left(waiting) for waiting in self._waiting.values())
        return max(0.0, min(1.0, min(left, default=1.0)))
