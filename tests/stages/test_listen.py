"""The listen stage: what it tells of the sound, and when a wake phrase counts."""

import numpy as np
import pytest

from edgevoice.adapters.aec import NoEchoFilter
from edgevoice.core.events import Fault, FaultKind, SoundFrame, WakeHeard
from edgevoice.stages.capture import Heard
from edgevoice.stages.echo import EchoControl
from edgevoice.stages.listen import Hush, Listen, OverEcho, WakeGate, rms
from tests.patience import until


class Subtract:
    """An echo canceller that is told the truth."""

    def process(self, near, far):
        return near - far


class Flat:
    """A high-pass that lets everything through."""

    def process(self, near):
        return near


def control(canceller=None):
    return EchoControl(canceller or Subtract(), NoEchoFilter(), Flat())


class Loudness:
    """Speech is what is loud."""

    chunk = 512

    def probability(self, audio):
        assert len(audio) == self.chunk
        return float(np.abs(audio).mean() > 500)


class Script:
    """A wake engine that gives the scores it was given."""

    chunk = 1280
    lag_ms = 100

    def __init__(self, *scores):
        self.scores = list(scores)
        self.resets = 0

    def score(self, audio):
        assert len(audio) == self.chunk
        return "hey_jarvis", self.scores.pop(0) if self.scores else 0.0

    def reset(self):
        self.resets += 1


class House:
    """A listen stage with what it sent where."""

    def __init__(self, *scores, canceller=None):
        self.events, self.sound = [], []
        self.wake = Script(*scores)
        self.listen = Listen(
            self.events.append,
            control(canceller),
            Loudness(),
            self.wake,
            WakeGate(0.5, 0.8, patience=2),
            self.sound.append,
        )
        self.end = 0

    def hear(self, frames, near=0, far=0):
        for _ in range(frames):
            self.end += 160
            heard = Heard(
                np.full(160, near, np.int16), np.full(160, far, np.int16), self.end, self.end / 16e3
            )
            self.listen.handle(heard)

    def all(self, kind):
        return [event for event in self.events if isinstance(event, kind)]


def test_a_sound_frame_comes_every_20_ms():
    house = House()
    house.hear(10)
    frames = house.all(SoundFrame)
    assert [frame.end for frame in frames] == [320, 640, 960, 1280, 1600]
    assert {frame.samples for frame in frames} == {320}
    assert [frame.at for frame in frames] == [end / 16e3 for end in (320, 640, 960, 1280, 1600)]


def test_the_energies_are_rms_of_full_scale_after_cancellation():
    house = House()
    house.hear(2, near=3277, far=1638)
    (frame,) = house.all(SoundFrame)
    assert frame.energy == pytest.approx(0.05, abs=1e-4)
    assert frame.echo == pytest.approx(0.05, abs=1e-4)
    assert rms(np.full(160, -32768, np.int16)) == 1.0
    assert rms(np.zeros(0, np.int16)) == 0.0


def test_the_speech_probability_is_that_of_the_newest_whole_chunk():
    house = House()
    house.hear(6, near=1000)
    assert [frame.vad for frame in house.all(SoundFrame)] == [0.0, 1.0, 1.0]


def test_the_recogniser_gets_every_block_without_the_echo():
    house = House()
    house.hear(5, near=5, far=2)
    assert [(len(sound.samples), sound.end) for sound in house.sound] == [(320, 320), (320, 640)]
    assert all((sound.samples == 3).all() for sound in house.sound)


def test_a_wake_phrase_is_told_with_the_sample_after_it():
    house = House(0.1, 0.6)
    house.hear(16)
    (wake,) = house.all(WakeHeard)
    assert (wake.phrase, wake.score) == ("hey_jarvis", 0.6)
    assert wake.end == 2 * 1280 - 100 * 16
    assert house.wake.resets == 1


def test_a_wake_phrase_at_the_very_beginning_ends_at_zero_at_the_earliest():
    house = House(0.9)
    house.hear(8)
    assert house.all(WakeHeard)[0].end == 0


def test_while_the_device_speaks_a_wake_phrase_needs_more_score_and_more_patience():
    house = House(0.7, 0.7, 0.9, 0.7, 0.9, 0.9, 0.9)
    house.listen.device_speaks = True
    house.hear(8 * 5)
    assert house.all(WakeHeard) == []
    house.hear(8)
    assert len(house.all(WakeHeard)) == 1
    house.hear(8)
    assert len(house.all(WakeHeard)) == 1, "the patience begins anew"


def test_what_the_device_says_itself_does_not_wake_it():
    house = House(*[0.4] * 8)
    house.listen.gate = WakeGate(0.5, 0.3, patience=2)
    house.listen.device_speaks = True
    house.hear(8 * 4)
    assert house.all(WakeHeard) == []
    house.hear(8 * 2, near=1000)
    assert len(house.all(WakeHeard)) == 1


