"""Lights and the button on GPIO pins, through gpiozero.

Threads: an animated light runs on a thread of gpiozero's, the button's edges
come on one of lgpio's, and what it reports is told on a timer's thread.

Without a chip, off a Raspberry Pi or without permission the house runs on:
`open_gpio` then gives parts that do nothing, and the reason for the log.
``GPIOZERO_PIN_FACTORY=mock`` gives pins in memory, as gpiozero documents it.
"""

from __future__ import annotations

import glob
import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from edgevoice.core.lamps import Pattern
from edgevoice.errors import DeviceError
from edgevoice.ports import Button, Lamps

SETTLE_S = 0.015
"""How long the contact must rest before it counts; cheap buttons bounce for 5 to 10 ms."""

CHIPS = "/dev/gpiochip*"


class NullLamps:
    """No light."""

    def show(self, pattern: Pattern) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class NullButton:
    """No button."""

    def start(self, pressed: Callable[[], None], released: Callable[[], None]) -> None:
        """Never call any."""

    def close(self) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class Gpio:
    """What `open_gpio` found; ``reason`` says in one line why there is nothing."""

    lamps: Lamps
    button: Button
    reason: str = ""


def open_gpio(
    *, lamps: Sequence[int] = (), button: int | None = None, active_high: bool = True
) -> Gpio:
    """Open the light and the button on these BCM pins.

    ``lamps`` are the pin of a single LED or the red, green and blue pin of a coloured one,
    whose current flows when the pin is high, or low with ``active_high`` false.  ``button`` is
    a pin that the button connects to ground.  Raises `DeviceError` for pins that cannot be.
    """
    if not lamps and button is None:
        return _nothing("no pins are configured")
    if len(lamps) not in (0, 1, 3):
        raise DeviceError(f"{len(lamps)} LED pins", "give one, or three for red, green and blue")
    factory = _factory()
    if isinstance(factory, str):
        return _nothing(factory)
    try:
        return Gpio(
            GpioLamps(lamps, factory, active_high=active_high) if lamps else NullLamps(),
            NullButton() if button is None else GpioButton(button, factory),
        )
    except Exception as error:
        factory.close()
        return _unusable(error)


class GpioLamps:
    """The `edgevoice.ports.Lamps` on one LED or a coloured one, dimmed by PWM."""

    def __init__(self, pins: Sequence[int], factory: Any, *, active_high: bool = True) -> None:
        """Light on ``pins``: one, or red, green and blue."""
        from gpiozero import PWMLED, RGBLED

        kind = PWMLED if len(pins) == 1 else RGBLED
        self._led = kind(*pins, active_high=active_high, pin_factory=factory)
        self._coloured = len(pins) == 3

    def show(self, pattern: Pattern) -> None:
        """Change to ``pattern`` now; raises ValueError for a motion that it does not know."""
        half = pattern.period_s / 2
        colour = {"on_color": pattern.colour} if self._coloured else {}
        match pattern.motion:
            case "off":
                self._led.off()
            case "steady":
                # One LED has no colour, so the strongest part of it is the brightness.
                self._led.value = pattern.colour if self._coloured else max(pattern.colour)
            case "pulse":
                self._led.pulse(fade_in_time=half, fade_out_time=half, **colour)
            case "blink":
                self._led.blink(on_time=half, off_time=half, **colour)
            case unknown:
                raise ValueError(f"a light cannot {unknown}")

    def close(self) -> None:
        """Light out."""
        self._led.close()


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


def _nothing(reason: str) -> Gpio:
    return Gpio(NullLamps(), NullButton(), reason)


def _factory() -> Any:
    """A pin factory, or the reason why there is none."""
    if os.environ.get("GPIOZERO_PIN_FACTORY") == "mock":
        from gpiozero.pins.mock import MockFactory, MockPWMPin

        return MockFactory(pin_class=MockPWMPin)
    chips = glob.glob(CHIPS)
    if not chips:
        return f"there is no GPIO chip ({CHIPS})"
    if not any(os.access(chip, os.R_OK | os.W_OK) for chip in chips):
        return f"{chips[0]} may not be opened; join the group gpio"
    return _lgpio_factory()


def _lgpio_factory() -> Any:
    _give_lgpio_a_home()
    try:
        from gpiozero.pins.lgpio import LGPIOFactory

        return LGPIOFactory()
    except Exception as error:  # lgpio.error is known only once lgpio is imported
        return f"the GPIO chip cannot be used: {error}"


_home: list[tempfile.TemporaryDirectory[str]] = []
"""Of lgpio; removed when the process ends."""


def _give_lgpio_a_home() -> None:
    """Keep lgpio from making its FIFO in the working directory, which may be read-only."""
    if "LG_WD" not in os.environ:
        _home.append(tempfile.TemporaryDirectory(prefix="edgevoice-lgpio-"))
        os.environ["LG_WD"] = _home[-1].name


def _unusable(error: Exception) -> Gpio:
    """Raise what the configuration is to blame for; else there are no pins today."""
    from gpiozero import GPIOPinInUse, PinInvalidPin

    if isinstance(error, (PinInvalidPin, GPIOPinInUse)):
        raise DeviceError(str(error), "correct the pin numbers (BCM) in the configuration")
    return _nothing(f"the pins cannot be used: {error}")
