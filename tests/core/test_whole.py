"""Whether the words are a whole utterance, as the language model sees them."""

from __future__ import annotations

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.rules.utterance import judge_words
from edgevoice.core.table import Place
from edgevoice.core.tuning import Turn
from edgevoice.settings.schema import PROFILES
from tests.core.ear import SPEECH, Ear, ms
from tests.core.talk import Talk

WORDS = "set a timer for ten minutes"


def wait_after(text: str = WORDS, whole: float | None = None, **turn: object) -> float | None:
    ear = Ear(Turn(**turn))  # type: ignore[arg-type]
    ear.listen(1000, **SPEECH)
    ear.hears(text, whole=whole)
    return ear.until_speak()


@pytest.mark.parametrize(
    ("whole", "expected_ms"),
    [
        (None, 600), (1.0, 500), (0.3, 500), (0.29, 600), (0.03, 600),
        (0.029, 800), (0.005, 800), (0.0049, 1700), (0.0, 1700),
    ],
)  # fmt: skip
def test_words_that_are_whole_doubtful_or_unfinished_have_a_wait_each(
    whole: float | None, expected_ms: float
) -> None:
    assert wait_after(whole=whole) == pytest.approx(expected_ms, abs=15)


def test_what_must_be_surer_to_be_whole_is_surer() -> None:
    assert wait_after(whole=0.6, whole_probability=0.7) == wait_after(whole=0.01)


def test_what_is_doubtful_is_no_reason_to_wait_less() -> None:
    assert wait_after(whole=0.01, doubtful_extra_ms=100) == wait_after()


@pytest.mark.parametrize(
    ("whole", "expected_ms"), [(None, 300), (0.03, 250), (0.005, 250), (0.004, 1650)]
)
def test_in_the_aggressive_profile_a_whole_sentence_waits_less(
    whole: float | None, expected_ms: float
) -> None:
    aggressive = {key.removeprefix("turn."): value for key, value in PROFILES["aggressive"].items()}
    assert wait_after(whole=whole, **aggressive) == pytest.approx(expected_ms, abs=15)


@pytest.mark.parametrize(("whole", "expected_ms"), [(None, 600), (1.0, 550)])
def test_whole_words_wait_less_to_the_millisecond(whole: float | None, expected_ms: int) -> None:
    ear = Ear(Turn(whole_sooner_ms=50))
    ear.listen(1000, **SPEECH)
    ear.hears(WORDS, whole=whole)
    assert ear.until_speak(samples=ms(1)) == expected_ms


def test_who_takes_the_turn_back_is_heard_no_sooner_after_whole_words() -> None:
    decisions = []
    for whole in (None, 1.0):
        ear = Ear(Turn(whole_sooner_ms=150))
        ear.listen(1000, **SPEECH)
        ear.hears(WORDS, whole=whole)
        ear.until_speak()
        decisions.append([decision.state for decision in ear.run(400, **SPEECH)])
    assert decisions[0] == decisions[1]
    assert len(set(decisions[0])) == 2


def test_what_is_believed_to_be_whole_is_not_unfinished() -> None:
    assert wait_after(whole=0.1, whole_probability=0.1, unfinished_probability=0.3) == wait_after()


def test_what_the_rules_find_open_is_no_matter_of_degrees() -> None:
    for whole in (None, 0.0, 1.0):
        assert wait_after("set a timer for", whole) == pytest.approx(1700, abs=15)


@pytest.mark.parametrize("text", ["yes", "okay", "uh huh sure", "forty two"])
def test_nobody_doubts_a_short_answer(text: str) -> None:
    assert wait_after(text, 0.0) == wait_after(text, None)


def test_a_policy_that_goes_by_the_sound_does_not_go_by_the_words() -> None:
    assert wait_after(whole=0.0, policy="smart_turn") == wait_after(policy="smart_turn")


def talk(**turn: object) -> Talk:
    talk = Talk(turn=Turn(**turn))  # type: ignore[arg-type]
    talk.wake()
    talk.speak(1.0)
    talk.hear(WORDS)
    talk.wait(0.26)
    talk.hear(WORDS, final=True)
    return talk


def verdict(talk: Talk, probability: float, order: cmd.JudgeWords | None = None) -> None:
    order = order or talk.last(cmd.JudgeWords)
    talk.feed(ev.WordsVerdict(talk.now, order.turn, probability, order.until))


def whole(talk: Talk) -> float | None:
    return talk.core.linguistic().whole


def test_the_model_is_asked_before_it_begins_to_answer() -> None:
    asked = talk()
    order = asked.last(cmd.JudgeWords)
    assert order.messages == asked.last(cmd.Generate).messages
    kinds = [type(command) for command in asked.done]
    assert kinds.index(cmd.JudgeWords) < kinds.index(cmd.Generate)
    assert len(asked.all(cmd.JudgeWords)) == 1


