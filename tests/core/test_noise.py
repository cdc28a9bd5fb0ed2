from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevoice.core.events import RATE, SoundFrame
from edgevoice.core.noise import QUIETEST, NoiseFloor
from tests.core.ear import FRAME


class Room:
    def __init__(self) -> None:
        self.floor = NoiseFloor()
        self.now = 0

    def plays(self, seconds: float, energy: float, vad: float = 0.02) -> float:
        for _ in range(round(seconds * 100)):
            self.now += FRAME
            self.floor.update(SoundFrame(0.0, self.now, FRAME, energy, vad))
        return self.floor.level


@pytest.fixture
def room() -> Room:
    room = Room()
    room.plays(10, 0.001)
    return room


def test_it_is_the_quietest_step_before_anything_was_heard() -> None:
    assert NoiseFloor().level == QUIETEST


def test_it_is_known_at_once(room: Room) -> None:
    assert Room().plays(0.01, 0.003) == pytest.approx(0.003)
    assert room.floor.level == pytest.approx(0.001)


def test_a_fan_is_the_floor_after_5_to_10_seconds(room: Room) -> None:
    assert room.plays(5, 0.02) == pytest.approx(0.001)
    assert room.plays(5, 0.02) == pytest.approx(0.02)


def test_it_falls_at_once_when_the_fan_is_switched_off(room: Room) -> None:
    room.plays(10, 0.02)
    assert room.plays(0.5, 0.001) == pytest.approx(0.001, rel=0.1)


def test_30_seconds_of_loud_speech_do_not_raise_it(room: Room) -> None:
    assert room.plays(30, 0.2, 0.95) == pytest.approx(0.001)


def test_speech_with_pauses_does_not_raise_it_even_if_the_detector_misses_it(room: Room) -> None:
    for _ in range(10):
        room.plays(2.8, 0.2)
        room.plays(0.2, 0.001)
    assert room.floor.level < 0.01


def test_a_pause_in_speech_lowers_it_even_though_the_detector_lags() -> None:
    room = Room()
    room.plays(10, 0.05)
    assert room.plays(0.3, 0.001, 0.9) < 0.005


def test_a_dropout_of_one_frame_is_not_the_room(room: Room) -> None:
    assert room.plays(0.01, 0.0) > 0.0005


def test_a_long_frame_needs_no_smoothing() -> None:
    floor = NoiseFloor()
    for number, energy in enumerate((0.02, 0.001), 1):
        level = floor.update(SoundFrame(0.0, number * RATE, RATE, energy, 0.0))
    assert level == pytest.approx(0.001)


def test_a_frame_taken_twice_counts_once(room: Room) -> None:
    other = Room()
    other.plays(10, 0.001)
    for _ in range(300):
        other.floor.update(SoundFrame(0.0, other.now, FRAME, 0.5, 0.0))
    assert other.plays(6, 0.02) == room.plays(6, 0.02)


@pytest.mark.parametrize("samples", [160, 320, 480, 640])
def test_time_is_counted_in_samples(samples: int) -> None:
    floor = NoiseFloor()
    now, risen = 0, None
    while risen is None:
        now += samples
        level = floor.update(SoundFrame(0.0, now, samples, 0.001 if now < RATE else 0.02, 0.0))
        risen = now / RATE if level > 0.01 else None
    assert 6 <= risen - 1 <= 7.2


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=300))
def test_it_is_never_zero_and_never_above_what_was_heard(
    sounds: list[tuple[float, float]],
) -> None:
    floor = NoiseFloor()
    loudest = QUIETEST
    for number, (energy, vad) in enumerate(sounds, 1):
        loudest = max(loudest, energy)
        level = floor.update(SoundFrame(0.0, number * FRAME, FRAME, energy, vad))
        assert QUIETEST <= level <= loudest + 1e-12
        assert math.isfinite(level)


def test_a_frame_that_is_as_likely_speech_as_not_does_not_raise_it() -> None:
    floor = NoiseFloor()
    for number, (energy, vad) in enumerate([(0.001, 0.0)] * 10 + [(0.1, 0.5)] * 900, 1):
        floor.update(SoundFrame(0.0, number * 160, 160, energy, vad))
    assert floor.level == 0.001


def test_what_was_quiet_is_forgotten_after_six_seconds_to_the_frame() -> None:
    room = Room()
    room.plays(1, 0.001)
    assert room.plays(6, 0.02) == 0.001
    assert room.plays(0.01, 0.02) > 0.004
