"""The soft-ack document: words that only say "I am listening" never stop the device."""

from __future__ import annotations

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core.table import Place, State
from tests.acceptance.places import talk_in
from tests.core.talk import WORD, Talk

SOFT_ACKS = ["yeah", "ok", "okay", "hmm", "uh-huh", "right"]


def thinking_phases(talk: Talk) -> int:
    """How often the device began to think."""
    return sum(t.target is Place.WAITING_FOR_LLM for t in talk.all(cmd.Transition))


@pytest.mark.parametrize("word", SOFT_ACKS)
def test_soft_ack_one_thinking_phase(word: str) -> None:
    """Asked once, soft-acked while it speaks, spoken to the end: one thinking phase."""
    talk = Talk()
    talk.wake()
    talk.ask("tell me about history")
    talk.answer("History is a long story of people and places and things.")
    talk.wait(0.5)
    talk.speak(0.1)
    talk.held_at(2 * WORD)
    talk.say(word, seconds=0.3)
    talk.wait(0.4)
    talk.finish()
    talk.wait(2)
    assert thinking_phases(talk) == 1
    (record,) = talk.all(cmd.TurnRecord)
    assert not record.interrupted
    assert record.played == "History is a long story of people and places and things."


def test_soft_ack_by_partial_final_and_voice_takes_the_same_way() -> None:
    """Each path alone resumes: a partial, a final, and a voice without any words."""
    for partial, final in (("okay", None), (None, "okay"), (None, "")):
        talk = talk_in(Place.HELD)
        talk.speak(0.2)
        if partial is not None:
            talk.hear(partial)
        talk.wait(0.26)
        if final is not None:
            talk.hear(final, final=True)
        talk.wait(1.3)
        assert talk.place is Place.PLAYING
        assert not talk.all(cmd.DropPlayback)


def test_soft_ack_then_a_real_interruption_stops_it() -> None:
    """ "Yeah but what about ships": the words after the soft-ack count."""
    talk = talk_in(Place.HELD)
    talk.hear("yeah")
    assert talk.place is Place.HELD
    talk.hear("yeah but what about")
    assert talk.path[-1] is State.INTERRUPTED


def test_soft_ack_in_silence_is_an_answer() -> None:
    """While the device only listens, "yeah" is what the user says."""
    talk = talk_in(Place.LISTENING)
    talk.ask("yeah")
    assert talk.last(cmd.Generate).messages[-1].text == "yeah"
