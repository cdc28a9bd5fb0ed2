import numpy as np
import pytest

from edgevoice.stages.clocks import Drift, Mark

BLOCK_S = 0.01


class Clocks:
    """Blocks of 10 ms of both, at times that are wrong by up to ``error_s`` either way."""

    def __init__(self, ppm=0.0, error_s=0.001):
        self.drift = Drift()
        self.ppm = ppm
        self.now = 1000.0
        self.heard = self.played = 0.0
        self.error = lambda: random.uniform(-error_s, error_s)
        random = np.random.default_rng(3)

    def run(self, seconds):
        for _ in range(round(seconds / BLOCK_S)):
            self.now += BLOCK_S
            self.heard += BLOCK_S
            while self.played < (self.now - 1000.0) * (1 + self.ppm / 1e6):
                self.played += BLOCK_S
            at = 1000.0 + self.played / (1 + self.ppm / 1e6)
            self.drift.look(
                Mark(self.heard, self.now + self.error()), Mark(self.played, at + self.error())
            )
        return self.drift.ppm


@pytest.mark.parametrize("ppm", [0.0, 100.0, -300.0])
def test_drift_is_known_within_seconds(ppm):
    clocks = Clocks(ppm)
    assert clocks.run(4.5) is None
    assert clocks.run(1.5) == pytest.approx(ppm, abs=50)
    assert clocks.run(60) == pytest.approx(ppm, abs=2)


def test_a_clock_that_grows_warm_is_followed():
    clocks = Clocks(0.0)
    clocks.run(300)
    clocks.ppm, clocks.played = 30.0, (clocks.now - 1000.0) * (1 + 30e-6)
    assert clocks.run(300) == pytest.approx(30, abs=3)


def test_a_late_callback_is_no_drift():
    clocks = Clocks()
    clocks.run(60)
    clocks.drift.look(Mark(clocks.heard + 0.01, clocks.now + 0.06), clocks.drift._far._newest)
    assert clocks.run(1) == pytest.approx(0, abs=5)


@pytest.mark.parametrize("lost_s", [0.01, 0.1, 60.0])
def test_a_gap_is_no_drift(lost_s):
    clocks = Clocks()
    clocks.run(60)
    clocks.heard -= lost_s
    for _ in range(6):
        assert clocks.run(5) == pytest.approx(0, abs=40)
    assert clocks.run(60) == pytest.approx(0, abs=3)


def test_times_that_cannot_be_are_not_believed():
    assert Clocks(ppm=5000).run(20) is None
