"""The way of sound: measured in a simulated room, over a virtual card, and judged."""

from dataclasses import replace

import numpy as np
import pytest

from edgevoice.adapters.alsa import AlsaMicrophone, AlsaSpeaker
from edgevoice.adapters.resample import SoxrResampler
from edgevoice.core.events import RATE
from edgevoice.engines import Workshop
from edgevoice.errors import DeviceError
from edgevoice.settings.schema import Settings
from edgevoice.system.doctor.finding import Verdict
from edgevoice.system.doctor.sound import (
    Air,
    Loop,
    cancelled,
    delay_ms,
    judge,
    level_db,
    measure,
    noise,
)
from tests.test_app import no_echo

GOOD = Loop(quiet_db=-60.0, echo_db=-30.0, delay_ms=60.0, erle_db=25.0, clipped=0.0)


@pytest.mark.parametrize("delay", [0, 1, 160, 960, 4000, -80])
def test_the_delay_is_found_to_the_sample(delay):
    far = noise(1.0)
    room = np.random.default_rng(1).normal(0, 300, len(far))
    near = (np.roll(far, delay) * 0.3 + room).astype(np.int16)
    assert delay_ms(near, far) == pytest.approx(delay * 1000 / RATE, abs=0.1)


def test_the_real_canceller_takes_the_echo_away():
    far = noise(5.0)
    near = (np.roll(far, 800) * 0.3).astype(np.int16)
    left = np.concatenate(list(cancelled(Workshop(Settings()).echo(), near, far)))
    kept = np.concatenate(list(cancelled(no_echo(), near, far)))
    last = slice(-RATE, None)
    assert level_db(near[last]) - level_db(left[last]) > 12
    assert level_db(near[last]) == pytest.approx(level_db(kept[last]))


def test_noise_is_always_the_same_and_as_loud_as_said():
    assert np.array_equal(noise(1.0), noise(1.0))
    assert level_db(noise(2.0)) == pytest.approx(-20, abs=0.3)


def test_levels():
    assert level_db(np.zeros(100, np.int16)) == -120
    assert level_db(np.zeros(0, np.int16)) == -120
    assert level_db(np.full(100, 32767, np.int16)) == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(
    ("changed", "check", "verdict"),
    [
        ({}, "microphone", Verdict.OK),
        ({"quiet_db": -120.0, "echo_db": -119.0}, "microphone", Verdict.FAIL),
        ({"quiet_db": -120.0}, "microphone", Verdict.OK),
        ({"quiet_db": -35.0, "echo_db": -10.0}, "microphone", Verdict.WARN),
        ({"clipped": 0.01}, "microphone", Verdict.FAIL),
        ({"echo_db": -58.0}, "echo", Verdict.WARN),
        ({"erle_db": 5.0}, "echo", Verdict.WARN),
        ({"delay_ms": 400.0}, "loop delay", Verdict.WARN),
        ({}, "loop delay", Verdict.OK),
        ({}, "echo", Verdict.OK),
    ],
)
def test_what_it_means(changed, check, verdict):
    (finding,) = [f for f in judge(replace(GOOD, **changed)) if f.check == check]
    assert finding.verdict is verdict
    assert bool(finding.todo) is (verdict is not Verdict.OK)


def test_an_echo_that_is_not_heard_is_not_measured():
    findings = list(judge(replace(GOOD, echo_db=-59.0)))
    assert [f.check for f in findings] == ["microphone", "echo"]


class Dead:
    rate = RATE

    def start(self, callback, failed):
        pass

    def stop(self):
        pass


def test_a_microphone_that_delivers_nothing(monkeypatch):
    monkeypatch.setattr("edgevoice.system.doctor.sound._LATE_S", 0.01)
    with (
        Air(Dead(), Dead(), SoxrResampler.live) as air,
        pytest.raises(DeviceError, match="delivers no sound"),
    ):
        air.record(0.01)


def test_a_speaker_is_closed_when_the_microphone_does_not_open():
    closed = []

    class Speaker(Dead):
        def stop(self):
            closed.append("speaker")

    class Microphone(Dead):
        def start(self, callback, failed):
            raise DeviceError("no microphone", "plug one in")

    with pytest.raises(DeviceError, match="no microphone"):
        Air(Microphone(), Speaker(), SoxrResampler.live).__enter__()
    assert closed == ["speaker"]


@pytest.mark.audio
def test_delay_and_echo_over_a_card(card):
    """What the loudspeaker plays is what the microphone hears, as late as the card is."""
    with Air(AlsaMicrophone("evmonitor"), AlsaSpeaker("evspk"), SoxrResampler.live) as air:
        loop = measure(air, Workshop(Settings()).echo(), volume=0.5)
    assert loop.echo_db == pytest.approx(-26, abs=3)
    assert loop.is_heard
    assert loop.clipped == 0
    assert loop.erle_db > 6
