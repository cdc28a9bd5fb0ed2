"""The room as the device meets it: two audio ports, a clock, and somebody who talks."""

from __future__ import annotations

import math
import threading
import wave
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgevoice.adapters.room import Room
from edgevoice.adapters.room_acoustics import Signal, active_level, coloured_noise, gain
from edgevoice.adapters.room_air import LOUDSPEAKER_DBFS, SPEECH_DBFS
from edgevoice.adapters.scene import Acoustics, Cue, Line, Noise, Scene
from edgevoice.adapters.talker import Utterance
from edgevoice.ports import Microphone, Samples, Speaker

RATE = 16_000
QUIET = Noise(snr_db=math.inf)
OPEN_AIR = Acoustics(delay_ms=0, rt60_s=0, noise=QUIET)


def utterances(count: int, seconds: float = 0.5) -> list[Utterance]:
    """Bursts of noise at level 1.0 in place of words."""
    audio = coloured_noise("pink", round(seconds * RATE), np.random.default_rng(5))
    audio /= active_level(audio, RATE)
    return [Utterance(f"line {number}", audio, 0, len(audio)) for number in range(count)]


@dataclass
class Device:
    """Plays given sounds at given times of its own clock and keeps all it hears."""

    sounds: list[tuple[float, Signal]] = field(default_factory=list)
    rate: int = RATE
    calls: list[tuple[str, float, int]] = field(default_factory=list)
    heard: list[Samples] = field(default_factory=list)
    _at: int = 0

    def plug_into(self, room: Room) -> None:
        self.rate = room.speaker.rate
        room.microphone.start(self.deliver, pytest.fail)
        room.speaker.start(self.fill, pytest.fail)

    def fill(self, block: Samples, heard_at: float) -> None:
        self.calls.append(("fill", heard_at, len(block)))
        for start_s, sound in self.sounds:
            start = round(start_s * self.rate) - self._at
            begin, end = max(start, 0), min(start + len(sound), len(block))
            if begin < end:
                block[begin:end] = sound[begin - start : end - start] * 32767
        self._at += len(block)

    def deliver(self, block: Samples, ended_at: float) -> None:
        self.calls.append(("deliver", ended_at, len(block)))
        self.heard.append(block)


def speech(seconds: float, level_db: float = -23.0, rate: int = RATE) -> Signal:
    """Noise that is as loud at any moment, so that levels can be compared."""
    noise = coloured_noise("white", round(seconds * rate), np.random.default_rng(9))
    return noise * gain(level_db)


def play(scene: Scene, device: Device, seconds: float, **options: Any) -> Room:
    room = Room(scene, utterances(len(scene.lines)), live=False, **options)
    device.plug_into(room)
    room.ready()
    room.advance(seconds)
    return room


def level_db(samples: np.ndarray) -> float:
    return 20 * math.log10(active_level(samples / 32768, RATE))


# -- the ports ---------------------------------------------------------------------------


def test_it_is_a_microphone_and_a_speaker() -> None:
    room = Room(Scene(), [], live=False, microphone_rate=48_000, speaker_rate=22_050)
    microphone: Microphone = room.microphone
    speaker: Speaker = room.speaker
    assert (microphone.rate, speaker.rate) == (48_000, 22_050)


def test_each_step_asks_for_sound_before_it_delivers_what_was_heard() -> None:
    device = Device()
    play(Scene(OPEN_AIR), device, 0.04)
    assert [name for name, _, _ in device.calls] == [
        "fill", "fill", "deliver", "fill", "deliver", "fill", "deliver",
    ]  # fmt: skip
    fills = [at for name, at, _ in device.calls if name == "fill"]
    deliveries = [at for name, at, _ in device.calls if name == "deliver"]
    assert fills == pytest.approx([0.0, 0.01, 0.02, 0.03])
    assert deliveries == pytest.approx([0.01, 0.02, 0.03])


