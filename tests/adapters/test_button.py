from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from gpiozero.pins.mock import MockFactory

from edgevoice.adapters import button as adapter
from edgevoice.adapters.button import GpioButton

BUTTON = 23


@pytest.fixture
def pins() -> Iterator[MockFactory]:
    factory = MockFactory()
    yield factory
    factory.reset()


class Clock:
    """Timers that run out when the test says so."""

    def __init__(self) -> None:
        self.running: dict[int, Callable[[], None]] = {}
        self.started = 0

    def __call__(self, seconds: float, call: Callable[[], None]) -> Any:
        assert seconds == adapter.SETTLE_S
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
        assert pressed_at[0] - started >= adapter.SETTLE_S
