from __future__ import annotations

import pytest

from edgevoice.core.events import SoundFrame
from edgevoice.core.tuning import Turn
from edgevoice.core.voice import Thresholds, Voice
from tests.core.ear import FRAME, ms

THRESHOLDS = Thresholds(high=0.02, low=0.005)


class Room:
    def __init__(self) -> None:
        self.voice = Voice(Turn())
        self.now = 0

    def plays(self, milliseconds: int, energy: float, vad: float) -> bool:
        for _ in range(milliseconds // 10):
            self.now += FRAME
            frame = SoundFrame(0.0, self.now, FRAME, energy, vad)
            self.voice.update(frame, THRESHOLDS)
        return self.voice.speaking


@pytest.fixture
def room() -> Room:
    room = Room()
    room.plays(1000, 0.001, 0.02)
    return room


def test_thresholds_of_the_configuration_are_floors() -> None:
    assert Thresholds.over(1e-4, Turn()) == Thresholds(0.02, 0.005)
    assert Thresholds.over(0.01, Turn()) == Thresholds(0.04, 0.02)


def test_onset_is_where_the_energy_rose(room: Room) -> None:
    room.plays(60, 0.01, 0.05)
    assert room.plays(300, 0.1, 0.9)
    assert room.voice.started_at == ms(1000)
    assert room.voice.ended_at is None


def test_onset_is_not_dated_back_over_long_murmur(room: Room) -> None:
    room.plays(2000, 0.01, 0.05)
    room.plays(10, 0.1, 0.9)
    assert room.voice.started_at == ms(3000 - 200)


def test_onset_by_the_detector_alone(room: Room) -> None:
    room.plays(10, 0.001, 0.9)
    assert room.voice.started_at == ms(1000)


def test_started_at_stays_with_the_first_speech_and_ended_at_follows_the_last(room: Room) -> None:
    for _ in range(2):
        room.plays(500, 0.1, 0.9)
        room.plays(500, 0.001, 0.02)
    assert (room.voice.started_at, room.voice.ended_at) == (ms(1000), ms(2500))


def test_end_is_dated_back_to_where_the_energy_fell(room: Room) -> None:
    room.plays(500, 0.1, 0.9)
    room.plays(110, 0.001, 0.8)
    assert room.voice.speaking
    room.plays(10, 0.001, 0.1)
    assert room.voice.ended_at == ms(1500)


def test_end_is_dated_back_by_the_lag_of_the_detector_at_most(room: Room) -> None:
    room.plays(500, 0.1, 0.9)
    room.plays(1000, 0.001, 0.9)  # still talking, but very quietly
    room.plays(10, 0.001, 0.1)
    assert room.voice.ended_at == ms(2510 - 200)


def test_end_of_a_voice_too_quiet_for_the_energy_is_the_detectors(room: Room) -> None:
    room.plays(500, 0.001, 0.9)
    room.plays(50, 0.001, 0.1)
    assert room.voice.ended_at == ms(1500)


def test_reverberation_does_not_delay_the_end(room: Room) -> None:
    room.plays(500, 0.1, 0.9)
    room.plays(100, 0.01, 0.1)
    room.plays(10, 0.001, 0.1)
    assert room.voice.ended_at == ms(1500)


def test_noise_after_speech_does_not_hold_the_turn(room: Room) -> None:
    room.plays(500, 0.1, 0.9)
    assert room.plays(150, 0.1, 0.1)
    assert not room.plays(10, 0.1, 0.1)
    assert room.voice.ended_at == ms(1500)


def test_loudness_that_the_detector_denies_is_undone(room: Room) -> None:
    room.plays(500, 0.1, 0.9)
    room.plays(500, 0.001, 0.02)
    assert room.plays(150, 0.3, 0.1)
    assert not room.plays(1000, 0.3, 0.1)
    assert (room.voice.started_at, room.voice.ended_at) == (ms(1000), ms(1500))


def test_a_bang_in_silence_is_no_speech(room: Room) -> None:
    room.plays(50, 0.5, 0.1)
    room.plays(100, 0.001, 0.02)
    assert room.voice.started_at is None
    assert room.voice.ended_at is None


def test_speech_is_heard_in_denied_noise(room: Room) -> None:
    room.plays(1000, 0.1, 0.05)
    assert room.voice.denied
    assert room.plays(10, 0.1, 0.4)
    assert not room.voice.denied


def test_silence_is_not_denied(room: Room) -> None:
    assert not room.voice.denied


def test_a_new_rise_is_given_the_benefit_of_the_doubt_again(room: Room) -> None:
    room.plays(500, 0.1, 0.05)
    room.plays(100, 0.001, 0.05)
    assert room.plays(10, 0.1, 0.05)


def test_reset_forgets_everything(room: Room) -> None:
    room.plays(500, 0.1, 0.9)
    room.voice.reset()
    assert not room.voice.speaking
    assert room.voice.started_at is None
    room.plays(10, 0.001, 0.02)
    assert room.voice.ended_at is None


# -- at the limits ------------------------------------------------------------------------


def test_the_low_thresholds_themselves_are_not_below_them(room: Room) -> None:
    room.plays(300, 0.1, 0.9)
    assert room.plays(100, 0.005, 0.02)
    assert room.plays(100, 0.001, 0.3)
    assert not room.plays(10, 0.0049, 0.29)


def test_the_high_thresholds_themselves_are_not_over_them(room: Room) -> None:
    assert not room.plays(300, 0.02, 0.7)
    assert room.plays(10, 0.02, 0.71)


def test_the_end_is_after_the_last_frame_at_the_thresholds(room: Room) -> None:
    room.plays(300, 0.1, 0.9)
    room.plays(50, 0.005, 0.3)
    room.plays(100, 0.001, 0.02)
    assert room.voice.ended_at == ms(1350)


def test_a_frame_at_the_low_threshold_is_a_rise(room: Room) -> None:
    room.plays(50, 0.005, 0.02)
    room.plays(100, 0.1, 0.9)
    assert room.voice.started_at == ms(1000)
