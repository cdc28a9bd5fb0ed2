"""Whose turn it is: the talker's script against what the device does."""

from __future__ import annotations

import numpy as np
import pytest

from edgevoice.adapters.room_cues import HELD_S, PATIENCE_S, LoudspeakerWatch, Script
from edgevoice.adapters.scene import Cue, Expect, Line
from edgevoice.adapters.talker import Utterance

RATE = 16_000
BLOCK = 160
LINE_S = 0.5


class Stage:
    """Lets time pass: the device sounds in given spans of seconds, the talker follows."""

    def __init__(self, lines: list[Line], sounds: list[tuple[float, float]]) -> None:
        size = round(LINE_S * RATE)
        spoken = [Utterance(line.say, np.ones(size), 0, size) for line in lines]
        self.watch = LoudspeakerWatch(RATE)
        self.script = Script(lines, spoken, self.watch)
        self._sounds = sounds

    def run(self, seconds: float) -> list[float]:
        """Go on to this time; when each line has begun."""
        if self.script.ready is None:
            self.script.ready = self.watch.now
        while self.watch.now < seconds * RATE:
            time = (self.watch.now + np.arange(BLOCK)) / RATE
            sound = np.zeros(BLOCK)
            for start, end in self._sounds:
                sound[(time >= start - 1e-9) & (time < end - 1e-9)] = 0.1
            self.watch.hear(sound)
            due = self.script.due()
            if due is not None and due.onset < self.watch.now:
                self.script.say(due, -26.0)
        return [said.start / RATE for said in self.script.said]


def line(when: Cue, plus_ms: float = 0, expect: Expect = Expect.TURN) -> Line:
    return Line("x", when=when, plus_ms=plus_ms, expect=expect)


ASK = line(Cue.READY)
EARCON = (0.7, 0.9)
ANSWER = (2.003, 5.007)


def spans(watch: LoudspeakerWatch) -> list[tuple[float, float]]:
    return [(each.start / RATE, each.end / RATE) for each in watch.speech]


def test_speech_is_dated_back_to_its_first_sample_and_earcons_are_none() -> None:
    stage = Stage([], [EARCON, ANSWER])
    stage.run(8)
    assert spans(stage.watch) == [pytest.approx(ANSWER)]


def test_short_pauses_do_not_end_speech_and_long_ones_do() -> None:
    stage = Stage([], [(1, 2), (2.4, 3), (3.6, 4.6)])
    stage.run(6)
    assert spans(stage.watch) == [pytest.approx((1, 3)), pytest.approx((3.6, 4.6))]


def test_nothing_is_said_before_the_device_is_ready() -> None:
    stage = Stage([ASK], [])
    stage.watch.hear(np.zeros(BLOCK))
    assert stage.script.due() is None
    assert stage.run(1) == [pytest.approx(0.01)]


def test_times_count_from_readiness() -> None:
    stage = Stage([Line("x", at=1.5, plus_ms=250)], [])
    for _ in range(100):
        stage.watch.hear(np.zeros(BLOCK))
    assert stage.run(5) == [pytest.approx(2.75)]


def test_lines_do_not_overlap_and_keep_their_order() -> None:
    stage = Stage([Line("a", at=1.0), Line("b", at=1.2), Line("c", at=0.1)], [])
    assert stage.run(5) == pytest.approx([1.0, 1.5, 2.0])


def test_a_line_after_the_device_starts_counts_from_the_real_onset() -> None:
    stage = Stage([ASK, line(Cue.DEVICE_STARTS, 800)], [EARCON, ANSWER])
    assert stage.run(8)[1] == pytest.approx(ANSWER[0] + 0.8)


def test_without_a_delay_it_comes_once_speech_is_known_to_be_speech() -> None:
    stage = Stage([ASK, line(Cue.DEVICE_STARTS)], [ANSWER])
    assert stage.run(8)[1] == pytest.approx(ANSWER[0] + 0.25, abs=0.02)


def test_a_line_after_the_device_ends_counts_from_the_real_end() -> None:
    stage = Stage([ASK, line(Cue.DEVICE_ENDS, 900)], [EARCON, ANSWER])
    assert stage.run(8)[1] == pytest.approx(ANSWER[1] + 0.9)


