"""What goes wrong with the sound: counted all the time, told now and then.

Owned by nobody's thread: the counters are words that their owners write, and
whoever keeps watch calls `SoundCheck.look` now and then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

_TELL_S = 60.0
"""Least time between two lines: a card that stumbles does so hundreds of times."""
_NOTABLE = {"drift_ppm": 50.0, "echo_delay_ms": 5.0, "echo_left_db": 6.0}
"""By how much what has no count must have changed."""


@dataclass(frozen=True, slots=True)
class SoundCounts:
    """Since the start: blocks that the cards lost, and what the stages could not keep up with."""

    microphone_xruns: int = 0
    speaker_xruns: int = 0
    overruns: int = 0
    """Samples of the microphone for which there was no room."""
    starved: int = 0
    """Blocks that came out silent because speech was not ready in time."""
    realigned: int = 0
    """How often what was played had to be cut to match what was heard."""
    drift_ppm: float | None = None
    """Of the loudspeaker's clock against the microphone's; None until it is known."""
    echo_delay_ms: float | None = None
    """From playing a sample to its echo; None before an echo was heard."""
    echo_left_db: float | None = None
    """What the linear filter mostly leaves of the echo; None before an echo was heard."""


class SoundCheck:
    """Tells of what has grown, at most once a minute."""

    def __init__(
        self, counts: Callable[[], SoundCounts], tell: Callable[[str, Mapping[str, Any]], None]
    ) -> None:
        self._counts = counts
        self._tell = tell
        self._told = SoundCounts()
        self._told_at: float | None = None

    def look(self, now: float) -> None:
        """Tell if there is something to tell, and it is time (monotonic, in seconds)."""
        if self._told_at is not None and now - self._told_at < _TELL_S:
            return
        counts = self._counts()
        grown = self._grown(counts)
        if grown:
            self._told, self._told_at = counts, now
            self._tell("sound", grown)

    def _grown(self, counts: SoundCounts) -> dict[str, Any]:
        before, after = asdict(self._told), asdict(counts)
        grown: dict[str, Any] = {}
        for what, now in after.items():
            if what not in _NOTABLE:
                if now > before[what]:
                    grown[what] = now - before[what]
            elif now is not None and abs(now - (before[what] or 0.0)) >= _NOTABLE[what]:
                grown[what] = round(now)
        return grown
