"""The policies that also go by the sound of a pause, and the way of its verdict."""

from __future__ import annotations

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.policy import Blocker
from edgevoice.core.table import Place
from edgevoice.core.tuning import Turn
from tests.core.ear import SPEECH, Ear
from tests.core.talk import Talk

WHOLE, OPEN = "set a timer for ten minutes", "set a timer for"


def wait_after(
    policy: str, text: str, finished: float | None, whole: float | None = None
) -> float | None:
    ear = Ear(Turn(policy=policy))
    ear.listen(1000, **SPEECH)
    ear.hears(text, finished=finished, whole=whole)
    return ear.until_speak()


@pytest.mark.parametrize(
    ("policy", "text", "finished", "expected_ms"),
    [
        ("easyturn", WHOLE, 0.1, 600),
        ("easyturn", OPEN, 0.9, 1700),
        ("smart_turn", WHOLE, 0.9, 600),
        ("smart_turn", WHOLE, 0.1, 1700),
        ("smart_turn", WHOLE, 0.5, 600),
        ("smart_turn", OPEN, 0.9, 700),  # short, and the words do not count
        ("easyturn+smart_turn", WHOLE, 0.9, 600),
        ("easyturn+smart_turn", WHOLE, 0.1, 1700),
        ("easyturn+smart_turn", OPEN, 0.9, 1700),
        ("easyturn+smart_turn", WHOLE, None, 600),
    ],
)
def test_either_doubt_that_the_policy_knows_waits(
    policy: str, text: str, finished: float | None, expected_ms: float
) -> None:
    assert wait_after(policy, text, finished) == pytest.approx(expected_ms, abs=15)


@pytest.mark.parametrize(
    ("policy", "whole", "expected_ms"),
    [
        ("easyturn+smart_turn", 0.49, 1700),
        ("easyturn+smart_turn", 0.5, 500),
        ("smart_turn", 0.5, 1700),  # the words do not count
    ],
)
def test_words_that_are_surely_whole_outweigh_the_sound(
    policy: str, whole: float, expected_ms: float
) -> None:
    assert wait_after(policy, WHOLE, 0.1, whole) == pytest.approx(expected_ms, abs=15)


@pytest.mark.parametrize("text", ["yes", "okay", "uh huh sure", "forty two"])
def test_words_that_answer_are_not_judged_by_their_sound(text: str) -> None:
    assert wait_after("smart_turn", text, 0.1) == wait_after("smart_turn", text, 0.9)


def talk(policy: str = "easyturn+smart_turn") -> Talk:
    talk = Talk(turn=Turn(policy=policy))
    talk.wake()
    talk.speak(1.0)
    talk.hear(WHOLE)
    talk.wait(0.26)
    return talk


def verdict(talk: Talk, probability: float, until: int | None = None) -> None:
    assert talk.core.hearing is not None
    turn = talk.core.hearing.turn
    talk.feed(ev.TurnVerdict(talk.now, turn, probability, talk.sample if until is None else until))


def test_each_pause_is_judged_once() -> None:
    hesitant = talk()
    hesitant.wait(0.2)
    assert len(hesitant.all(cmd.JudgeEnd)) == 1
    hesitant.speak(0.5)
    hesitant.wait(0.4)
    first, second = hesitant.all(cmd.JudgeEnd)
    assert first.turn == second.turn
    assert first.since == second.since
    assert first.until < second.until


@pytest.mark.parametrize("policy", ["easyturn", "silence", "manual"])
def test_policies_without_ears_ask_nobody(policy: str) -> None:
    assert talk(policy).all(cmd.JudgeEnd) == []


def test_a_doubtful_verdict_waits_and_a_good_one_does_not() -> None:
    for probability, place in ((0.1, Place.LISTENING), (0.9, Place.WAITING_FOR_LLM)):
        asked = talk()
        asked.hear(WHOLE, final=True)
        verdict(asked, probability)
        asked.wait(0.6)
        assert asked.place is place


def test_a_verdict_on_a_pause_that_is_over_counts_no_more() -> None:
    asked = talk()
    judged = asked.last(cmd.JudgeEnd).until
    asked.speak(0.5)
    verdict(asked, 0.1, judged)
    asked.wait(0.3)
    verdict(asked, 0.1, judged)
    asked.hear(WHOLE, final=True)
    asked.wait(0.5)
    assert asked.place is Place.WAITING_FOR_LLM


def test_what_was_thought_of_one_pause_is_not_thought_of_the_next() -> None:
    asked = talk()
    verdict(asked, 0.1)
    asked.speak(0.5)
    asked.wait(0.3)
    assert asked.core.linguistic().finished is None


def test_a_verdict_of_a_turn_that_is_over_is_stale() -> None:
    asked = talk()
    turn = asked.last(cmd.JudgeEnd).turn
    late = ev.TurnVerdict(asked.now, turn, 0.9, asked.sample)
    assert asked.is_stale_after_the_end(late)


def test_it_says_what_it_waits_for() -> None:
    ear = Ear(Turn(policy="smart_turn"))
    ear.listen(1000, **SPEECH)
    ear.hears(WHOLE, finished=0.1)
    assert ear.listen(700, 0.001, 0.02).blocked_by is Blocker.INCOMPLETE
