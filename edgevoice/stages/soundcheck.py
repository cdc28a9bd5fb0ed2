"""What goes wrong with the sound: counted all the time, told now and then.

Owned by nobody's thread: the counters are words that their owners write, and
whoever keeps watch calls `SoundCheck.look` now and then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from edgevoice.core.events import RATE

_TELL_S = 60.0
"""Least time between two lines: a card that stumbles does so hundreds of times."""
_NOTABLE_PPM = 50.0
"""Two crystals differ by less; more costs the echo canceller its alignment within minutes."""

_SETTLED_S = 60.0
_WINDOW_S = 600.0
_JUMP_S = 0.1
"""No drift, but a stream that was closed or has lost a lump."""


class Drift:
    """How much faster the loudspeaker's clock runs than the microphone's, in parts per million.

    The line of least squares through the samples that one has counted more than
    the other; blocks come in lumps of 10 ms, which a minute averages to 10 ppm.
    """

    def __init__(self) -> None:
        self.ppm: float | None = None
        """As measured over the last minutes; None while a minute has not gone by."""
        self.restart()

    def restart(self) -> None:
        """One of the two was opened anew."""
        self._near = self._lead = 0
        self._n = 0
        self._mean_t = self._mean_lead = 0.0
        self._tt = self._tl = 0.0

    def add(self, near: int, far: int) -> None:
        """So many samples were heard and played since the last call, both counted at 16 kHz."""
        self._near += near
        self._lead += far - near
        if abs(self._lead - self._mean_lead) > _JUMP_S * RATE and self._n:
            self.restart()
            return
        self._take(self._near / RATE)
        if self._near >= _SETTLED_S * RATE:
            self.ppm = self._tl / self._tt / RATE * 1e6
        if self._near >= _WINDOW_S * RATE:
            self.restart()

    def _take(self, t: float) -> None:
        """One more point, by Welford's recurrence."""
        self._n += 1
        before = t - self._mean_t
        self._mean_t += before / self._n
        self._mean_lead += (self._lead - self._mean_lead) / self._n
        self._tt += before * (t - self._mean_t)
        self._tl += before * (self._lead - self._mean_lead)


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
        drift, told = after.pop("drift_ppm"), before.pop("drift_ppm")
        grown: dict[str, Any] = {k: n - before[k] for k, n in after.items() if n > before[k]}
        if drift is not None and abs(drift - (told or 0.0)) >= _NOTABLE_PPM:
            grown["drift_ppm"] = round(drift)
        return grown
