"""Which canceller is believed, and how much echo is said to be left."""

import numpy as np
import pytest

from edgevoice.ports import EchoFiltered
from edgevoice.stages.alignment import Alignment
from edgevoice.stages.echo import EchoControl, power

BLOCK = 320
FIELDS = ("samples", "clean")


class Flat:
    def process(self, near):
        return near


class Suppressor:
    """Nothing is left of anything."""

    def process(self, near, far):
        assert len(near) == len(far) == 160
        return np.zeros_like(near)


class Filter:
    """Leaves ``share`` of an echo that is the reference itself."""

    block = BLOCK
    delay_ms = 0.0

    def __init__(self, share):
        self.share = share
        self.forgot = 0

    def forget(self):
        self.forgot += 1

    def process(self, near, far):
        left = near - far + np.rint(self.share * far).astype(np.int16)
        return EchoFiltered(left, power(far) ** 0.5)


def noise(rms, seed):
    return np.rint(np.random.default_rng(seed).normal(0, rms * 32768, BLOCK)).astype(np.int16)


def listen(control, blocks, talker=lambda i: np.zeros(BLOCK, np.int16), heard=1.0):
    """What is believed while noise plays of which the microphone hears a share."""
    for i in range(blocks):
        far = noise(0.1, i) if i % 3 else np.zeros(BLOCK, np.int16)
        yield control.process(np.rint(heard * far).astype(np.int16) + talker(i), far)


def test_a_filter_that_does_well_is_believed_and_leaves_the_talker_whole():
    control = EchoControl(Suppressor(), Filter(0.01), Flat())
    *_, _last = listen(control, 300)
    *_, (near, suppressed) = listen(control, 5, lambda i: noise(0.05, 1000 + i))
    assert not suppressed.any()
    assert power(near.samples) ** 0.5 == pytest.approx(0.05, rel=0.2)


def test_what_is_left_of_the_echo_is_turned_down():
    control = EchoControl(Suppressor(), Filter(0.02), Flat())
    heard = [near for near, _ in listen(control, 600)][400:]
    whole, clean = ([power(getattr(each, which)) for each in heard] for which in FIELDS)
    assert np.mean(clean) < 0.5 * np.mean(whole)


def test_silence_without_an_echo_is_left_as_it_is():
    control = EchoControl(Suppressor(), Filter(0.01), Flat())
    for _ in listen(control, 300):
        pass
    for i in range(100):
        hum = noise(0.001, i)
        near, _ = control.process(hum, np.zeros(BLOCK, np.int16))
    assert near.clean is near.samples


class Found(Alignment):
    """Knows where the echo is, and that it has moved when it is told so."""

    def __init__(self):
        super().__init__()
        self.found = 0

    def align(self, near, far):
        return far


def test_in_its_first_second_of_echo_nobody_can_be_told_from_the_device():
    control = EchoControl(Suppressor(), Filter(0.01), Flat(), Found())
    silence = np.zeros(BLOCK, np.int16)
    near, suppressed = control.process(silence, silence)
    assert near.samples is suppressed
    assert near.leak == 0.0, "silence is no echo"
    leaks = [near.leak for near, _ in listen(control, 130)]
    assert leaks[40] == 1.0
    assert max(leaks[46:]) < 1.0, "two of three blocks have an echo"


def played(control, blocks, heard=1.0):
    """The same with a microphone that hisses."""
    return (near for near, _ in listen(control, blocks, lambda i: noise(0.001, i), heard))


def test_what_nobody_hears_teaches_nothing():
    control = EchoControl(Suppressor(), Filter(0.01), Flat(), Found())
    *_, unheard = played(control, 150, heard=0.0)
    assert unheard.leak == 1.0
    *_, heard = played(control, 40)
    assert heard.leak == 1.0
    *_, known = played(control, 10)
    assert known.leak < 1.0


def test_the_hiss_of_a_microphone_that_has_just_been_plugged_in_is_no_echo():
    control = EchoControl(Suppressor(), Filter(0.01), Flat(), Found())
    silence = np.zeros(BLOCK, np.int16)
    for _ in range(20):
        control.process(silence, silence)
    *_, hiss = played(control, 60, heard=0.0)
    assert hiss.leak == 1.0


def test_where_others_cancel_the_echo_there_is_nothing_to_learn():
    control = EchoControl(Suppressor(), Filter(0.01), Flat())
    assert all(near.leak < 1.0 for near in played(control, 20))


class Leaking(Suppressor):
    """Leaves a share of everything."""

    share = 0.5

    def process(self, near, far):
        return np.rint(self.share * near).astype(np.int16)


