"""Where the echo is found, and how far what was played is held back for it."""

import numpy as np
import pytest

from edgevoice.core.events import RATE
from edgevoice.stages.alignment import Alignment, arrivals
from edgevoice.stages.earcons import earcon

BLOCK = 320


def sound(seconds, seed, rms=0.1):
    """Noise that swells and falls as syllables do."""
    n = round(seconds * RATE)
    swell = 0.5 + 0.5 * np.sin(2 * np.pi * 4 * np.arange(n) / RATE)
    return np.random.default_rng(seed).normal(0, rms * 32768, n) * swell


def heard(far, delay_ms, share=0.3, others=0.003):
    late = np.concatenate((np.zeros(delay_ms * RATE // 1000), far))[: len(far)]
    return share * late + np.random.default_rng(9).normal(0, others * 32768, len(far))


def run(alignment, near, far):
    """The reference as the cancellers get it."""
    near, far = np.rint(near).astype(np.int16), np.rint(far).astype(np.int16)
    blocks = range(0, len(far) - BLOCK + 1, BLOCK)
    return np.concatenate(
        [alignment.align(near[at : at + BLOCK], far[at : at + BLOCK]) for at in blocks]
    )


@pytest.mark.parametrize("delay_ms", [0, 20, 40, 300])
def test_what_the_cancellers_find_themselves_is_left_to_them(delay_ms):
    alignment, far = Alignment(), sound(4, 1)
    reference = run(alignment, heard(far, delay_ms), far)
    assert (alignment.moved, alignment.held_back) == (1, 0)
    assert alignment.found == pytest.approx(delay_ms * RATE / 1000, abs=16)
    assert np.array_equal(reference, np.rint(far).astype(np.int16))


@pytest.mark.parametrize("delay_ms", [400, 570, 900, 1400])
def test_for_a_later_echo_the_reference_is_held_back_to_just_before_it(delay_ms):
    alignment, far = Alignment(), sound(5, 1)
    near = heard(far, delay_ms)
    reference = run(alignment, near, far)
    assert alignment.moved == 1
    assert alignment.held_back == pytest.approx((delay_ms - 60) * RATE / 1000, abs=16)
    found = np.argmax(arrivals(near[-RATE:], reference[-RATE:], range(RATE // 2)))
    assert found == pytest.approx(60 * RATE / 1000, abs=16)


@pytest.mark.parametrize(("before", "after", "held_back"), [(40, 160, 0), (40, 700, 640)])
def test_an_echo_that_jumps_is_noticed_within_a_second_of_it(before, after, held_back):
    alignment = Alignment()
    for delay_ms, seconds, moved in ((before, 3, 1), (after, after / 1000 + 1, 2)):
        far = sound(seconds, 2)
        run(alignment, heard(far, delay_ms), far)
        assert alignment.moved == moved
    assert alignment.held_back == pytest.approx(held_back * RATE / 1000, abs=16)


def test_an_echo_that_comes_sooner_again_is_met_again():
    alignment = Alignment()
    for delay_ms in (700, 40):
        far = sound(4, 3)
        run(alignment, heard(far, delay_ms), far)
    assert alignment.held_back == 0


def test_an_echo_that_drifts_has_not_moved():
    alignment, far = Alignment(), sound(20, 4)
    at = np.arange(len(far)) * (1 - 300e-6)
    run(alignment, heard(np.interp(at, np.arange(len(far)), far), 100), far)
    assert alignment.moved == 1


def test_whoever_speaks_over_the_device_is_no_echo():
    alignment, far = Alignment(), sound(6, 5)
    run(alignment, heard(far, 40) + sound(6, 6, rms=0.2), far)
    assert (alignment.moved, alignment.held_back) == (1, 0)


def test_what_is_said_twice_is_met_by_its_own_echo():
    alignment = Alignment()
    far = np.tile(sound(0.7, 7), 6)
    run(alignment, heard(far, 400, share=0.0), far)
    run(alignment, heard(far, 400), far)
    assert alignment.held_back == pytest.approx(340 * RATE / 1000, abs=16)


def test_of_two_ways_through_the_room_it_is_the_one_found_before():
    alignment, far = Alignment(), sound(3, 8)
    run(alignment, heard(far, 90), far)
    run(alignment, heard(far, 40) + heard(far, 90), far)
    assert alignment.moved == 1


@pytest.mark.parametrize("delay_ms", [40, 250, 600])
def test_an_alarm_that_rings_tells_nothing_of_its_echo(delay_ms):
    alignment = Alignment()
    far = np.tile(np.concatenate((earcon("alarm", RATE), np.zeros(RATE // 2))), 6)
    run(alignment, heard(far, delay_ms), far)
    assert (alignment.moved, alignment.held_back) == (0, 0)


def test_nothing_is_sought_in_silence(monkeypatch):
    monkeypatch.setattr("edgevoice.stages.alignment.arrivals", lambda *_: pytest.fail("it looked"))
    silence = np.zeros(3 * RATE)
    run(Alignment(), silence, silence)
    run(Alignment(), sound(3, 1), silence)
