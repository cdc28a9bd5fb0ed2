from dataclasses import replace

import numpy as np
import pytest

from edgevoice.core.events import RATE
from edgevoice.stages.soundcheck import Drift, SoundCheck, SoundCounts

BLOCK = 160


def run(drift: Drift, seconds: float, ppm: float, jitter: int = 0) -> None:
    """Blocks of 10 ms of a microphone, and what a speaker of a faster clock plays meanwhile."""
    lumps = np.random.default_rng(3)
    played = 0
    for heard in range(BLOCK, int(seconds * RATE), BLOCK):
        due = int(heard * (1 + ppm / 1e6)) + int(lumps.integers(-jitter, jitter + 1))
        due -= due % BLOCK if jitter else 0
        drift.add(BLOCK, max(0, due - played))
        played = max(played, due)


@pytest.mark.parametrize("ppm", [0.0, 100.0, -37.0])
def test_drift_is_measured(ppm):
    drift = Drift()
    run(drift, 120, ppm)
    assert drift.ppm == pytest.approx(ppm, abs=1)


def test_drift_is_measured_through_the_lumps_of_two_callbacks():
    drift = Drift()
    run(drift, 300, 80, jitter=400)
    assert drift.ppm == pytest.approx(80, abs=15)


def test_drift_is_unknown_for_a_minute():
    drift = Drift()
    run(drift, 59, 100)
    assert drift.ppm is None


def test_a_gap_is_no_drift():
    drift = Drift()
    run(drift, 40, 0)
    drift.add(0, RATE)  # the microphone was closed for a second
    run(drift, 90, 0)
    assert drift.ppm == pytest.approx(0, abs=1)


def test_the_last_minutes_count():
    drift = Drift()
    run(drift, 1201, 100)
    run(drift, 599, -100)
    assert drift.ppm == pytest.approx(-100, abs=1)


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
