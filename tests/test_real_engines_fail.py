"""Real engines that die in mid-work, in the whole house."""

import time

import numpy as np
import pytest

from edgevoice import app
from edgevoice.core import events as ev
from edgevoice.core.table import Place
from edgevoice.engines import Workshop
from edgevoice.settings.schema import Settings
from tests import test_app as tiny
from tests.adapters.engines import RATE, blocks, model, spoken
from tests.test_app import BLOCK, PHRASE

pytestmark = pytest.mark.engines


@pytest.fixture
def outside():
    return tiny.Outside()


@pytest.fixture
def witness(outside):
    return tiny.Witness(outside.log)


def test_a_vosk_that_dies_in_mid_sentence_is_built_again_and_no_word_is_lost(outside, witness):
    model("vosk-small-en-us-0.15", "asr")
    engines = tiny.engines()
    engines.recogniser = Workshop(Settings()).recogniser()
    speech = blocks(spoken("tell me about the sea and the mountains"), BLOCK)
    with app.EdgeVoice(Settings(), outside.world(), engines, [witness]) as house:
        outside.until(lambda: witness.places[-1:] == [Place.IDLE])
        outside.until(lambda: witness.places[-1:] == [Place.LISTENING], PHRASE)
        for number, block in enumerate(speech):
            if number == len(speech) // 2:
                engines.recogniser._recogniser = None  # the next call finds nothing there
            outside.deliver(block, time.monotonic())
            outside.fill(np.zeros(BLOCK, np.int16), time.monotonic())
            time.sleep(BLOCK / RATE)
        outside.until(lambda: witness.turns)
    assert "rebuild" in witness.notes
    assert house.recognise._recogniser is not engines.recogniser
    (record, *_) = witness.turns
    assert record.heard == "tell me about the sea and the mountains"


def test_a_llama_that_dies_in_mid_answer_is_built_again_and_answers(outside, witness):
    model("smollm2-135m-instruct-q4_1", "llm")
    engines = tiny.engines()
    engines.model = dying = Workshop(Settings()).language_model()
    generate, tokens = dying._llama.generate, []

    def die_at_the_second_token(*arguments, **options):
        for token in generate(*arguments, **options):
            tokens.append(token)
            if len(tokens) == 3:  # the first two are those of the prompt's end and the answer's
                raise ValueError("the context is gone")
            yield token

    dying._llama.generate = die_at_the_second_token
    with app.EdgeVoice(Settings(), outside.world(), engines, [witness]) as house:
        outside.until(lambda: witness.places[-1:] == [Place.IDLE])
        house.post(ev.Ask(time.monotonic(), "What is the capital of France?"))
        outside.until(lambda: witness.turns)
    assert len(tokens) == 3
    assert "rebuild" in witness.notes
    assert house.think._model is not dying
    assert "Paris" in witness.turns[0].played
