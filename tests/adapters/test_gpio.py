from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from gpiozero.pins.mock import MockFactory, MockPWMPin

from edgevoice.adapters import gpio
from edgevoice.adapters.gpio import GpioButton, GpioLamps, NullButton, NullLamps, open_gpio
from edgevoice.core.lamps import Pattern, pattern
from edgevoice.core.table import Place
from edgevoice.errors import DeviceError

RED, GREEN, BLUE = 17, 27, 22
BUTTON = 23


@pytest.fixture
def pins() -> Iterator[MockFactory]:
    factory = MockFactory(pin_class=MockPWMPin)
    yield factory
    factory.reset()


def colour(pins: MockFactory) -> tuple[float, ...]:
    return tuple(pins.pin(number).state for number in (RED, GREEN, BLUE))


def seen(pins: MockFactory, number: int, wanted: Callable[[list[float]], bool]) -> list[float]:
    """The states of a pin once they are what was ``wanted``."""
    deadline = time.monotonic() + 20
    while not wanted(states := [state for _, state in pins.pin(number).states]):
        assert time.monotonic() < deadline, states
        time.sleep(0.005)
    return states


class TestLamps:
    def test_steady_colour(self, pins: MockFactory) -> None:
        lamps = GpioLamps((RED, GREEN, BLUE), pins)
        lamps.show(Pattern("x", (0.25, 0.5, 1.0), "steady"))
        assert colour(pins) == (0.25, 0.5, 1.0)

    def test_off(self, pins: MockFactory) -> None:
        lamps = GpioLamps((RED, GREEN, BLUE), pins)
        lamps.show(Pattern("x", (1, 1, 1), "steady"))
        lamps.show(Pattern("idle", (0, 0, 0), "off"))
        assert colour(pins) == (0, 0, 0)

    def test_blink_is_all_or_nothing(self, pins: MockFactory) -> None:
        lamps = GpioLamps((RED, GREEN, BLUE), pins)
        lamps.show(Pattern("x", (0.5, 0, 0), "blink", 0.02))
        states = seen(pins, RED, lambda states: len(states) > 5)
        lamps.close()
        assert set(states) == {0.5, 0.0}
        assert {state for _, state in pins.pin(GREEN).states} == {0.0}

    def test_pulse_passes_through_what_lies_between(self, pins: MockFactory) -> None:
        lamps = GpioLamps((RED, GREEN, BLUE), pins)
        lamps.show(Pattern("x", (0, 0, 0.8), "pulse", 0.4))
        states = seen(pins, BLUE, lambda states: max(states) == 0.8)
        lamps.close()
        assert any(0 < state < 0.8 for state in states)

    def test_one_led_shows_brightness(self, pins: MockFactory) -> None:
        lamps = GpioLamps((RED,), pins)
        lamps.show(Pattern("x", (0.1, 0.4, 0.2), "steady"))
        assert pins.pin(RED).state == 0.4
        for motion in ("pulse", "blink"):
            lamps.show(Pattern("x", (1, 0, 0), motion, 0.2))
            seen(pins, RED, lambda states: states[-1] == 1)
        lamps.close()
        assert pins.pin(RED).state == 0

    def test_light_of_a_common_anode(self, pins: MockFactory) -> None:
        lamps = GpioLamps((RED,), pins, active_high=False)
        assert pins.pin(RED).state == 1
        lamps.show(Pattern("x", (1, 0, 0), "steady"))
        assert pins.pin(RED).state == 0

    @pytest.mark.parametrize("place", list(Place), ids=lambda place: place.value)
    def test_every_state_can_be_shown(self, pins: MockFactory, place: Place) -> None:
        lamps = GpioLamps((RED, GREEN, BLUE), pins)
        started = time.monotonic()
        lamps.show(pattern(Place.HELD))
        lamps.show(pattern(place))
        print(f"{place.value}: changed in {(time.monotonic() - started) * 1e3:.1f} ms")
        lamps.close()
        lamps.close()

    def test_unknown_motion(self, pins: MockFactory) -> None:
        with pytest.raises(ValueError, match="cannot dance"):
            GpioLamps((RED,), pins).show(Pattern("x", (1, 0, 0), "dance"))


class Clock:
    """Timers that run out when the test says so."""

    def __init__(self) -> None:
        self.running: dict[int, Callable[[], None]] = {}
        self.started = 0

    def __call__(self, seconds: float, call: Callable[[], None]) -> Any:
        assert seconds == gpio.SETTLE_S
        self.started += 1
        number = self.started

        class Timer:
            def start(timer) -> None:  # noqa: N805
                self.running[number] = call

            def cancel(timer) -> None:  # noqa: N805
                self.running.pop(number, None)

        return Timer()

    def rest(self) -> None:
        """The contact rests for longer than the settling time."""
        for number in list(self.running):
            self.running.pop(number)()


