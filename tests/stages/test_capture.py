from collections.abc import Sequence

import numpy as np
import pytest

from edgevoice.adapters.follower import ClockFollower
from edgevoice.adapters.resample import SoxrResampler
from edgevoice.core import events as ev
from edgevoice.ports import FRAME
from edgevoice.stages.capture import Capture, Heard, Reference


class HandMicrophone:
    xruns = 0

    def __init__(self, rate=16000):
        self.rate = rate

    def start(self, deliver, failed):
        self.deliver, self.failed = deliver, failed

    def stop(self):
        pass


class Bench:
    def __init__(self, rate=16000, speaker_rate=16000):
        self.lumps: list[Sequence[Heard]] = []
        self.events = []
        self.reference = Reference()
        self.reference.rate = speaker_rate
        self.microphone = HandMicrophone(rate)
        self.capture = Capture(
            self.events.append,
            self.microphone,
            self.reference,
            SoxrResampler.live,
            self.lumps.append,
            follower=ClockFollower(),
        )
        self.capture.open()
        self.played = 0

    @property
    def heard(self) -> list[Heard]:
        return [pair for lump in self.lumps for pair in lump]

    def play(self, samples, at=0.0):
        self.played += len(samples)
        self.reference.write(np.asarray(samples, np.int16), at)

    def hear(self, samples, at=0.0):
        self.microphone.deliver(np.asarray(samples, np.int16), at)
        self.capture.idle()


def test_frames_are_ten_milliseconds_and_counted_in_samples():
    bench = Bench()
    bench.hear(np.arange(250), at=1.0)
    bench.hear(np.arange(250, 480), at=1.1)
    assert [h.end for h in bench.heard] == [160, 320, 480]
    assert np.concatenate([h.near for h in bench.heard]).tolist() == list(range(480))


def test_each_frame_knows_when_its_last_sample_was_heard():
    bench = Bench()
    bench.hear(np.zeros(480), at=2.0)
    assert [round(h.at, 6) for h in bench.heard] == [1.98, 1.99, 2.0]


def test_the_reference_of_a_frame_is_what_was_played_with_it():
    bench = Bench()
    for _ in range(20):
        bench.play(np.zeros(FRAME))
        bench.hear(np.zeros(FRAME))
    bench.play(np.full(FRAME, 5))
    bench.hear(np.full(FRAME, 5))
    for _ in range(3):
        bench.play(np.zeros(FRAME))
        bench.hear(np.zeros(FRAME))
    near = np.concatenate([h.near for h in bench.heard])
    far = np.concatenate([h.far for h in bench.heard])
    late = np.argmax(far) - np.argmax(near)
    assert FRAME < late <= 3 * FRAME  # a frame for want of a lead, a spare one, and 1 ms


def test_one_gap_is_enough():
    """A block that comes late, and later one that comes later still."""
    bench = Bench()
    for i in range(1, 100):
        lead = (1 - (i >= 20) - (i >= 40)) * FRAME
        bench.play(np.full(i * FRAME + lead - bench.played, 1000))
        bench.hear(np.zeros(FRAME))
    silent = np.flatnonzero(np.concatenate([h.far for h in bench.heard])[FRAME:] == 0)
    assert len(silent) == 2 * FRAME
    assert silent[-1] < 25 * FRAME


def test_a_silent_speaker_is_silence_not_a_stall():
    bench = Bench()
    bench.hear(np.zeros(FRAME))
    assert not bench.heard[0].far.any()


def test_a_reference_that_ran_ahead_is_cut_back_and_counted():
    bench = Bench()
    for value in range(30):
        bench.play(np.full(FRAME, value, np.int16))
    bench.hear(np.zeros(FRAME))
    assert bench.capture.realigned == 1
    assert bench.heard[0].far[80] == 29


def test_other_rates_are_brought_to_16_khz():
    bench = Bench(rate=48000, speaker_rate=22050)
    for i in range(100):
        bench.play(np.full(220 + i % 2, 5000, np.int16))
        bench.hear(np.full(480, 3000))
    frames = bench.heard[20:]
    assert 90 <= len(bench.heard) <= 100
    assert all(abs(int(h.near.mean()) - 3000) < 30 for h in frames)
    right = [h for h in frames if abs(int(h.far.mean()) - 5000) < 50]
    assert len(right) >= len(frames) - 2  # one gap while the lumps of two resamplers settle


def test_a_microphone_that_breaks_is_a_lost_device():
    bench = Bench()
    bench.microphone.failed("unplugged")
    (lost,) = bench.events
    assert isinstance(lost, ev.DeviceLost)
    assert lost.device is ev.Device.MICROPHONE


def test_the_reference_follows_the_clock_of_the_microphone():
    """A tone of the drifting loudspeaker, for a minute: the reference keeps its pitch and phase."""
    bench, drift = Bench(), 1 + 200e-6
    frequency = 2 * np.pi * 440 / 16000
    for step in range(1, 6001):
        while bench.played < (step + 2) * FRAME * drift:
            block = 10_000 * np.sin(frequency / drift * (bench.played + np.arange(FRAME)))
            bench.play(block, bench.played / drift / 16000)
        bench.hear(np.zeros(FRAME), step * 0.01)
    assert bench.capture.drift.ppm == pytest.approx(200, abs=1)
    far = np.concatenate([h.far for h in bench.heard[3000:]])
    wave = np.exp(1j * frequency * np.arange(len(far)))
    phases = np.angle((far * wave).reshape(-1, 100 * FRAME).sum(axis=1))
    assert np.ptp(np.unwrap(phases)) < frequency  # a sample
    assert bench.capture.realigned == 0


def test_what_was_played_while_the_microphone_was_closed_is_forgotten():
    bench = Bench()
    for _ in range(100):
        bench.play(np.full(FRAME, 7, np.int16))
    bench.capture.open()
    bench.play(np.full(2 * FRAME, 8, np.int16))
    bench.hear(np.zeros(FRAME))
    assert bench.heard[0].far[80] == 8
    assert bench.capture.realigned == 0


def test_while_nobody_waits_eight_blocks_are_passed_on_at_once(monkeypatch):
    bench = Bench()
    roused = []
    monkeypatch.setattr(bench.capture._wakeup, "rouse", lambda: roused.append(True))
    bench.capture.unhurried = True
    for _ in range(7):
        bench.microphone.deliver(np.zeros(FRAME, np.int16), 0.0)
    assert roused == []
    bench.microphone.deliver(np.zeros(FRAME, np.int16), 0.0)
    assert roused == [True]
    bench.capture.idle()
    assert [len(lump) for lump in bench.lumps] == [8]
    bench.capture.unhurried = False
    bench.microphone.deliver(np.zeros(FRAME, np.int16), 0.0)
    assert roused == [True, True]