@pytest.mark.parametrize(
    ("scores", "speaking", "passes"),
    [
        ([0.5], False, [True]),
        ([0.49, 0.5], False, [False, True]),
        ([0.79, 0.8, 0.8, 0.8], True, [False, False, True, False]),
        ([0.8, 0.1, 0.8, 0.8], True, [False, False, False, True]),
    ],
)
def test_the_gate_counts_scores_in_a_row(scores, speaking, passes):
    gate = WakeGate(0.5, 0.8, patience=2)
    assert [gate.passes(score, speaking) for score in scores] == passes


def test_over_the_device_a_weak_score_counts_only_when_somebody_was_heard():
    gate = WakeGate(0.5, 0.3, patience=2)
    assert [gate.passes(0.4, True, heard) for heard in (True, True, False, False)] == [0, 1, 0, 0]
    assert [gate.passes(0.5, True, False) for _ in range(2)] == [False, True]


def test_somebody_is_heard_by_what_is_louder_than_the_echo_that_may_be_left():
    over = OverEcho()
    for _ in range(2):
        over.update(0.02, 0.01)
    for _ in range(3):
        over.update(0.02, 0.02)
    assert not over.heard
    over.update(0.02, 0.01)
    assert over.heard
    for _ in range(49):
        over.update(0.0, 0.0)
    assert not over.heard, "a phrase takes no more than a second"


def test_while_the_room_is_learned_everybody_may_be_heard():
    over = OverEcho()
    for _ in range(3):
        over.update(0.02, 1.0)
    assert over.heard


def test_an_engine_that_raises_is_a_fault_and_another_one_can_take_its_place():
    class Broken:
        def process(self, near, far):
            raise ValueError("no more")

    house = House(canceller=Broken())
    frame = Heard(np.zeros(160, np.int16), np.zeros(160, np.int16), 160, 0.01)
    house.listen.start()
    house.listen.post(frame)
    house.listen.post(frame)
    until(lambda: house.all(Fault))
    assert house.listen.leave(timeout=5.0)
    fresh = House()
    fresh.listen.inherit(house.listen)
    house.listen.post(frame)
    house.listen.post(frame)
    fresh.listen.start()
    assert fresh.listen.stop()
    (fault,) = house.all(Fault)
    assert (fault.kind, fault.part) == (FaultKind.ENGINE, "listen")
    assert fault.reason == "ValueError: no more"
    assert len(fresh.all(SoundFrame)) == 1


def test_in_a_long_silence_the_wake_engine_has_nothing_to_do():
    house = House()
    asked = count_scores(house.wake)
    house.hear(400, near=10)
    after_two_seconds = len(asked)
    house.hear(800, near=10)
    assert 24 <= after_two_seconds == len(asked)


def test_what_breaks_the_silence_is_heard_from_half_a_second_before():
    house = House()
    house.hear(800, near=10)
    asked = count_scores(house.wake)
    house.hear(2, near=900)
    loudest = [np.abs(chunk).max() for chunk in asked]
    assert 5 <= len(asked) <= 6
    assert loudest == [10] * len(asked)
    house.hear(8, near=900)
    assert np.abs(asked[-1]).max() == 900


def test_a_phrase_after_a_long_silence_ends_where_it_ends():
    house = House(*[0.0] * 26, *[0.0] * 8, 0.9)
    house.hear(800, near=10)
    end = house.end
    asked = count_scores(house.wake)
    while not house.all(WakeHeard):
        house.hear(2, near=900)
    (woke,) = house.all(WakeHeard)
    assert woke.end == end + 320 - 8000 + len(asked) * 1280 - 1600


@pytest.mark.parametrize(
    ("energy", "vad", "silent"), [(0.001, 0.0, True), (0.001, 0.06, False), (0.0021, 0.0, False)]
)
def test_the_least_sign_of_speech_ends_a_silence(energy, vad, silent):
    hush = Hush()
    for _ in range(101):
        hush.update(0.001, 0.0, 320)
    assert hush.update(energy, vad, 320) is silent


def test_a_fan_that_is_switched_on_is_silence_after_a_while():
    hush = Hush()
    for _ in range(200):
        hush.update(0.001, 0.0, 320)
    stirring = [not hush.update(0.01, 0.0, 320) for _ in range(500)]
    assert stirring[0]
    assert not stirring[-1]
    assert 4 < sum(stirring) * 0.02 < 8


def test_digital_zeros_are_silence_and_a_bit_of_dither_is_none():
    hush = Hush()
    for _ in range(100):
        silent = hush.update(0.0, 0.0, 320)
    assert silent
    assert hush.update(0.00003, 0.0, 320)


def count_scores(wake):
    """The chunks that the wake engine is asked about from now on."""
    asked, score = [], wake.score
    wake.score = lambda audio: (asked.append(audio), score(audio))[1]
    return asked
