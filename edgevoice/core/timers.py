"""Named deadlines, kept by the core and slept on by the shell."""

from __future__ import annotations

from enum import Enum


class Timer(Enum):
    """What a deadline is for."""

    PLACE = "place"
    NOTHING_SAID = "nothing said"
    PATIENCE = "patience"
    RELEASED = "released"
    LONG_HOLD = "long hold"
    FIRST_TOKEN = "first token"
    RETRY = "retry"
    SPEECH = "speech"
    PROGRESS = "progress"
    HEARTBEAT = "heartbeat"
    REOPEN = "reopen"
    RING = "ring"
    RENEWAL = "renewal"


class Timers:
    """At most one deadline of each kind, in seconds of the monotonic clock."""

    def __init__(self) -> None:
        self._due: dict[Timer, float] = {}

    def set(self, timer: Timer, at: float) -> None:
        """Replace the deadline of ``timer``."""
        self._due[timer] = at

    def clear(self, *timers: Timer) -> None:
        """Forget these; all of them when none is named."""
        for timer in timers or tuple(self._due):
            self._due.pop(timer, None)

    def __contains__(self, timer: Timer) -> bool:
        return timer in self._due

    @property
    def deadline(self) -> float | None:
        """The earliest, or None when nothing is waited for."""
        return min(self._due.values(), default=None)

    def take(self, timer: Timer, now: float) -> bool:
        """Whether ``timer`` is due; it is taken out then."""
        due = timer in self._due and self._due[timer] <= now
        if due:
            del self._due[timer]
        return due

    def pop_due(self, now: float) -> Timer | None:
        """Take out the earliest that is due."""
        if not self._due:
            return None
        timer = min(self._due, key=self._due.__getitem__)
        if self._due[timer] > now:
            return None
        del self._due[timer]
        return timer
