"""The bytes that pixels want, checked against what a pixel would make of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgevoice.adapters import pixels
from edgevoice.adapters.pixels import LgSpi, apa102, ws2812
from edgevoice.errors import AbsentError

RED = (1.0, 0.0, 0.0)
MIXED = (0.2, 0.4, 0.6)


def test_apa102_data_sheet_example() -> None:
    assert apa102([RED]).hex(" ") == "00 00 00 00 ff 00 00 ff 00 00 00 00"


@pytest.mark.parametrize("count", [1, 3, 12, 64, 255])
def test_apa102_clocks_the_last_pixel_through(count: int) -> None:
    frame = apa102([MIXED] * count)
    assert frame[:4] == bytes(4)
    assert frame[4 : 4 + 4 * count] == bytes([0xFF, 153, 102, 51]) * count
    tail = frame[4 + 4 * count :]
    assert not any(tail)
    assert len(tail) * 8 >= count / 2


def decoded(frame: bytes) -> list[int]:
    """What WS2812 pixels read: a pulse of one third is a zero, of two thirds a one."""
    line = "".join(f"{byte:08b}" for byte in frame).strip("0")
    line += "0" * (-len(line) % 3)
    symbols = {"100": "0", "110": "1"}
    bits = "".join(symbols[line[i : i + 3]] for i in range(0, len(line), 3))
    return [int(bits[i : i + 8], 2) for i in range(0, len(bits), 8)]


def test_ws2812_is_read_green_first() -> None:
    assert decoded(ws2812([RED])) == [0, 255, 0]
    assert decoded(ws2812([MIXED] * 7)) == [102, 51, 153] * 7


def test_ws2812_is_silent_before_and_after_for_long_enough_to_latch() -> None:
    frame = ws2812([RED] * 3)
    silence = 280e-6 * pixels.hertz("ws2812") / 8
    assert not any(frame[: int(silence)])
    assert not any(frame[-int(silence) :])


def test_without_spi(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pixels, "DEVICES", tmp_path)
    with pytest.raises(AbsentError, match="switch SPI on in raspi-config"):
        LgSpi("0.1", 1_000_000)


def test_spi_that_cannot_be_opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # lgpio is real: it finds no such device of the kernel's.
    monkeypatch.setattr(pixels, "DEVICES", tmp_path)
    (tmp_path / "spidev31.9").touch()
    with pytest.raises(AbsentError, match=r"cannot be opened .*; join the group spi"):
        LgSpi("31.9", 1_000_000)