def test_a_device_that_goes_on_after_a_pause_has_not_ended() -> None:
    stage = Stage([ASK, line(Cue.DEVICE_ENDS)], [(2, 3), (3.4, 5)])
    assert stage.run(8)[1] == pytest.approx(5.5, abs=0.01)


def test_the_end_of_the_last_answer_is_not_the_end_of_this_one() -> None:
    lines = [ASK, line(Cue.DEVICE_ENDS, 600), line(Cue.DEVICE_ENDS, 600)]
    stage = Stage(lines, [(2, 3), (7, 8)])
    assert stage.run(10)[1:] == pytest.approx([3.6, 8.6])


def test_an_interruption_waits_for_the_answer_to_itself() -> None:
    lines = [ASK, line(Cue.DEVICE_STARTS, 1000, Expect.INTERRUPTS), line(Cue.DEVICE_ENDS, 600)]
    # The device stops late, after the interruption is over, and answers it at 6 s.
    stage = Stage(lines, [(2, 3.7), (6, 8)])
    assert stage.run(10)[1:] == pytest.approx([3.0, 8.6])


def test_ignored_lines_over_one_answer_count_from_its_start_even_when_it_was_held() -> None:
    nod = line(Cue.DEVICE_STARTS, 1000, Expect.IGNORED)
    lines = [ASK, nod, line(Cue.DEVICE_STARTS, 5000, Expect.STOPS)]
    stage = Stage(lines, [(2, 3.1), (4, 9)])
    assert stage.run(10)[1:] == pytest.approx([3.0, 7.0])


def test_after_an_ignored_line_a_held_answer_has_not_ended() -> None:
    lines = [ASK, line(Cue.DEVICE_STARTS, 1000, Expect.IGNORED), line(Cue.DEVICE_ENDS, 600)]
    stage = Stage(lines, [(2, 3.1), (4.2, 6)])
    assert stage.run(10)[1:] == pytest.approx([3.0, 6.6])


def test_a_device_that_was_stopped_has_ended() -> None:
    lines = [ASK, line(Cue.DEVICE_STARTS, 1000, Expect.STOPS), line(Cue.DEVICE_ENDS)]
    stage = Stage(lines, [(2, 3.2)])
    assert stage.run(10)[2] == pytest.approx(3.0 + LINE_S + HELD_S, abs=0.02)


@pytest.mark.parametrize(("when", "begins"), [(Cue.DEVICE_STARTS, 3.6), (Cue.DEVICE_ENDS, 4.6)])
def test_a_long_earcon_in_the_middle_of_a_line_is_no_answer(when: Cue, begins: float) -> None:
    stage = Stage([ASK, line(when, 600)], [(0.1, 0.45), (3, 4)])
    assert stage.run(8)[1] == pytest.approx(begins)


def test_a_talker_who_gets_no_answer_loses_patience() -> None:
    stage = Stage([ASK, line(Cue.DEVICE_ENDS)], [EARCON])
    assert stage.run(LINE_S + PATIENCE_S - 0.1) == [0.0]
    assert len(stage.run(LINE_S + PATIENCE_S + 0.1)) == 2
    assert [said.cued for said in stage.script.said] == [True, False]


def test_ringing_is_waited_for_without_end_and_speech_is_none() -> None:
    beeps = [(40 + beat * 0.4, 40.15 + beat * 0.4) for beat in range(6)]
    stage = Stage([ASK, line(Cue.RINGS, 1500, Expect.STOPS)], [ANSWER, *beeps])
    assert stage.run(44)[1] == pytest.approx(41.5)


def test_syllables_before_speech_is_known_are_no_alarm() -> None:
    stage = Stage([], [(2, 2.05), (2.11, 2.16), (2.22, 3)])
    stage.run(6)
    assert stage.watch.alarms == []
    assert len(stage.watch.speech) == 1


def test_answered_tells_whether_more_is_to_come() -> None:
    stage = Stage([ASK], [ANSWER])
    stage.run(1)
    assert stage.script.over
    assert not stage.script.answered
    stage.run(6)
    assert stage.script.answered
    assert stage.script.quiet == pytest.approx(6 - ANSWER[1], abs=0.01)
