"""What the doctor looks at, made of the real parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edgevoice.ports import Resampler
    from edgevoice.settings.schema import Settings
    from edgevoice.system.doctor import Hardware


def resampling(rate_in: int, rate_out: int) -> Resampler:
    """A converter for live sound."""
    from edgevoice.adapters.resample import SoxrResampler

    return SoxrResampler.live(rate_in, rate_out)


def why_no_pins(settings: Settings) -> str:
    """Open them for a moment; why that is not possible, empty when it is."""
    from edgevoice import devices

    found = devices.pins(settings)
    found.lamps.close()
    found.button.close()
    return found.reason


def hardware(settings: Settings) -> Hardware:
    """All of it, nothing opened yet."""
    from edgevoice import devices
    from edgevoice.engines import Workshop
    from edgevoice.system.doctor import Hardware

    return Hardware(
        sound=lambda: devices.sound(settings),
        echo=Workshop(settings).echo,
        resampling=resampling,
        why_no_pins=lambda: why_no_pins(settings),
    )
