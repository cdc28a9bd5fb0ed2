"""Who was cut off in the middle of a sentence is heard to its end, and all of it is answered."""

from __future__ import annotations

from typing import Any

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.table import Cause, Place
from edgevoice.core.tuning import Turn
from edgevoice.core.turn import Kind, Utterance
from tests.core.talk import WORD, Talk

BEGINNING = "remind me to call my mother"
REST = "on sunday afternoon"
WHOLE = f"{BEGINNING} {REST}"
ANSWER = "Then call her as soon as you can."


def asked(whole: float | None = 0.1, pause_s: float = 0.8, **turn: Any) -> Talk:
    """From IDLE to a beginning of a sentence that is taken to be all of it."""
    talk = Talk(turn=Turn(**turn))
    talk.wake()
    talk.say(BEGINNING)
    judge(talk, whole)
    talk.wait(pause_s)
    return talk


def cut_off(
    whole: float | None = 0.1, after_s: float = 0.3, pause_s: float = 0.8, **turn: Any
) -> Talk:
    """The same, to a hold ``after_s`` into the answer."""
    talk = asked(whole, pause_s, **turn)
    talk.answer(ANSWER)
    return speak_on(talk, after_s)


def judge(talk: Talk, whole: float | None) -> None:
    order = talk.last(cmd.JudgeWords)
    if whole is not None:
        talk.feed(ev.WordsVerdict(talk.now, order.turn, whole, order.until))


def speak_on(talk: Talk, after_s: float) -> Talk:
    talk.wait(after_s)
    talk.speak(0.2)
    assert talk.place is Place.HELD
    talk.held_at(WORD)
    return talk


def settle(talk: Talk) -> Talk:
    """What was said has stopped the answer, and the device listens on."""
    talk.dropped_at(WORD)
    talk.wait(0.1)
    assert talk.place is Place.LISTENING
    return talk


def rejoined(rest: str = REST, **how: Any) -> Talk:
    talk = cut_off(**how)
    talk.hear(rest)
    return settle(talk)


def with_the_rest(talk: Talk, after_s: float = 0.3) -> Talk:
    """The rest of the sentence is said into the answer, and all there is to say with it."""
    speak_on(talk, after_s)
    talk.hear(REST)
    settle(talk)
    talk.ask(REST)
    return talk


def questions(talk: Talk) -> list[str]:
    """What the model sees of the user's words, and of its own, when it is asked at last."""
    return [message.text for message in talk.last(cmd.Generate).messages[1:]]


def is_taken_back(talk: Talk) -> bool:
    return talk.last(cmd.TurnRecord).interrupted and WHOLE in questions(talk)


def test_the_whole_sentence_is_answered_and_its_beginning_is_forgotten() -> None:
    talk = cut_off()
    talk.hear(REST)
    assert talk.core.why == "commit by words (3 words), the rest of the question"
    settle(talk)
    talk.ask(REST)
    assert questions(talk) == [WHOLE]
    assert Cause.USER_RESUMED in talk.causes
    assert Cause.USER_INTERRUPT not in talk.causes


def test_the_answer_that_was_taken_back_is_recorded_as_interrupted() -> None:
    talk = rejoined()
    record = talk.last(cmd.TurnRecord)
    assert (record.interrupted, record.heard, record.played) == (True, BEGINNING, "Then")


def test_what_comes_next_knows_the_whole_exchange() -> None:
    talk = rejoined()
    talk.ask(REST)
    talk.answer("Sunday it is.")
    talk.finish()
    talk.ask("tell me that again")
    assert questions(talk) == [WHOLE, "Sunday it is.", "tell me that again"]


def test_a_sentence_may_be_cut_off_twice() -> None:
    talk = rejoined("on sunday")
    talk.say("on sunday")
    judge(talk, 0.1)
    talk.wait(0.8)
    talk.answer(ANSWER)
    speak_on(talk, 0.3)
    talk.hear("at ten o'clock")
    settle(talk)
    talk.ask("at ten o'clock")
    assert questions(talk) == [f"{BEGINNING} on sunday at ten o'clock"]


def test_without_words_the_beginning_is_answered_again() -> None:
    talk = cut_off()
    talk.speak(1.0)
    settle(talk)
    talk.hear("", final=True)
    talk.wait(2.5)
    assert questions(talk) == [BEGINNING]
    assert len(talk.all(cmd.Generate)) == 2


@pytest.mark.parametrize(("after_s", "expected"), [(0.9, True), (1.1, False)])
def test_who_speaks_later_has_heard_something_to_interrupt(after_s: float, expected: bool) -> None:
    talk = rejoined(after_s=after_s)
    talk.ask(REST)
    assert is_taken_back(talk) is expected


@pytest.mark.parametrize(
    ("whole", "expected"), [(0.0, True), (0.29, True), (0.3, False), (0.9, False), (None, False)]
)
def test_words_that_were_surely_whole_are_no_beginning(whole: float | None, expected: bool) -> None:
    talk = rejoined(whole=whole, pause_s=1.8)
    talk.ask(REST)
    assert is_taken_back(talk) is expected


def test_an_interruption_is_remembered_as_one() -> None:
    talk = rejoined(whole=0.9)
    talk.ask(REST)
    assert questions(talk) == [BEGINNING, "Then—", REST]


def test_it_can_be_turned_off() -> None:
    talk = rejoined(rejoin_ms=0)
    talk.ask(REST)
    assert not is_taken_back(talk)


