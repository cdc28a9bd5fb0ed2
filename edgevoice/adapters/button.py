"""The button on a pin, through gpiozero.

Threads: edges come on one of lgpio's, and what is reported is told on a timer's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol

SETTLE_S = 0.015
"""How long the contact must rest before it counts; cheap buttons bounce for 5 to 10 ms."""


class _Timer(Protocol):
    def start(self) -> None: ...
    def cancel(self) -> None: ...


class GpioButton:
    """The `edgevoice.ports.Button`: debounced here, because not every pin factory does it.

    Each edge starts the settling time anew; when the contact has rested for that long, its
    level is read and told if it has changed.  So a bounce, and a spike picked up by a long
    wire, tell nothing, and a press is told `SETTLE_S` after its last bounce.
    """

    def __init__(
        self,
        pin: int,
        factory: Any,
        timer: Callable[[float, Callable[[], None]], _Timer] = threading.Timer,
    ) -> None:
        """Button between ``pin`` and ground, with the pull-up inside the chip."""
        from gpiozero import DigitalInputDevice  # its Button waits up to 1 s when it is closed

        self._contact = DigitalInputDevice(pin, pull_up=True, pin_factory=factory)
        self._new_timer = timer
        self._timer: _Timer | None = None
        self._guard = threading.Lock()
        """Guards the timer, what was told last, and whether it is closed."""
        self._told = False
        self._closed = False

    def start(self, pressed: Callable[[], None], released: Callable[[], None]) -> None:
        """Call these from now on; a button that is held down already has not been pressed."""
        self._tell = {True: pressed, False: released}
        self._told = self._contact.is_active
        self._contact.when_activated = self._contact.when_deactivated = self._edge

    def close(self) -> None:
        """Call nothing any more."""
        with self._guard:
            self._closed = True
            if self._timer:
                self._timer.cancel()
        self._contact.close()

    def _edge(self) -> None:
        with self._guard:
            if self._closed:
                return
            if self._timer:
                self._timer.cancel()
            self._timer = self._new_timer(SETTLE_S, self._settled)
            self._timer.start()

    def _settled(self) -> None:
        with self._guard:
            if self._closed or self._contact.is_active == self._told:
                return
            self._told = not self._told
            told = self._told
        self._tell[told]()