class TestButton:
    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    def told(self) -> list[str]:
        return []

    @pytest.fixture
    def button(self, pins: MockFactory, clock: Clock, told: list[str]) -> GpioButton:
        button = GpioButton(BUTTON, pins, timer=clock)
        button.start(lambda: told.append("pressed"), lambda: told.append("released"))
        return button

    def test_press_and_release(
        self, button: GpioButton, pins: MockFactory, clock: Clock, told: list[str]
    ) -> None:
        pins.pin(BUTTON).drive_low()
        assert told == []
        clock.rest()
        assert told == ["pressed"]
        pins.pin(BUTTON).drive_high()
        clock.rest()
        assert told == ["pressed", "released"]

    def test_a_bouncing_contact_is_told_once(
        self, button: GpioButton, pins: MockFactory, clock: Clock, told: list[str]
    ) -> None:
        for _ in range(5):
            pins.pin(BUTTON).drive_low()
            pins.pin(BUTTON).drive_high()
        pins.pin(BUTTON).drive_low()
        assert len(clock.running) == 1
        clock.rest()
        assert told == ["pressed"]

    def test_a_spike_is_nothing(
        self, button: GpioButton, pins: MockFactory, clock: Clock, told: list[str]
    ) -> None:
        pins.pin(BUTTON).drive_low()
        pins.pin(BUTTON).drive_high()
        clock.rest()
        assert told == []

    def test_closed_before_it_settled(
        self, button: GpioButton, pins: MockFactory, clock: Clock, told: list[str]
    ) -> None:
        pins.pin(BUTTON).drive_low()
        late = list(clock.running.values())
        button.close()
        button.close()
        for call in late:
            call()
        assert clock.running == {}
        assert told == []

    def test_held_down_from_the_start_is_no_press(
        self, pins: MockFactory, clock: Clock, told: list[str]
    ) -> None:
        button = GpioButton(BUTTON, pins, timer=clock)
        pins.pin(BUTTON).drive_low()
        button.start(lambda: told.append("pressed"), lambda: told.append("released"))
        pins.pin(BUTTON).drive_high()
        clock.rest()
        assert told == ["released"]

    def test_with_a_real_timer(self, pins: MockFactory) -> None:
        pressed_at: list[float] = []
        button = GpioButton(BUTTON, pins)
        button.start(lambda: pressed_at.append(time.monotonic()), lambda: None)
        started = time.monotonic()
        pins.pin(BUTTON).drive_low()
        while not pressed_at:
            assert time.monotonic() < started + 20
            time.sleep(0.001)
        print(f"press told after {(pressed_at[0] - started) * 1e3:.1f} ms")
        button.close()
        assert pressed_at[0] - started >= gpio.SETTLE_S


class TestOpening:
    def test_mock_pins_by_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "mock")
        opened = open_gpio(lamps=(RED, GREEN, BLUE), button=BUTTON)
        assert isinstance(opened.lamps, GpioLamps)
        assert isinstance(opened.button, GpioButton)
        assert opened.reason == ""
        opened.lamps.show(pattern(Place.LISTENING))
        opened.lamps.close()
        opened.button.close()

    def test_only_what_is_configured(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "mock")
        assert isinstance(open_gpio(lamps=(RED,)).button, NullButton)
        assert isinstance(open_gpio(button=BUTTON).lamps, NullLamps)
        assert open_gpio().reason == "no pins are configured"

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"lamps": (99,)}, "99 is not a valid pin"),
            ({"lamps": (RED,), "button": RED}, "already in use"),
            ({"lamps": (RED, GREEN)}, "2 LED pins; give one, or three"),
        ],
    )
    def test_pins_that_cannot_be(
        self, monkeypatch: pytest.MonkeyPatch, settings: Any, message: str
    ) -> None:
        monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "mock")
        with pytest.raises(DeviceError, match=message) as caught:
            open_gpio(**settings)
        assert "\n" not in str(caught.value)

    def test_no_chip(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr(gpio, "CHIPS", str(tmp_path / "gpiochip*"))
        opened = open_gpio(lamps=(RED,), button=BUTTON)
        assert opened.reason.startswith("there is no GPIO chip")
        opened.lamps.show(pattern(Place.LISTENING))
        opened.button.start(lambda: None, lambda: None)
        opened.lamps.close()
        opened.button.close()

    def test_no_permission(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        (tmp_path / "gpiochip0").touch()
        monkeypatch.setattr(gpio, "CHIPS", str(tmp_path / "gpiochip*"))
        monkeypatch.setattr(os, "access", lambda *_: False)
        assert open_gpio(button=BUTTON).reason.endswith("may not be opened; join the group gpio")

    def test_a_chip_that_is_no_raspberry_pi_and_a_directory_left_clean(
        self, tmp_path: Path
    ) -> None:
        # In a process of its own, because lgpio makes its FIFO when it is imported.
        (tmp_path / "gpiochip0").touch()
        program = (
            "from edgevoice.adapters import gpio\n"
            f"gpio.CHIPS = {str(tmp_path / 'gpiochip*')!r}\n"
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
