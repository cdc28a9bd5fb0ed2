"""The sound card and the pins that the settings name, not opened before they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edgevoice.adapters.alsa import AlsaMicrophone, AlsaSpeaker
    from edgevoice.adapters.gpio import Gpio, LampSpec
    from edgevoice.settings.schema import Settings


def sound(settings: Settings) -> tuple[AlsaMicrophone, AlsaSpeaker]:
    """Microphone and loudspeaker, which may be one line."""
    from edgevoice.adapters.alsa import AlsaMicrophone, AlsaSpeaker, Lines

    audio = settings.audio
    lines = Lines(audio.period_ms, audio.duplex)
    return (
        AlsaMicrophone(audio.input, audio.input_rate, lines, audio.input_channel),
        AlsaSpeaker(audio.output, audio.output_rate, lines),
    )


def pins(settings: Settings) -> Gpio:
    """Lamp and button, or the reason why there are none.

    Raises `edgevoice.errors.DeviceError` for pins that cannot be.
    """
    from edgevoice.adapters.gpio import open_gpio

    gpio = settings.gpio
    if gpio.enabled == "off":
        return open_gpio()
    return open_gpio(_lamp(settings), gpio.button_pin, gpio.chip if gpio.chip >= 0 else None)


def _lamp(settings: Settings) -> LampSpec | None:
    from edgevoice.adapters.gpio import LampSpec

    gpio = settings.gpio
    if gpio.led_kind == "none" or (gpio.led_kind == "pins" and not gpio.led_pins):
        return None
    return LampSpec(
        kind=gpio.led_kind,
        pins=gpio.led_pins,
        active_high=gpio.led_active_high,
        count=gpio.led_count,
        spi=gpio.led_spi,
        power_pin=gpio.led_power_pin if gpio.led_power_pin >= 0 else None,
        brightness=gpio.led_brightness / 100,
    )
