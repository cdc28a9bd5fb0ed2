import numpy as np

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
        self.heard: list[Heard] = []
        self.events = []
        self.reference = Reference()
        self.reference.rate = speaker_rate
        self.microphone = HandMicrophone(rate)
        self.capture = Capture(
            self.events.append,
            self.microphone,
            self.reference,
            SoxrResampler.live,
            self.heard.append,
        )
        self.capture.open()

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
    for value in (1, 2, 3):
        bench.reference.write(np.full(FRAME, value, np.int16))
        bench.hear(np.zeros(FRAME))
    assert [h.far[0] for h in bench.heard] == [1, 2, 3]


def test_a_silent_speaker_is_silence_not_a_stall():
    bench = Bench()
    bench.hear(np.zeros(FRAME))
    assert not bench.heard[0].far.any()


def test_a_reference_that_ran_ahead_is_cut_back_and_counted():
    bench = Bench()
    for value in range(30):
        bench.reference.write(np.full(FRAME, value, np.int16))
    bench.hear(np.zeros(FRAME))
    assert bench.capture.realigned == 1
    assert bench.heard[0].far[0] == 29


def test_other_rates_are_brought_to_16_khz():
    bench = Bench(rate=48000, speaker_rate=22050)
    for i in range(100):
        bench.reference.write(np.full(220 + i % 2, 5000, np.int16))
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


def test_the_drift_of_the_two_clocks_is_measured():
    bench = Bench()
    played = 0
    for heard in range(FRAME, 70 * 16000, FRAME):
        due = int(heard * 1.0002)
        bench.reference.write(np.zeros(due - played, np.int16))
        played = due
        bench.hear(np.zeros(FRAME))
        bench.heard.clear()
    assert round(bench.capture.drift.ppm) == 200
    bench.capture.open()
    assert bench.capture.drift._near == 0


def test_what_was_played_while_the_microphone_was_closed_is_forgotten():
    bench = Bench()
    for _ in range(100):
        bench.reference.write(np.full(FRAME, 7, np.int16))
    bench.capture.open()
    bench.reference.write(np.full(FRAME, 8, np.int16))
    bench.hear(np.zeros(FRAME))
    assert bench.heard[0].far[0] == 8
    assert bench.capture.realigned == 0
