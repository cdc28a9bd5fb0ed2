"""Real engines that die in mid-work and are built again."""

import time

import pytest

from edgevoice import app
from edgevoice.core import events as ev
from edgevoice.core.commands import FlushRecogniser, Recognise
from edgevoice.core.table import Place
from edgevoice.engines import Workshop
from edgevoice.ports import FRAME
from edgevoice.runtime.supervisor import Part, Supervisor
from edgevoice.settings.schema import Settings
from edgevoice.stages.recognise import RecogniseStage, Sound
from tests import test_app as tiny
from tests.adapters.engines import blocks, model, spoken
from tests.patience import until

pytestmark = pytest.mark.engines


def events_of(frames, dies_after=None):
    """What the recogniser's stage tells of an utterance during which its engine dies, or not."""
    events = []
    workshop = Workshop(Settings())
    part = Part(
        RecogniseStage(events.append, workshop.recogniser()),
        lambda: RecogniseStage(events.append, workshop.recogniser()),
    )
    supervisor = Supervisor({"recognise": part}, events.append)
    part.start()
    part.stage.post(Recognise(1, 0))
    for number, frame in enumerate(frames):
        if number == dies_after:
            until(lambda: not part.stage._inbox)
            part.stage._recogniser._all = None  # the next call finds nothing there
        part.stage.post(Sound(frame, (number + 1) * FRAME))
        if number == (dies_after or 0) + 10 and dies_after:
            until(lambda: any(isinstance(event, ev.Fault) for event in events))
            supervisor.rebuild("recognise")
    part.stage.post(FlushRecogniser(1))
    until(lambda: any(isinstance(event, ev.Transcript) and event.final for event in events))
    assert part.stop()
    return events


def test_a_vosk_that_dies_in_mid_sentence_is_built_again_and_no_word_is_lost():
    model("vosk-small-en-us-0.15", "asr")
    frames = blocks(spoken("one two three four five six seven eight nine ten"), FRAME)
    undisturbed = events_of(frames)
    disturbed = events_of(frames, dies_after=len(frames) // 2)
    assert {type(event) for event in disturbed} == {ev.Fault, ev.PartRebuilt, ev.Transcript}
    heard = disturbed[-1].text.split()
    assert heard[-8:] == ["three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    assert heard == undisturbed[-1].text.split()


def test_a_llama_that_dies_in_mid_answer_is_built_again_and_answers():
    model("smollm2-135m-instruct-q4_1", "llm")
    outside = tiny.Outside()
    witness = tiny.Witness(outside.log)
    engines = tiny.engines()
    engines.model = dying = Workshop(Settings()).language_model()
    add, tokens = dying._context.add, []

    def die_in_the_answer(token):
        tokens.append(token)
        if len(tokens) == 3:
            raise ValueError("the context is gone")
        add(token)

    dying._context.add = die_in_the_answer
    with app.EdgeVoice(Settings(), outside.world(), engines, [witness]) as house:
        outside.follow(house)
        outside.until(lambda: witness.places[-1:] == [Place.IDLE])
        house.post(ev.Ask(time.monotonic(), "What is the capital of France?"))
        outside.until(lambda: witness.turns)
    assert len(tokens) == 3
    assert "rebuild" in witness.notes
    assert house.think._model is not dying
    assert "Paris" in witness.turns[0].played
