"""The button: what a long hold means, and that a long question is none."""

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.table import Cause, Place
from edgevoice.core.tuning import ButtonTuning
from tests.core.talk import Talk

HOLD_S = ButtonTuning().long_hold_ms / 1000


def close_earcons(talk):
    return [c for c in talk.all(cmd.PlayEarcon) if c.name == "close"]


def test_held_in_silence_it_closes_the_conversation():
    talk = Talk()
    talk.press()
    talk.wait(HOLD_S - 0.5)
    assert talk.place is Place.LISTENING
    talk.wait(1.0)
    assert talk.place is Place.IDLE
    assert talk.last(cmd.Transition).cause is Cause.BUTTON_HELD
    assert close_earcons(talk)
    moves = len(talk.all(cmd.Transition))
    talk.release()
    talk.wait(1.0)
    assert len(talk.all(cmd.Transition)) == moves


def test_a_long_question_may_be_asked_with_the_button_down():
    talk = Talk()
    talk.press()
    talk.speak(2.0)
    talk.hear("tell me everything about the sea")
    talk.speak(HOLD_S)
    assert talk.place is Place.LISTENING
    talk.release()
    talk.hear("tell me everything about the sea and its shores", final=True)
    assert talk.place is Place.WAITING_FOR_LLM


def test_nor_is_one_that_is_still_to_be_recognised_or_has_come_to_a_pause():
    talk = Talk()
    talk.press()
    talk.speak(HOLD_S + 0.5)
    assert talk.place is Place.LISTENING
    talk = Talk()
    talk.press()
    talk.speak(1.0)
    talk.hear("tell me")
    talk.wait(HOLD_S)
    assert talk.place is Place.LISTENING


def test_held_over_an_answer_it_stops_that_and_closes():
    talk = Talk()
    talk.answering()
    talk.press()
    talk.wait(HOLD_S + 0.5)
    assert talk.place is Place.IDLE


def test_a_release_in_time_is_no_long_hold():
    talk = Talk()
    talk.press()
    talk.wait(0.2)
    talk.release()
    talk.feed(ev.ButtonPressed(talk.now))
    talk.release()
    talk.wait(HOLD_S)
    assert all(move.cause is not Cause.BUTTON_HELD for move in talk.all(cmd.Transition))


def test_released_when_the_answer_to_something_else_is_spoken_it_ends_nothing():
    talk = Talk()
    talk.press()
    talk.wait(0.5)
    talk.feed(ev.Ask(talk.now, "tell me about the sea"))
    talk.answer("It is wide and deep and very very old.")
    before = len(talk.done)
    talk.release()
    assert talk.place is Place.PLAYING
    assert talk.done[before:] == []