def go_on(talk: Talk, text: str) -> None:
    """The user has not finished, and pauses again."""
    talk.speak(0.5)
    talk.hear(text)
    talk.wait(0.26)
    talk.hear(text, final=True)


def test_it_is_asked_again_about_other_words() -> None:
    asked = talk()
    go_on(asked, f"{WORDS} please")
    first, second = asked.all(cmd.JudgeWords)
    assert second.messages[-1].text == f"{WORDS} please"
    assert first.turn == second.turn


def test_it_is_asked_once_about_the_same() -> None:
    asked = talk()
    go_on(asked, WORDS)
    assert len(asked.all(cmd.JudgeWords)) == 1


def test_what_was_begun_for_the_same_words_before_is_not_judged_with_them() -> None:
    again = Talk(turn=Turn())
    again.wake()
    again.core.history.tool(WORDS, "The timer is set.")
    again.speak(1.0)
    again.wait(0.26)
    again.hear(WORDS, final=True)
    assert again.last(cmd.JudgeWords).messages[-1].text == WORDS


@pytest.mark.parametrize("made", ["answer", "draft", "closing", None])
def test_nothing_is_judged_while_an_answer_is_made_or_closed(made: str | None) -> None:
    listening = Talk(turn=Turn())
    listening.wake()
    listening.hear(WORDS)
    core = listening.core
    answer, core.draft = core.new_draft(core.the_hearing), None
    if made:
        setattr(core, made, answer)
    judge_words(core, core.the_hearing)
    assert (core.the_hearing.judged_until is None) is bool(made)


@pytest.mark.parametrize(
    "turn",
    [
        {"whole_probability": 0.0},
        {"policy": "smart_turn"},
        {"policy": "silence"},
        {"policy": "manual"},
    ],
)
def test_the_model_is_not_asked_in_vain(turn: dict[str, object]) -> None:
    assert talk(**turn).all(cmd.JudgeWords) == []


def test_what_is_open_by_the_rules_needs_no_model() -> None:
    open_words = Talk(turn=Turn())
    open_words.wake()
    open_words.speak(1.0)
    open_words.hear("set a timer for", final=True)
    assert open_words.all(cmd.JudgeWords) == []


def test_while_the_button_is_held_nothing_is_judged() -> None:
    held = Talk(turn=Turn())
    held.press()
    held.speak(1.0)
    held.hear(WORDS, final=True)
    assert held.all(cmd.JudgeWords) == []


def test_a_doubtful_verdict_waits_and_a_good_one_does_not() -> None:
    for probability, place in ((0.001, Place.LISTENING), (0.9, Place.WAITING_FOR_LLM)):
        asked = talk()
        verdict(asked, probability)
        asked.wait(0.4)
        assert asked.place is place


def test_a_verdict_on_other_words_counts_for_nothing() -> None:
    asked = talk()
    first = asked.last(cmd.JudgeWords)
    go_on(asked, f"{WORDS} now")
    verdict(asked, 0.9, first)
    assert whole(asked) is None
    verdict(asked, 0.8)
    assert whole(asked) == 0.8
    assert "0.8000" in asked.core.why
    asked.hear(f"{WORDS} now", final=True)
    assert whole(asked) == 0.8
    asked.speak(0.5)
    asked.hear(f"{WORDS} now and")
    assert whole(asked) is None


def test_a_verdict_of_a_turn_that_is_over_is_stale() -> None:
    asked = talk()
    turn = asked.last(cmd.JudgeWords).turn
    late = ev.WordsVerdict(asked.now, turn, 0.9, asked.sample)
    assert asked.is_stale_after_the_end(late)


def intent(talk: Talk, *, direct: bool = True) -> None:
    """What was said is found to call a tool, by an intent or by the language model."""
    turn = talk.last(cmd.Generate).turn
    talk.feed(ev.ToolCalled(talk.now, turn, 0, "timer_set", "{}", direct=direct))


def test_nobody_doubts_the_words_of_an_intent() -> None:
    asked = talk()
    intent(asked)
    verdict(asked, 0.0)
    assert whole(asked) == 1.0
    asked.wait(0.4)
    assert asked.last(cmd.RunTool).name == "timer_set"


def test_a_tool_that_the_model_wants_says_nothing_of_the_words() -> None:
    asked = talk()
    intent(asked, direct=False)
    verdict(asked, 0.0)
    assert whole(asked) == 0.0


def test_the_words_of_an_intent_with_more_behind_them_are_other_words() -> None:
    asked = talk()
    intent(asked)
    go_on(asked, f"{WORDS} and")
    assert whole(asked) is None