@pytest.mark.parametrize("delay_ms", [20, 40.0625, 300])
@pytest.mark.parametrize("speaker_rate", [16_000, 22_050, 48_000])
def test_sound_arrives_after_the_delay_by_both_clocks(delay_ms: float, speaker_rate: int) -> None:
    click = Device([(1.0, np.full(1, 0.9))])
    acoustics = replace(OPEN_AIR, delay_ms=delay_ms)
    play(Scene(acoustics), click, 2.0, speaker_rate=speaker_rate)
    heard = np.concatenate(click.heard)
    first_end = next(at for name, at, _ in click.calls if name == "deliver")
    start = first_end - 0.01
    assert start + np.argmax(np.abs(heard)) / RATE == pytest.approx(
        1.0 + delay_ms / 1000, abs=0.51 / RATE
    )


@pytest.mark.parametrize("speaker_rate", [16_000, 22_050, 48_000])
@pytest.mark.parametrize("drift_ppm", [-300.0, 0.0, 300.0])
def test_the_loudspeakers_clock_asks_for_as_much_as_it_plays(
    speaker_rate: int, drift_ppm: float
) -> None:
    device = Device()
    acoustics = replace(OPEN_AIR, drift_ppm=drift_ppm)
    play(Scene(acoustics), device, 60, speaker_rate=speaker_rate)
    played = sum(size for name, _, size in device.calls if name == "fill")
    assert played == pytest.approx(60 * speaker_rate * (1 + drift_ppm / 1e6), abs=speaker_rate / 50)


def test_a_stopped_jack_is_silent_and_time_goes_on() -> None:
    device = Device([(0.5, speech(3))])
    room = Room(Scene(OPEN_AIR), [], live=False)
    device.plug_into(room)
    room.advance(1)
    room.microphone.stop()
    room.speaker.stop()
    calls = len(device.calls)
    room.advance(1)
    assert len(device.calls) == calls
    assert not room.recording.loudspeaker[round(1.02 * RATE) :].any()
    room.microphone.start(device.deliver, pytest.fail)
    room.advance(0.01)
    assert device.calls[-1] == ("deliver", pytest.approx(2.0), 160)


# -- what it sounds like -----------------------------------------------------------------


def test_the_recording_is_what_the_device_heard_and_played() -> None:
    device = Device([(0.5, speech(1.0))])
    room = play(Scene(Acoustics()), device, 2.0)
    recording = room.recording
    np.testing.assert_array_equal(recording.microphone, np.concatenate(device.heard))
    played = (speech(1.0) * 32767).astype(np.int16)
    np.testing.assert_array_equal(recording.loudspeaker[8000 : 8000 + RATE], played)
    assert len(recording.microphone) == len(recording.loudspeaker)


def test_what_the_device_does_to_a_block_is_its_own_affair() -> None:
    room = Room(Scene(), [], live=False)
    room.microphone.start(lambda block, at: block.fill(0), pytest.fail)
    room.advance(1)
    assert room.recording.microphone.any()


def test_the_same_scene_gives_the_same_samples_and_another_seed_others() -> None:
    scene = Scene(Acoustics(drift_ppm=50), (Line("a", when=Cue.READY),))

    def heard(scene: Scene) -> Samples:
        return play(scene, Device([(1.0, speech(1.0))]), 3.0).recording.microphone

    np.testing.assert_array_equal(heard(scene), heard(scene))
    assert (heard(scene) != heard(replace(scene, seed=2))).any()


@pytest.mark.parametrize("acoustics", [OPEN_AIR, Acoustics(distance=0.5, rt60_s=0.4, noise=QUIET)])
@pytest.mark.parametrize("asked_db", [-10.0, 0.0, 6.0])
@pytest.mark.parametrize("volume_db", [-30.0, -16.0])
def test_the_talker_is_as_loud_against_the_echo_as_asked(
    acoustics: Acoustics, asked_db: float, volume_db: float
) -> None:
    device_speech = [(0.5, speech(6.0, volume_db))]
    line = Line("a", when=Cue.DEVICE_STARTS, plus_ms=3000, level_db=asked_db)
    echo = play(Scene(acoustics), Device(device_speech), 7).recording.microphone
    room = play(Scene(acoustics, (line,)), Device(device_speech), 7)
    (said,) = room.said
    talker = room.recording.microphone.astype(int) - echo
    during = slice(said.start, said.end)
    assert level_db(talker[during]) - level_db(echo[during]) == pytest.approx(asked_db, abs=0.5)
    assert said.level_db == pytest.approx(level_db(talker[during]), abs=0.2)


