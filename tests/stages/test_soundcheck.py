from dataclasses import replace

from edgevoice.stages.soundcheck import SoundCheck, SoundCounts


class Bench:
    def __init__(self):
        self.counts = SoundCounts()
        self.told = []
        self.check = SoundCheck(lambda: self.counts, lambda what, fields: self.told.append(fields))

    def look(self, now, **counts):
        self.counts = replace(self.counts, **counts)
        self.check.look(now)
        told, self.told[:] = list(self.told), []
        return told


def test_what_has_grown_is_told():
    bench = Bench()
    assert bench.look(0.0) == []
    assert bench.look(1.0, microphone_xruns=3) == [{"microphone_xruns": 3}]


def test_once_a_minute_and_nothing_is_forgotten():
    bench = Bench()
    bench.look(0.0, speaker_xruns=1)
    assert bench.look(59.9, speaker_xruns=2, starved=1) == []
    assert bench.look(60.0, speaker_xruns=4) == [{"speaker_xruns": 3, "starved": 1}]
    assert bench.look(200.0) == []


def test_drift_is_told_when_it_matters():
    bench = Bench()
    assert bench.look(0.0, drift_ppm=20.0) == []
    assert bench.look(100.0, drift_ppm=80.4) == [{"drift_ppm": 80}]
    assert bench.look(200.0, drift_ppm=90.0) == []


def test_the_echo_is_told_once_it_is_known_and_when_it_changes():
    bench = Bench()
    known = {"echo_delay_ms": 41.3, "echo_left_db": -31.0}
    assert bench.look(0.0, **known) == [{"echo_delay_ms": 41, "echo_left_db": -31}]
    assert bench.look(100.0, echo_left_db=-28.0) == []
    assert bench.look(200.0, echo_left_db=-12.0) == [{"echo_left_db": -12}]
