"""The configuration changes while the conversation goes on."""

from dataclasses import replace

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.table import Place
from edgevoice.core.tuning import HistoryTuning, Timeouts, Turn
from tests.core.reach import talk_at
from tests.core.talk import Talk


def retune(talk: Talk, **changed: object) -> None:
    talk.feed(ev.Retuned(talk.now, replace(talk.core.tuning, **changed)))  # type: ignore[arg-type]


@pytest.mark.parametrize("place", Place, ids=lambda place: place.value)
def test_no_conversation_is_dropped(place: Place) -> None:
    talk = talk_at(place)
    answer, hearing = talk.core.answer, talk.core.hearing
    retune(talk, turn=Turn(min_silence_to_speak_ms=300))
    assert talk.place is place
    assert (talk.core.answer, talk.core.hearing) == (answer, hearing)
    assert talk.core.refused == 0


def test_the_next_turn_is_decided_by_the_new_numbers() -> None:
    def silence_before_the_answer(talk: Talk) -> float:
        talk.wake()
        talk.say("tell me about the sea")
        began = talk.now
        while talk.place is not Place.WAITING_FOR_LLM:
            talk.wait(0.02)
        return talk.now - began

    before = silence_before_the_answer(Talk())
    talk = Talk()
    retune(talk, turn=Turn(min_silence_to_speak_ms=1400))
    assert silence_before_the_answer(talk) == pytest.approx(before + 1.0, abs=0.05)


def test_the_utterance_that_has_begun_is_heard_to_its_end() -> None:
    talk = Talk()
    talk.wake()
    talk.speak(0.5)
    retune(talk, turn=Turn(min_silence_to_speak_ms=300))
    talk.ask("tell me about the sea")
    assert talk.last(cmd.Generate).messages[-1].text == "tell me about the sea"


def test_other_words_and_other_times_hold_at_once() -> None:
    talk = Talk()
    retune(talk, language="de", timeouts=Timeouts(nothing_said_s=1.0),
           history=HistoryTuning(system_prompt="Be brief."))  # fmt: skip
    assert talk.core.snapshot().label == "○ Bereit"
    talk.wake()
    talk.pass_time(1.5)
    assert talk.place is Place.IDLE
    talk.feed(ev.Ask(talk.now, "wie spät ist es"))
    assert talk.last(cmd.Generate).messages[0].text == "Be brief."


def test_a_microphone_that_only_the_button_opens_now_is_closed() -> None:
    talk = Talk()
    retune(talk, activation=frozenset({"button"}))
    assert talk.last(cmd.SetMicrophone).open is False