def test_what_is_not_taken_away_is_not_learned():
    suppressor = Leaking()
    control = EchoControl(suppressor, Filter(0.5), Flat(), Found())
    *_, near = played(control, 150)
    assert near.leak == 1.0
    suppressor.share = 0.2
    *_, near = played(control, 50)
    assert near.leak < 1.0


def test_a_device_that_is_never_heard_can_be_interrupted_all_the_same():
    control = EchoControl(Suppressor(), Filter(0.01), Flat(), Found())
    *_, near = played(control, 260, heard=0.0)
    assert near.leak < 1.0


def test_what_is_taken_away_before_an_echo_was_found_teaches_nothing():
    alignment = Found()
    alignment.found = None
    control = EchoControl(Suppressor(), Filter(0.01), Flat(), alignment)
    *_, near = played(control, 100)
    assert near.leak == 1.0
    alignment.found = 0
    *_, near = played(control, 50)
    assert near.leak < 1.0


def test_an_echo_that_has_moved_is_learned_again():
    alignment, linear = Found(), Filter(0.01)
    control = EchoControl(Suppressor(), linear, Flat(), alignment)
    alignment.found, alignment.moved = 8000, 1
    *_, (near, _) = listen(control, 300)
    assert near.leak < 1.0
    assert control.delay_ms == 500
    alignment.moved = 2
    next(listen(control, 1))
    assert linear.forgot == 2
    assert control.left_db > -5, "what was known of it is forgotten"
    leaks = [near.leak for near, _ in listen(control, 130)]
    assert leaks[:42] == [1.0] * 42
    assert max(leaks[46:]) < 1.0


def test_an_echo_that_was_learned_before_it_was_found_is_not_learned_again():
    alignment, linear = Found(), Filter(0.01)
    control = EchoControl(Suppressor(), linear, Flat(), alignment)
    for _ in listen(control, 300):
        pass
    alignment.found, alignment.moved = 640, 1
    next(listen(control, 1))
    assert control.left_db < -14
    assert not linear.forgot


def test_a_filter_that_does_badly_is_not_believed():
    control = EchoControl(Suppressor(), Filter(0.5), Flat())
    *_, (near, suppressed) = listen(control, 600)
    assert control.left_db == pytest.approx(-6, abs=2)
    assert near.samples is suppressed


def test_a_filter_that_loses_the_path_loses_its_credit():
    linear = Filter(0.01)
    control = EchoControl(Suppressor(), linear, Flat())
    *_, (near, suppressed) = listen(control, 300)
    assert near.samples is not suppressed
    linear.share = 0.9
    *_, (near, suppressed) = listen(control, 600)
    assert near.samples is suppressed


def test_what_is_left_of_an_echo_stays_below_the_leak():
    control = EchoControl(Suppressor(), Filter(0.03), Flat())
    blocks = [near for near, _ in listen(control, 600)][300:]
    over = [power(near.samples) ** 0.5 > near.leak for near in blocks]
    assert not any(over)
    assert max(near.leak for near in blocks) < 0.1, "or nobody would ever be heard"


def test_the_leak_fades_with_the_echo_in_the_room():
    control = EchoControl(Suppressor(), Filter(0.03), Flat())
    *_, (during, _) = listen(control, 300)
    silence = np.zeros(BLOCK, np.int16)
    after = [control.process(silence, silence)[0].leak for _ in range(50)]
    assert during.leak > after[5] > after[15] > 0
    assert after[-1] < 0.002


def test_those_who_speak_over_the_device_hardly_change_the_verdict():
    quiet = EchoControl(Suppressor(), Filter(0.03), Flat())
    *_, _last = listen(quiet, 600)
    talked = EchoControl(Suppressor(), Filter(0.03), Flat())

    def now_and_then(i):
        return noise(0.05, 1000 + i) if i % 100 < 30 else np.zeros(BLOCK, np.int16)

    *_, (near, suppressed) = listen(talked, 600, now_and_then)
    assert near.samples is not suppressed
    assert talked.left_db < quiet.left_db + 12


class Stumbling(Filter):
    """Predicts, every few blocks, what is not there."""

    def __init__(self):
        super().__init__(0.01)
        self._blocks = 0

    def process(self, near, far):
        self._blocks += 1
        if self._blocks % 8:
            return super().process(near, far)
        return EchoFiltered(near - 3 * far, power(far) ** 0.5)


def test_a_filter_that_now_and_then_leaves_more_than_the_echo_is_not_believed():
    control = EchoControl(Suppressor(), Stumbling(), Flat())
    heard = list(listen(control, 600))[400:]
    assert control.left_db < -14
    assert all(near.leak == 0.0 for near, _ in heard)
    assert all(np.array_equal(near.samples, suppressed) for near, suppressed in heard)