def test_an_order_is_no_rest_of_a_sentence() -> None:
    talk = rejoined("no wait on sunday")
    talk.ask("no wait on sunday")
    assert questions(talk)[-1] == "no wait on sunday"


@pytest.mark.parametrize("last", ["never mind", "thank you goodbye"])
def test_what_closes_the_conversation_closes_it_here_too(last: str) -> None:
    talk = cut_off()
    talk.speak(0.8)
    settle(talk)
    talk.ask(last)
    assert talk.place is Place.IDLE


def test_the_wake_word_begins_anew() -> None:
    talk = cut_off()
    talk.wake()
    talk.dropped_at(WORD)
    talk.wait(0.1)
    talk.ask("what is the time")
    assert questions(talk)[-1] == "what is the time"


def test_what_the_button_ended_was_over() -> None:
    talk = Talk()
    talk.press()
    talk.speak(1.0)
    talk.hear(BEGINNING)
    talk.release()
    talk.hear(BEGINNING, final=True)
    assert talk.core.answer is not None
    asked = talk.core.answer.utterance
    assert asked is not None
    asked.whole = 0.1
    talk.answer(ANSWER)
    with_the_rest(talk)
    assert not is_taken_back(talk)


def test_a_question_that_has_called_a_tool_is_over() -> None:
    talk = asked()
    turn = talk.turn
    talk.feed(ev.ToolCalled(talk.now, turn, 0, "clock", "{}", False, True))
    talk.feed(ev.ToolDone(talk.now, turn, 0, "noon", "It is noon and all is well."))
    talk.synthesise()
    talk.feed(ev.PlaybackStarted(talk.now, talk.turn))
    with_the_rest(talk)
    assert not is_taken_back(talk)


def test_so_is_one_whose_answer_has_called_one() -> None:
    talk = asked()
    turn = talk.turn
    for token in ("I will ", "look that ", "up for ", "you now. ", "So "):
        talk.feed(ev.Token(talk.now, turn, token))
    talk.synthesise()
    talk.feed(ev.PlaybackStarted(talk.now, turn))
    talk.feed(ev.ToolCalled(talk.now, turn, 0, "clock", "{}"))
    with_the_rest(talk)
    assert not is_taken_back(talk)


def test_an_apology_is_no_answer_that_could_be_taken_back() -> None:
    talk = asked(pause_s=0.0)
    while talk.core.answer is None or talk.core.answer.kind is Kind.REPLY:
        talk.wait(0.5)
    assert talk.core.answer.utterance is not None
    talk.synthesise()
    talk.feed(ev.PlaybackStarted(talk.now, talk.turn))
    with_the_rest(talk)
    assert not is_taken_back(talk)


def test_before_the_first_sound_was_told_of_it_is_early_enough() -> None:
    talk = asked()
    talk.tokens(ANSWER)
    talk.synthesise()
    assert talk.place is Place.PLAYING
    with_the_rest(talk, 0.1)
    assert is_taken_back(talk)


@pytest.mark.parametrize(
    ("whole", "confidence", "rest", "taken_back"),
    [
        (0.1, 0.9, "tomorrow", True),
        (0.1, 0.6, "tomorrow", False),
        (0.1, 0.9, "okay", False),
        (0.1, 0.9, "um", False),
        (0.9, 0.9, "tomorrow", False),
    ],
)
def test_the_rest_may_be_a_word_that_is_sure_and_no_soft_ack(
    whole: float, confidence: float, rest: str, taken_back: bool
) -> None:
    talk = cut_off(whole)
    talk.hear(rest)
    talk.wait(0.2)
    assert talk.place is Place.HELD
    talk.hear(rest, final=True, confidence=confidence)
    talk.wait(0.2)
    assert talk.place is (Place.LISTENING if taken_back else Place.PLAYING)
    assert (Cause.USER_RESUMED in talk.causes) is taken_back


def test_the_words_that_are_judged_and_read_ahead_are_those_of_the_whole_sentence() -> None:
    talk = rejoined()
    talk.speak(0.5)
    talk.hear(REST)
    talk.wait(0.26)
    talk.hear(REST, final=True)
    assert talk.last(cmd.JudgeWords).messages[-1].text == WHOLE
    assert talk.core.draft is not None
    assert talk.core.draft.heard == WHOLE


def test_noise_that_took_the_answer_back_does_not_take_the_question() -> None:
    talk = cut_off()
    talk.speak(1.0)
    settle(talk)
    talk.hear("the huh", final=True, confidence=0.2)
    talk.wait(2.5)
    assert questions(talk) == [BEGINNING]
    assert len(talk.all(cmd.Generate)) == 2


def test_words_that_were_final_before_it_listened_on_are_judged_as_well() -> None:
    talk = cut_off()
    talk.wait(0.2)
    talk.hear(REST, final=True)
    settle(talk)
    assert talk.last(cmd.JudgeWords).messages[-1].text == WHOLE
    assert len(talk.all(cmd.JudgeWords)) == 2


def test_a_transcript_replaces_the_rest_alone() -> None:
    talk = rejoined("on some")
    heard = talk.core.hearing
    assert isinstance(heard, Utterance)
    assert (heard.text, heard.latest) == (f"{BEGINNING} on some", "on some")
    talk.hear(REST)
    assert (heard.text, heard.latest) == (WHOLE, REST)
    talk.hear("")
    assert (heard.text, heard.latest) == (BEGINNING, "")
