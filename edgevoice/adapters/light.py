"""A light that moves: one thread paints the patterns on whatever can be coloured.

Thread ``lamps``.  Commanded by `Animated.show`, which never waits; owns the
light and alone paints on it, at once when the pattern changes and then 25
times a second as long as the pattern moves.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Protocol, TypeAlias

from edgevoice.core.lamps import Pattern

log = logging.getLogger(__name__)

FRAME_S = 0.04

Colour: TypeAlias = tuple[float, float, float]
"""Red, green and blue, 0 to 1 each."""

_DARK: Colour = (0.0, 0.0, 0.0)


class Light(Protocol):
    """Something that can have a colour."""

    def paint(self, colour: Colour) -> None:
        """Have this colour from now on; may wait for the hardware."""

    def close(self) -> None:
        """Dark, and its pins free."""


class Animated:
    """The `edgevoice.ports.Lamps` on a light."""

    def __init__(
        self,
        light: Light,
        adapt: Callable[[Pattern], Pattern] = lambda pattern: pattern,
        brightness: float = 1.0,
    ) -> None:
        """``adapt`` changes a pattern to suit the light; ``brightness`` (0 to 1) dims all."""
        self._light = light
        self._adapt = adapt
        self._brightness = brightness
        self._pattern: Pattern | None = None
        self._closing = False
        self._changed = threading.Condition()
        """Guards the pattern and whether it is to close."""
        self._thread = threading.Thread(target=self._run, name="lamps", daemon=True)
        self._thread.start()

    def show(self, pattern: Pattern) -> None:
        """Change to ``pattern`` now; returns at once."""
        with self._changed:
            self._pattern = self._adapt(pattern)
            self._changed.notify()

    def close(self) -> None:
        """Light out."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(1.0)
        self._light.close()

    def _run(self) -> None:
        shown: Pattern | None = None
        painted: Colour | None = None
        since = 0.0
        try:
            while (pattern := self._next(shown)) is not None:
                now = time.monotonic()
                if pattern is not shown:
                    shown, since = pattern, now
                colour = self._colour(pattern, now - since)
                if colour != painted:
                    self._light.paint(colour)
                    painted = colour
        except Exception as error:  # a light is no reason to fall silent
            log.error("the light has failed and stays as it is: %s", error)

    def _next(self, shown: Pattern | None) -> Pattern | None:
        """Wait for another pattern, or for the next frame of this one; None at the end."""
        with self._changed:
            still = shown is None or not shown.moves
            self._changed.wait_for(
                lambda: self._closing or self._pattern is not shown, None if still else FRAME_S
            )
            return None if self._closing else self._pattern

    def _colour(self, pattern: Pattern, t: float) -> Colour:
        level = pattern.level(t) * self._brightness
        if not level:
            return _DARK
        red, green, blue = pattern.colour
        return red * level, green * level, blue * level
