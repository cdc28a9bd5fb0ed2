import json
import logging

import pytest

from edgevoice.core.commands import Generate, Message
from edgevoice.core.events import ToolCalled
from edgevoice.ports import Call
from edgevoice.stages.understand import Understand

QUESTION = (Message("user", "set a timer for ten minutes"),)


class Intents:
    def __init__(self, call=None):
        self.call = call
        self.asked = []

    def match(self, text):
        self.asked.append(text)
        return self.call


@pytest.fixture
def told():
    return []


@pytest.fixture
def handed_on():
    return []


def stage(intents, told, handed_on):
    return Understand(told.append, intents, handed_on.append)


TIMER = Call("timer_set", {"minutes": 10, "name": "käse"}, long_running=True)


def test_an_intent_asks_for_a_tool_and_the_model_is_not_asked(told, handed_on):
    stage(Intents(TIMER), told, handed_on).handle(Generate(7, QUESTION, "set a timer"))
    (call,) = told
    assert isinstance(call, ToolCalled)
    assert (call.turn, call.name, call.long_running, call.direct) == (7, "timer_set", True, True)
    assert json.loads(call.arguments) == {"minutes": 10, "name": "käse"}
    assert handed_on == []


def test_what_is_no_intent_goes_on_to_the_model(told, handed_on):
    prompt = Generate(7, QUESTION, "tell me a story")
    stage(Intents(), told, handed_on).handle(prompt)
    assert told == []
    assert handed_on == [prompt]


def test_a_result_that_goes_back_to_the_model_is_no_sentence(told, handed_on):
    intents = Intents(TIMER)
    stage(intents, told, handed_on).handle(Generate(7, QUESTION))
    assert intents.asked == []
    assert len(handed_on) == 1


def test_a_turn_that_was_called_off_asks_for_nothing(told, handed_on):
    some = stage(Intents(TIMER), told, handed_on)
    some.cancel(7)
    some.handle(Generate(7, QUESTION, "set a timer"))
    assert told == []
    assert handed_on == []


def test_intents_that_break_cost_no_answer_and_no_word_in_the_log(told, handed_on, caplog):
    class Broken:
        def match(self, text):
            raise RuntimeError(text)

    with caplog.at_level(logging.DEBUG):
        stage(Broken(), told, handed_on).handle(Generate(7, QUESTION, "my secret"))
    assert len(handed_on) == 1
    assert "secret" not in caplog.text
    assert caplog.records
