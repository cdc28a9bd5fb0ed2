"""Lights and the button on the pins of a Raspberry Pi, through gpiozero and lgpio.

Without a chip, off a Raspberry Pi or without permission the house runs on:
`open_gpio` then gives parts that do nothing, and the reason for the log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from edgevoice.adapters.button import GpioButton
from edgevoice.adapters.light import Animated, Colour, Light
from edgevoice.adapters.pins import Pins
from edgevoice.adapters.pixels import LgSpi, Pixels, hertz
from edgevoice.core.lamps import Pattern, plain
from edgevoice.errors import AbsentError, DeviceError
from edgevoice.ports import Button, Lamps

T = TypeVar("T")


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
class LampSpec:
    """A light: ``kind`` is ``pins`` or that of pixels, ``apa102`` or ``ws2812``.

    ``pins`` (BCM) are that of a single LED or the red, green and blue one of a coloured one,
    whose current flows when the pin is high, or low with ``active_high`` false.  Pixels are
    ``count`` on the SPI device ``spi`` (bus and chip select), and where ``power_pin`` is
    given that pin switches them on.  ``brightness``, 0 to 1, dims all.
    """

    kind: str = "pins"
    pins: Sequence[int] = ()
    active_high: bool = True
    count: int = 0
    spi: str = "0.0"
    power_pin: int | None = None
    brightness: float = 1.0


@dataclass(frozen=True, slots=True)
class Gpio:
    """What `open_gpio` found; ``reason`` says in one line why something is missing."""

    lamps: Lamps
    button: Button
    reason: str = ""


def open_gpio(
    lamp: LampSpec | None = None, button: int | None = None, chip: int | None = None
) -> Gpio:
    """Open the light, and the button between a pin (BCM) and ground.

    ``chip`` is the number of the GPIO chip; None finds the header's.  Raises `DeviceError`
    for pins that cannot be; light and button do not need one another.
    """
    if lamp is None and button is None:
        return Gpio(NullLamps(), NullButton(), "no pins are configured")
    pins = Pins(chip)
    try:
        lamps, dark = _built(lambda: _lamps(lamp, pins))
        contact, deaf = _built(lambda: _button(button, pins))
    except DeviceError:
        pins.close()
        raise
    reasons = dict.fromkeys(filter(None, (dark, deaf)))
    return Gpio(lamps or NullLamps(), contact or NullButton(), "; ".join(reasons))


def _button(pin: int | None, pins: Pins) -> Button:
    return NullButton() if pin is None else GpioButton(pin, pins.factory)


def _lamps(spec: LampSpec | None, pins: Pins) -> Lamps:
    if spec is None:
        return NullLamps()
    if spec.kind == "pins":
        light = PinLight(spec.pins, pins.factory, active_high=spec.active_high)
        return Animated(light, _as_it_is if light.coloured else plain, spec.brightness)
    pixels: Light = Pixels(spec.kind, spec.count, LgSpi(spec.spi, hertz(spec.kind)))
    if spec.power_pin is not None:
        pixels = Powered(pixels, spec.power_pin, pins.factory)
    return Animated(pixels, brightness=spec.brightness)


def _as_it_is(pattern: Pattern) -> Pattern:
    return pattern


class PinLight:
    """The `edgevoice.adapters.light.Light` of one LED or a coloured one, dimmed by PWM."""

    def __init__(self, pins: Sequence[int], factory: Any, *, active_high: bool = True) -> None:
        """Light on ``pins``: one, or red, green and blue."""
        from gpiozero import PWMLED, RGBLED

        if len(pins) not in (1, 3):
            raise DeviceError(f"{len(pins)} LED pins", "give one, or three for red, green and blue")
        self.coloured = len(pins) == 3
        kind = RGBLED if self.coloured else PWMLED
        self._led = kind(*pins, active_high=active_high, pin_factory=factory)

    def paint(self, colour: Colour) -> None:
        """Show it; one LED has no colour, so the strongest part of it is the brightness."""
        self._led.value = colour if self.coloured else max(colour)

    def close(self) -> None:
        """Dark, and the pins free."""
        self._led.close()


class Powered:
    """A light with a pin that switches its current on."""

    def __init__(self, light: Light, pin: int, factory: Any) -> None:
        """Switch it on."""
        from gpiozero import DigitalOutputDevice

        self._light = light
        self._power = DigitalOutputDevice(pin, initial_value=True, pin_factory=factory)
        self.paint = light.paint

    def close(self) -> None:
        """Dark, and off."""
        self._light.close()
        self._power.close()


def _built(build: Callable[[], T]) -> tuple[T | None, str]:
    """What is built; or None, and why it cannot be had today.

    Raises `DeviceError` for what the configuration is to blame for.
    """
    try:
        return build(), ""
    except AbsentError as error:
        return None, str(error)
    except DeviceError:
        raise
    except Exception as error:  # gpiozero's and lgpio's are known only once they are imported
        return None, _why_not(error)


def _why_not(error: Exception) -> str:
    from gpiozero import GPIOPinInUse, PinInvalidPin

    if isinstance(error, (PinInvalidPin, GPIOPinInUse)):
        raise DeviceError(
            str(error), "correct the pin numbers (BCM) in the configuration"
        ) from error
    return f"the pins cannot be used: {error}"
