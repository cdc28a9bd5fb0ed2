"""Which light belongs to which state."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from edgevoice.core.events import FaultKind
from edgevoice.core.table import Place


@dataclass(frozen=True, slots=True)
class Pattern:
    """A light: colour as red, green, blue (0 to 1 each) and how it moves.

    ``motion`` is ``off``, ``steady``, ``pulse``, ``blink`` (half of the time), ``flash``
    (a moment of it) or ``code`` (``blinks`` times, then a pause); ``period_s`` is the length
    of one pulse, blink or flash with the dark after it.
    """

    name: str
    colour: tuple[float, float, float]
    motion: str
    period_s: float = 0.0
    blinks: int = 0

    def level(self, t: float) -> float:
        """Brightness, 0 to 1, ``t`` seconds after it was shown.

        Whatever is not dark begins bright, so that a change is seen at once.
        """
        if not self.moves:
            return 1.0 if self.motion == "steady" else 0.0
        if self.motion == "code":
            t %= self.blinks * self.period_s + _CODE_PAUSE_S
            if t >= self.blinks * self.period_s:
                return 0.0
        t %= self.period_s
        if self.motion == "pulse":
            wave = (1 + math.cos(2 * math.pi * t / self.period_s)) / 2
            return _DIMMEST + (1 - _DIMMEST) * wave
        return 1.0 if t < (_FLASH_S if self.motion == "flash" else self.period_s / 2) else 0.0

    @property
    def moves(self) -> bool:
        """Whether its brightness changes by itself."""
        return self.motion not in ("off", "steady")


_DIMMEST = 0.1
"""A pulse never goes out: it would look like blinking."""
_FLASH_S = 0.1
_CODE_PAUSE_S = 1.5
"""Long enough beside a blink of half a second to count afresh."""

_PATTERNS: dict[Place, Pattern] = {
    Place.PREPARING: Pattern("preparing", (0.3, 0.3, 0.3), "pulse", 1.0),
    Place.IDLE: Pattern("idle", (0.0, 0.0, 0.0), "off"),
    Place.LISTENING: Pattern("listening", (0.0, 0.4, 1.0), "steady"),
    Place.WAITING_FOR_LLM: Pattern("thinking", (0.6, 0.2, 1.0), "pulse", 0.8),
    Place.TOOL_EXECUTING: Pattern("working", (0.6, 0.2, 1.0), "blink", 0.5),
    Place.WAITING_FOR_TASK: Pattern("working", (0.6, 0.2, 1.0), "pulse", 2.0),
    Place.PLAYING: Pattern("speaking", (0.0, 1.0, 0.3), "steady"),
    Place.HELD: Pattern("held", (0.0, 1.0, 0.3), "blink", 0.2),
    Place.INTERRUPTED: Pattern("interrupted", (1.0, 0.6, 0.0), "steady"),
    Place.SUSPENDED: Pattern("muted", (1.0, 0.0, 0.0), "steady"),
    Place.RECOVERING: Pattern("recovering", (1.0, 0.6, 0.0), "blink", 1.0),
    Place.FAULTED: Pattern("faulted", (1.0, 0.0, 0.0), "code", 0.5),
    Place.TERMINATING: Pattern("off", (0.0, 0.0, 0.0), "off"),
}

BLINKS = {
    FaultKind.UNKNOWN: 1,
    FaultKind.DEVICE: 2,
    FaultKind.ENGINE: 3,
    FaultKind.LLM: 4,
    FaultKind.TTS: 5,
    FaultKind.TOOL: 6,
}
"""How often the lamp blinks in a row, to say what has failed."""

_PLAIN: dict[str, tuple[str, float]] = {"speaking": ("pulse", 1.5), "muted": ("flash", 2.0)}
"""Motions and periods for a lamp of one colour, where those above differ in the colour alone."""


def pattern(place: Place, fault: FaultKind = FaultKind.UNKNOWN) -> Pattern:
    """The light that shows ``place``; in FAULTED it tells what has failed."""
    light = _PATTERNS[place]
    return replace(light, blinks=BLINKS[fault]) if light.motion == "code" else light


def plain(light: Pattern) -> Pattern:
    """The same for a lamp of one colour: listening, speaking and muted must not look alike."""
    motion, period_s = _PLAIN.get(light.name, (light.motion, light.period_s))
    return replace(light, motion=motion, period_s=period_s)
