"""The real parts as the settings want them, each made when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edgevoice.adapters.gpio import Gpio
    from edgevoice.ports import Microphone, Resampler, Speaker
    from edgevoice.settings.schema import Settings
    from edgevoice.system.doctor import Hardware


def microphone(settings: Settings) -> Microphone:
    """The configured one, not open yet."""
    from edgevoice.adapters.alsa import AlsaMicrophone

    audio = settings.audio
    return AlsaMicrophone(audio.input, audio.input_rate, audio.period_ms)


def speaker(settings: Settings) -> Speaker:
    """The configured one, not open yet."""
    from edgevoice.adapters.alsa import AlsaSpeaker

    audio = settings.audio
    return AlsaSpeaker(audio.output, audio.output_rate, audio.period_ms)


def resampling(rate_in: int, rate_out: int) -> Resampler:
    """A converter for live sound."""
    from edgevoice.adapters.resample import SoxrResampler

    return SoxrResampler.live(rate_in, rate_out)


def pins(settings: Settings) -> Gpio:
    """Button and lamp, or the reason why there are none."""
    from edgevoice.adapters.gpio import open_gpio

    gpio = settings.gpio
    return open_gpio(lamps=gpio.led_pins, button=gpio.button_pin, active_high=gpio.led_active_high)


def why_no_pins(settings: Settings) -> str:
    """Open them for a moment; why that is not possible, empty when it is."""
    found = pins(settings)
    found.lamps.close()
    found.button.close()
    return found.reason


def hardware(settings: Settings) -> Hardware:
    """All that the doctor looks at."""
    from edgevoice.engines import Workshop
    from edgevoice.system.doctor import Hardware

    return Hardware(
        microphone=lambda: microphone(settings),
        speaker=lambda: speaker(settings),
        canceller=Workshop(settings).canceller,
        resampling=resampling,
        why_no_pins=lambda: why_no_pins(settings),
    )