def test_before_the_device_has_spoken_the_level_is_the_nominal_one() -> None:
    room = play(Scene(OPEN_AIR, (Line("a", when=Cue.READY, level_db=3),)), Device(), 2)
    (said,) = room.said
    heard = room.recording.microphone[said.start : said.end]
    assert level_db(heard) == pytest.approx(SPEECH_DBFS + 3, abs=0.1)


@pytest.mark.parametrize(("volume_db", "nearest_db"), [(-60.0, -40.0), (-3.0, -18.0)])
def test_the_talker_neither_vanishes_nor_clips_with_the_devices_volume(
    volume_db: float, nearest_db: float
) -> None:
    line = Line("a", when=Cue.DEVICE_STARTS, plus_ms=2000)
    starts_loud = np.concatenate((speech(0.5, -45), speech(4, volume_db)))
    (said,) = play(Scene(OPEN_AIR, (line,)), Device([(0.5, starts_loud)]), 5).said
    assert said.level_db == pytest.approx(nearest_db, abs=0.01)


def test_earcons_do_not_change_how_loud_the_talker_is() -> None:
    earcons = [(0.5 + 0.7 * number, speech(0.2, -6)) for number in range(4)]
    (said,) = play(Scene(OPEN_AIR, (Line("a", at=4.0),)), Device(earcons), 5).said
    assert said.level_db == pytest.approx(SPEECH_DBFS)


