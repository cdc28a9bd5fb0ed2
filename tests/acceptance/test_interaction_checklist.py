"""The six lines of the testing checklist of the interaction document."""

from __future__ import annotations

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core.table import Place
from tests.acceptance.places import talk_in
from tests.core.talk import WORD, Talk


def test_interaction_1_hello_is_answered() -> None:
    """The device has spoken, the user says hello, the device responds."""
    talk = Talk()
    talk.answering("Hello, what can I do for you?")
    talk.finish()
    talk.ask("hello")
    assert talk.last(cmd.Generate).messages[-1].text == "hello"
    talk.answer("Hello again.")
    assert talk.place is Place.PLAYING


def test_interaction_2_an_interruption_in_mid_sentence_stops_it_at_once() -> None:
    """Silence with the hold, and the rest dropped with the second word."""
    talk = talk_in(Place.PLAYING)
    turn = talk.turn
    talk.speak(0.1)
    assert cmd.HoldPlayback(turn) in talk.done
    talk.held_at(WORD)
    talk.hear("what about")
    assert cmd.DropPlayback(turn) in talk.done


def test_interaction_3_the_full_thought_is_answered() -> None:
    """The words that stopped it are part of the utterance, and all of it is asked."""
    talk = talk_in(Place.HELD)
    since = talk.last(cmd.Recognise).since
    talk.hear("what about")
    talk.dropped_at(WORD)
    talk.speak(0.5)
    talk.ask("what about the moon then")
    assert talk.last(cmd.Generate).messages[-1].text == "what about the moon then"
    assert talk.last(cmd.Recognise).since == since
    talk.answer("It is far away.")
    assert talk.place is Place.PLAYING


@pytest.mark.parametrize("text", ["um", "yeah", "okay", "right", "hello"])
def test_interaction_4_a_short_phrase_over_the_answer_is_filtered(text: str) -> None:
    """A filler, a soft-ack or a single word: the answer goes on, nothing is asked."""
    talk = talk_in(Place.HELD)
    talk.say(text, seconds=0.3)
    talk.wait(0.4)
    assert talk.place is Place.PLAYING
    assert not talk.all(cmd.DropPlayback)
    assert len(talk.all(cmd.Generate)) == 1


@pytest.mark.parametrize("text", ["4k", "42", "ten", "yes", "okay", "hello"])
def test_interaction_5_numbers_and_short_answers_are_not_filtered(text: str) -> None:
    """While the device is silent every word counts."""
    talk = Talk()
    talk.answering("Which one?")
    talk.finish()
    talk.ask(text)
    assert talk.place is Place.WAITING_FOR_LLM
    assert talk.last(cmd.Generate).messages[-1].text == text


def test_interaction_6_it_can_be_interrupted_again_and_again() -> None:
    """The third interruption works like the first: no flag is left over."""
    talk = talk_in(Place.PLAYING)
    for _ in range(3):
        talk.speak(0.1)
        talk.held_at(WORD)
        talk.hear("no wait")
        talk.dropped_at(WORD)
        talk.speak(0.3)
        talk.ask("no wait tell me about ships")
        talk.answer("Ships are large and made of steel.")
        talk.wait(0.4)
    assert talk.place is Place.PLAYING
    assert [r.interrupted for r in talk.all(cmd.TurnRecord)] == [True] * 3
