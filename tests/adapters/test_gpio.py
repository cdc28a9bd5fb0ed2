"""Light and button on gpiozero's pins in memory, and what is said when there are none."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from gpiozero.pins.mock import MockFactory, MockPWMPin

from edgevoice.adapters import pins as chips
from edgevoice.adapters import pixels
from edgevoice.adapters.button import GpioButton
from edgevoice.adapters.gpio import LampSpec, NullButton, NullLamps, PinLight, open_gpio
from edgevoice.adapters.light import Animated
from edgevoice.core.lamps import pattern
from edgevoice.core.table import Place
from edgevoice.errors import DeviceError

RED, GREEN, BLUE = 17, 27, 22
BUTTON = 23
RGB = LampSpec(pins=(RED, GREEN, BLUE))


@pytest.fixture
def pins() -> Iterator[MockFactory]:
    factory = MockFactory(pin_class=MockPWMPin)
    yield factory
    factory.reset()


class TestPinLight:
    def test_three_pins_have_a_colour(self, pins: MockFactory) -> None:
        light = PinLight((RED, GREEN, BLUE), pins)
        light.paint((0.25, 0.5, 1.0))
        assert [pins.pin(n).state for n in (RED, GREEN, BLUE)] == [0.25, 0.5, 1.0]
        light.close()
        assert [pins.pin(n).state for n in (RED, GREEN, BLUE)] == [0, 0, 0]

    def test_one_pin_has_a_brightness(self, pins: MockFactory) -> None:
        light = PinLight((RED,), pins)
        light.paint((0.1, 0.4, 0.2))
        assert pins.pin(RED).state == 0.4
        light.close()
        light.close()

    def test_a_common_anode(self, pins: MockFactory) -> None:
        light = PinLight((RED,), pins, active_high=False)
        assert pins.pin(RED).state == 1
        light.paint((1, 0, 0))
        assert pins.pin(RED).state == 0


def mocked(monkeypatch: pytest.MonkeyPatch) -> MockFactory:
    """Pins in memory, as the environment asks for them."""
    monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "mock")
    factory = MockFactory(pin_class=MockPWMPin)
    monkeypatch.setattr(chips, "_mock_factory", lambda: factory)
    return factory


def wait_for(true: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.002)


class TestOpening:
    def test_mock_pins_by_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "mock")
        opened = open_gpio(RGB, BUTTON)
        assert isinstance(opened.lamps, Animated)
        assert isinstance(opened.button, GpioButton)
        assert opened.reason == ""
        opened.lamps.close()
        opened.button.close()

    def test_a_state_is_seen_on_the_pins(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pins = mocked(monkeypatch)
        lamps = open_gpio(RGB).lamps
        for place, lit in ((Place.LISTENING, (0, 0.4, 1)), (Place.SUSPENDED, (1, 0, 0))):
            lamps.show(pattern(place))
            wait_for(lambda lit=lit: tuple(pins.pin(n).state for n in (RED, GREEN, BLUE)) == lit)
        lamps.close()

    def test_one_lamp_tells_muted_from_listening(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pins = mocked(monkeypatch)
        lamps = open_gpio(LampSpec(pins=(RED,))).lamps
        lamps.show(pattern(Place.LISTENING))
        wait_for(lambda: pins.pin(RED).state == 1)
        lamps.show(pattern(Place.SUSPENDED))
        wait_for(lambda: pins.pin(RED).state == 0)
        lamps.close()

    def test_it_can_be_dimmed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pins = mocked(monkeypatch)
        lamps = open_gpio(LampSpec(pins=(RED,), brightness=0.5)).lamps
        lamps.show(pattern(Place.LISTENING))
        wait_for(lambda: pins.pin(RED).state == 0.5)
        lamps.close()

    def test_pixels_and_the_pin_that_switches_them_on(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pins, written = mocked(monkeypatch), list[bytes]()

        class Spi:
            def __init__(self, device: str, hertz: int) -> None:
                assert (device, hertz) == ("0.1", 4_000_000)

            def write(self, data: bytes) -> None:
                written.append(data)

            def close(self) -> None:
                written.append(b"closed")

        monkeypatch.setattr("edgevoice.adapters.gpio.LgSpi", Spi)
        lamps = open_gpio(LampSpec("apa102", count=12, spi="0.1", power_pin=5)).lamps
        assert pins.pin(5).state == 1
        lamps.show(pattern(Place.SUSPENDED))
        wait_for(lambda: pixels.apa102([(1.0, 0.0, 0.0)] * 12) in written)
        lamps.close()
        assert written[-2:] == [pixels.apa102([(0.0, 0.0, 0.0)] * 12), b"closed"]

    def test_only_what_is_configured(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "mock")
        assert isinstance(open_gpio(RGB).button, NullButton)
        assert isinstance(open_gpio(button=BUTTON).lamps, NullLamps)
        assert open_gpio().reason == "no pins are configured"

    @pytest.mark.parametrize(
        ("lamp", "button", "message"),
        [
            ((99,), None, "99 is not a valid pin"),
            ((RED,), RED, "already in use"),
            ((RED, GREEN), None, "2 LED pins; give one, or three"),
        ],
    )
    def test_pins_that_cannot_be(
        self, monkeypatch: pytest.MonkeyPatch, lamp: Any, button: int | None, message: str
    ) -> None:
        monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "mock")
        with pytest.raises(DeviceError, match=message) as caught:
            open_gpio(LampSpec(pins=lamp), button)
        assert "\n" not in str(caught.value)

    def test_without_pixels_the_button_works_all_the_same(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "mock")
        monkeypatch.setattr(pixels, "DEVICES", tmp_path)
        opened = open_gpio(LampSpec("ws2812", count=3), BUTTON)
        assert opened.reason == (
            f"there is no {tmp_path}/spidev0.0 for the pixels; switch SPI on in raspi-config"
        )
        assert isinstance(opened.lamps, NullLamps)
        assert isinstance(opened.button, GpioButton)
        opened.button.close()

    def test_no_chip(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr(chips, "CHIPS", str(tmp_path / "gpiochip*"))
        opened = open_gpio(RGB, BUTTON)
        assert opened.reason.startswith("there is no GPIO chip")
        opened.lamps.show(pattern(Place.LISTENING))
        opened.button.start(lambda: None, lambda: None)
        opened.lamps.close()
        opened.button.close()

    def test_a_chip_that_is_named(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (tmp_path / "gpiochip0").touch()
        monkeypatch.setattr(chips, "CHIPS", str(tmp_path / "gpiochip*"))
        assert open_gpio(button=BUTTON, chip=4).reason == (
            f"there is no GPIO chip ({tmp_path}/gpiochip4)"
        )

    @pytest.mark.parametrize(
        ("labels", "number"),
        [
            ({0: "pinctrl-bcm2711", 1: "raspberrypi,firmware-gpio"}, 0),
            ({0: "gpio-brcmstb", 4: "pinctrl-rp1"}, 4),
            ({0: "gpio-sim.0"}, None),
        ],
    )
    def test_the_chip_of_the_header_is_known_by_its_label(
        self, monkeypatch: pytest.MonkeyPatch, labels: dict[int, str], number: int | None
    ) -> None:
        lgpio = SimpleNamespace(
            error=OSError,
            gpiochip_open=lambda number: number,
            gpiochip_close=lambda handle: None,
            gpio_get_chip_info=lambda handle: [0, 28, f"gpiochip{handle}", labels[handle]],
        )
        monkeypatch.setattr(chips.lg, "library", lambda: lgpio)
        assert chips._header([f"/dev/gpiochip{n}" for n in labels]) == number

    def test_no_permission(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (tmp_path / "gpiochip0").touch()
        monkeypatch.setattr(chips, "CHIPS", str(tmp_path / "gpiochip*"))
        monkeypatch.setattr(os, "access", lambda *_: False)
        assert open_gpio(button=BUTTON).reason.endswith("may not be opened; join the group gpio")

    def test_a_chip_that_is_no_raspberry_pi_and_a_directory_left_clean(
        self, tmp_path: Path
    ) -> None:
        # In a process of its own, because lgpio makes its FIFO when it is imported.
        (tmp_path / "gpiochip0").touch()
        program = (
            "from edgevoice.adapters import gpio, pins\n"
            f"pins.CHIPS = {str(tmp_path / 'gpiochip*')!r}\n"
            "print(gpio.open_gpio(button=23).reason)"
        )
        environment = os.environ | {"PYTHONPATH": os.getcwd()}
        environment.pop("LG_WD", None)
        work = tmp_path / "work"
        work.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=work,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.startswith("the GPIO chip cannot be used: ")
        assert done.stdout.count("\n") == 1
        assert list(work.iterdir()) == []