@pytest.mark.parametrize("rt60_s", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("distance", [0.1, 1.0])
def test_nominal_speech_has_its_nominal_level_at_the_microphone(
    rt60_s: float, distance: float
) -> None:
    acoustics = Acoustics(distance=distance, rt60_s=rt60_s, noise=QUIET)
    device = Device([(0.5, speech(4, LOUDSPEAKER_DBFS))])
    heard = play(Scene(acoustics), device, 5).recording.microphone
    assert level_db(heard[RATE : 4 * RATE]) == pytest.approx(SPEECH_DBFS, abs=0.3)


@pytest.mark.parametrize("snr_db", [10.0, 30.0])
def test_the_noise_is_as_far_below_speech_as_asked(snr_db: float) -> None:
    acoustics = replace(OPEN_AIR, noise=Noise(snr_db))
    room = play(Scene(acoustics), Device(), 10)
    assert level_db(room.recording.microphone) == pytest.approx(SPEECH_DBFS - snr_db, abs=0.5)


def test_a_recording_of_noise_is_looped(tmp_path: Path) -> None:
    path = tmp_path / "hum.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((speech(0.5) * 32767).astype("<i2").tobytes())
    acoustics = replace(OPEN_AIR, noise=Noise(10, wav=path))
    heard = play(Scene(acoustics), Device(), 3).recording.microphone
    np.testing.assert_array_equal(heard[:8000], heard[8000:16_000])
    assert level_db(heard) == pytest.approx(SPEECH_DBFS - 10, abs=0.2)


def test_a_measured_response_begins_at_its_direct_sound(tmp_path: Path) -> None:
    path = tmp_path / "response.wav"
    response = np.zeros(2000)
    response[700], response[900] = 0.8, 0.4
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((response * 32767).astype("<i2").tobytes())
    click = Device([(1.0, np.full(1, 0.9))])
    play(Scene(replace(OPEN_AIR, delay_ms=30, response=path)), click, 2)
    loud = np.flatnonzero(np.abs(np.concatenate(click.heard)) > 1000)
    assert loud.tolist() == [RATE + 480, RATE + 480 + 200]


def test_a_microphone_overdriven_clips() -> None:
    line = Line("a", when=Cue.READY, level_db=40)
    heard = play(Scene(OPEN_AIR, (line,)), Device(), 2).recording.microphone
    assert (heard.max(), heard.min()) == (32_767, -32_768)


# -- live --------------------------------------------------------------------------------


class Counter:
    """Waits for a number of calls."""

    def __init__(self, calls: int) -> None:
        self.times: list[float] = []
        self.done = threading.Event()
        self._calls = calls

    def __call__(self, block: Samples, at: float) -> None:
        self.times.append(at)
        if len(self.times) == self._calls:
            self.done.set()


def test_live_it_runs_by_itself_on_an_even_schedule() -> None:
    heard, played = Counter(20), Counter(20)
    with Room(Scene(), []) as room:
        room.speaker.start(played, pytest.fail)
        room.microphone.start(heard, pytest.fail)
        assert heard.done.wait(60)
        assert played.done.wait(60)
    for times in (heard.times, played.times):
        assert np.diff(times) == pytest.approx(0.01)
    assert room.time_of(160 * 10) - room.time_of(0) == pytest.approx(0.1)


def test_live_a_stall_is_caught_up_and_counted() -> None:
    release = threading.Event()
    heard = Counter(30)

    def stalls(block: Samples, at: float) -> None:
        if len(heard.times) == 5:
            release.wait(0.2)
        heard(block, at)

    with Room(Scene(), []) as room:
        room.microphone.start(stalls, pytest.fail)
        assert heard.done.wait(60)
    assert room.late_steps > 0
    assert np.diff(heard.times) == pytest.approx(0.01)


def test_live_no_call_comes_after_stop() -> None:
    heard = Counter(3)
    with Room(Scene(), []) as room:
        played = Counter(20)
        room.microphone.start(heard, pytest.fail)
        assert heard.done.wait(60)
        room.microphone.stop()
        calls = len(heard.times)
        room.speaker.start(played, pytest.fail)
        assert played.done.wait(60)
        assert len(heard.times) == calls


def test_live_a_callback_that_raises_breaks_the_stream() -> None:
    reasons: list[str] = []
    broken = threading.Event()

    def failed(reason: str) -> None:
        reasons.append(reason)
        broken.set()

    def deliver(block: Samples, at: float) -> None:
        raise ValueError("no")

    with Room(Scene(), []) as room:
        room.microphone.start(deliver, failed)
        assert broken.wait(60)
        assert room.finished.is_set()
    assert reasons == ["the room broke: ValueError: no"]


def test_the_end_of_a_room_that_never_opened() -> None:
    room = Room(Scene(), [])
    close: Callable[[], None] = room.close
    close()
    close()


# -- the end -----------------------------------------------------------------------------


def test_it_is_finished_some_time_after_the_last_answer() -> None:
    room = play(Scene(lines=(Line("a", when=Cue.READY),)), Device([(2.0, speech(2.0))]), 6.5)
    assert room.scene_over
    assert not room.finished.is_set()
    room.advance(0.6)
    assert room.finished.is_set()


def test_without_an_answer_it_waits_longer() -> None:
    room = play(Scene(lines=(Line("a", when=Cue.READY),)), Device(), 8.0)
    assert not room.finished.is_set()
    room.advance(1)
    assert room.finished.is_set()


def test_it_is_not_finished_before_the_last_line() -> None:
    room = play(Scene(lines=(Line("a", at=20.0),)), Device(), 15)
    assert not room.finished.is_set()


def test_it_is_finished_at_the_limit_in_any_case() -> None:
    lines = (Line("a", when=Cue.RINGS),)
    room = play(Scene(lines=lines), Device(), 4.9, limit_s=5)
    assert not room.finished.is_set()
    room.advance(0.2)
    assert room.finished.is_set()
    assert not room.scene_over
