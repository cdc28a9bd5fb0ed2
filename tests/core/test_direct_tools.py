"""What an intent asks for is answered without the model."""

import json

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.events import Word
from edgevoice.core.table import Cause, Place
from tests.core.reach import talk_at
from tests.core.talk import Talk


def called(direct=True):
    talk = Talk()
    talk.wake()
    talk.ask("what time is it")
    talk.feed(ev.ToolCalled(talk.now, talk.turn, 0, "time", "{}", direct=direct))
    return talk


def back(talk, result, spoken=""):
    talk.feed(ev.ToolDone(talk.now, talk.turn, 0, result, spoken))


def test_what_the_tool_says_is_the_answer_and_the_model_is_not_asked_again():
    talk = called()
    assert talk.place is Place.TOOL_EXECUTING
    back(talk, "12:00", "It is noon.")
    assert len(talk.all(cmd.Generate)) == 1
    talk.synthesise()
    assert talk.place is Place.PLAYING
    talk.finish()
    assert talk.last(cmd.TurnRecord).heard == "what time is it"
    assert talk.last(cmd.TurnRecord).played == "It is noon."


def test_it_goes_into_the_history_like_any_answer():
    talk = called()
    back(talk, "12:00", "It is noon.")
    talk.synthesise()
    talk.finish()
    talk.ask("and what do you make of it")
    said = [(m.role, m.text) for m in talk.last(cmd.Generate).messages[1:]]
    assert said[:2] == [("user", "what time is it"), ("assistant", "It is noon.")]


def test_its_latency_counts_from_the_end_of_the_speech():
    talk = called()
    back(talk, "12:00", "It is noon.")
    talk.synthesise()
    talk.feed(ev.PlaybackStarted(talk.now, talk.turn))
    talk.finish()
    assert talk.last(cmd.TurnRecord).response_ms is not None


def test_a_result_without_words_of_its_own_is_said_as_it_is():
    talk = called()
    back(talk, "The light is on.")
    assert talk.last(cmd.Synthesise).text == "The light is on."


def test_a_failure_is_told_in_words_and_not_in_json():
    talk = called()
    back(talk, json.dumps({"error": "boom"}))
    assert talk.last(cmd.Synthesise).text == talk.core.lexicon.phrases["tool_failed"]


def test_one_that_does_not_come_back_is_told_too():
    talk = called()
    talk.pass_time(31)
    assert talk.last(cmd.Synthesise).text == talk.core.lexicon.phrases["tool_failed"]


def test_nothing_to_say_closes_the_conversation():
    talk = called()
    back(talk, "")
    assert talk.place is Place.IDLE


def test_the_models_own_call_is_answered_by_the_tool_when_that_has_words():
    talk = called(direct=False)
    back(talk, "12:00", "It is noon.")
    assert talk.last(cmd.Synthesise).text == "It is noon."
    assert len(talk.all(cmd.Generate)) == 1


def test_the_models_own_call_without_words_goes_back_to_it_and_no_intent_is_looked_for():
    talk = called(direct=False)
    back(talk, "12:00")
    assert len(talk.all(cmd.Generate)) == 2
    assert talk.last(cmd.Generate).heard == ""


def test_markup_and_length_of_what_a_tool_says_are_bounded():
    talk = called()
    back(talk, "**Wow** 🎉 " + "word " * 2000)
    text = " ".join(c.text for c in talk.all(cmd.Synthesise))
    assert text.startswith("Wow word")
    assert len(text) <= 1000


def test_an_engine_that_fails_before_it_is_spoken_costs_no_second_call_and_no_model():
    """Its work is done: a second timer is set by nobody, and the model knows of none."""
    talk = called()
    back(talk, "12:00", "It is noon.")
    talk.feed(ev.Fault(talk.now, ev.FaultKind.ENGINE, "recognise", "gone"))
    assert talk.place is Place.RECOVERING
    talk.feed(ev.PartRebuilt(talk.now, "recognise"))
    assert talk.last(cmd.Synthesise).text == "It is noon."
    assert talk.last(cmd.Synthesise).turn == talk.turn
    assert len(talk.all(cmd.Generate)) == len(talk.all(cmd.RunTool)) == 1
    talk.synthesise()
    assert talk.place is Place.PLAYING


@pytest.mark.parametrize("place", [Place.WAITING_FOR_TASK, Place.TOOL_EXECUTING])
def test_an_order_that_was_misheard_calls_the_tool_off(place):
    talk = talk_at(place)
    assert "cancel" in talk.last(cmd.Recognise).apart
    talk.speak(0.4)
    talk.hear("he cancel")
    assert talk.place is place
    talk.hear("he cancel", final=True, apart=(Word("cancel", 0.9),))
    assert talk.place is Place.IDLE
    assert talk.causes[-1] is Cause.USER_STOP
    assert talk.all(cmd.CancelTool)
