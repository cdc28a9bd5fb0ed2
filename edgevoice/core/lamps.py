"""Which light belongs to which state."""

from __future__ import annotations

from dataclasses import dataclass

from edgevoice.core.table import Place


@dataclass(frozen=True, slots=True)
class Pattern:
    """A light: colour as red, green, blue (0 to 1 each) and how it moves.

    ``motion`` is ``off``, ``steady``, ``pulse`` or ``blink``; ``period_s`` is
    the length of one pulse or of one on-off pair.
    """

    name: str
    colour: tuple[float, float, float]
    motion: str
    period_s: float = 0.0


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
    Place.FAULTED: Pattern("faulted", (1.0, 0.0, 0.0), "blink", 0.4),
    Place.TERMINATING: Pattern("off", (0.0, 0.0, 0.0), "off"),
}


def pattern(place: Place) -> Pattern:
    """The light that shows ``place``."""
    return _PATTERNS[place]
