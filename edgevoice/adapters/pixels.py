"""APA102 and WS2812 pixels on SPI, as on the ReSpeaker HATs: all of them have one colour.

The bytes are what the data sheets ask for; lgpio, which is there for the pins
anyhow, writes them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import numpy as np

from edgevoice.adapters import lg
from edgevoice.adapters.light import Colour
from edgevoice.errors import AbsentError

DEVICES = Path("/dev")

_APA102_HZ = 4_000_000
_WS2812_HZ = 2_400_000
"""Three bits of SPI to one of the pixel: 100 is a zero, 110 a one, each 417 ns long."""
_LATCH = bytes(90)
"""300 µs of silence at that rate end a WS2812 frame; newer ones want 280."""


class Spi(Protocol):
    """An open SPI device."""

    def write(self, data: bytes) -> None:
        """Clock ``data`` out; returns when that is done."""

    def close(self) -> None:
        """Close it."""


class LgSpi:
    """An SPI device through lgpio."""

    def __init__(self, device: str, hertz: int) -> None:
        """``device`` is bus and chip select, such as ``0.1``; raises `AbsentError`."""
        path = DEVICES / f"spidev{device}"
        if not path.exists():
            raise AbsentError(f"there is no {path} for the pixels", "switch SPI on in raspi-config")
        self._lgpio = lg.library()
        bus, _, select = device.partition(".")
        try:
            self._handle = self._lgpio.spi_open(int(bus), int(select), hertz, 0)
        except self._lgpio.error as error:
            raise AbsentError(f"{path} cannot be opened ({error})", "join the group spi") from error

    def write(self, data: bytes) -> None:
        """Clock ``data`` out."""
        self._lgpio.spi_write(self._handle, data)

    def close(self) -> None:
        """Close it."""
        self._lgpio.spi_close(self._handle)


class Pixels:
    """The `edgevoice.adapters.light.Light` of a strip or ring."""

    def __init__(self, kind: str, count: int, spi: Spi) -> None:
        """``kind`` is ``apa102`` or ``ws2812``."""
        self._frame = {"apa102": apa102, "ws2812": ws2812}[kind]
        self._count = count
        self._spi = spi

    def paint(self, colour: Colour) -> None:
        """Give all of them this colour."""
        self._spi.write(self._frame([colour] * self._count))

    def close(self) -> None:
        """Dark."""
        self.paint((0.0, 0.0, 0.0))
        self._spi.close()


def hertz(kind: str) -> int:
    """The SPI clock that pixels of this kind want."""
    return _APA102_HZ if kind == "apa102" else _WS2812_HZ


def apa102(colours: list[Colour]) -> bytes:
    """The bytes that give APA102 pixels (also SK9822) these colours.

    Four bytes of zero, four for each pixel (brightness, blue, green, red), and then half a
    clock for each pixel, because each passes the data on half a clock late.
    """
    pixels = b"".join(bytes([0xFF, *reversed(_bytes(colour))]) for colour in colours)
    return bytes(4) + pixels + bytes(4 + len(colours) // 16)


def ws2812(colours: list[Colour]) -> bytes:
    """The bytes that give WS2812 pixels these colours, green first, at 2.4 MHz."""
    ordered = [(green, red, blue) for red, green, blue in map(_bytes, colours)]
    bits = np.unpackbits(np.array(ordered, np.uint8).ravel())
    waves = np.stack([np.ones_like(bits), bits, np.zeros_like(bits)], axis=1)
    return _LATCH + np.packbits(waves.ravel()).tobytes() + _LATCH


def _bytes(colour: Colour) -> list[int]:
    return [round(255 * share) for share in colour]
