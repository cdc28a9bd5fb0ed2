"""The acceptance criteria of the conversation state machine (CSM), AC-001 to AC-008.

Times are simulated; the product's reading of each criterion is in its docstring.
"""

from __future__ import annotations

from itertools import pairwise

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.lamps import BLINKS, pattern
from edgevoice.core.table import Cause, Place, State
from tests.acceptance.places import talk_in
from tests.core.talk import WORD, Talk

S = State


def test_AC_001_start_goes_from_preparing_to_listening() -> None:
    """Ready, then started: PREPARING, IDLE, LISTENING, each told to every observer."""
    talk = Talk(ready=False)
    told: list[cmd.Transition] = []
    talk.core.observe(told.append)
    talk.feed(ev.Ready(0.1))
    talk.feed(ev.StartConversation(0.2))
    assert talk.path == [S.PREPARING, S.IDLE, S.LISTENING]
    assert told == talk.all(cmd.Transition)
    assert told[-1].at - 0.2 < 0.5


def test_AC_002_the_end_of_speech_sends_one_prompt_with_what_was_said() -> None:
    """LISTENING to PROCESSING, and one prompt with the whole transcript."""
    talk = Talk()
    talk.wake()
    talk.ask("what is the capital of france")
    assert talk.path[-2:] == [S.LISTENING, S.PROCESSING]
    (prompt,) = talk.all(cmd.Generate)
    assert prompt.messages[-1].text == "what is the capital of france"


def test_AC_003_buffered_speech_goes_from_processing_to_speaking() -> None:
    """SPEAKING begins with the first buffered audio, and the lamp shows it."""
    talk = talk_in(Place.WAITING_FOR_LLM)
    talk.tokens("Blue as the sky.")
    assert talk.place is Place.WAITING_FOR_LLM
    talk.synthesise()
    assert talk.path[-2:] == [S.PROCESSING, S.SPEAKING]
    assert talk.last(cmd.Transition).cause is Cause.TTS_BUFFER_READY
    assert pattern(talk.place).name == "speaking"


def test_AC_004_an_interruption_is_over_in_400_ms_and_the_voice_is_dropped() -> None:
    """SPEAKING, INTERRUPTED, LISTENING; synthesis, generation and playback end at once."""
    talk = talk_in(Place.HELD)
    turn = talk.turn
    commands = talk.feed(ev.Transcript(talk.now, talk.core.hearing.turn, "what about", talk.sample))
    assert {cmd.DropPlayback(turn), cmd.CancelSynthesis(turn), cmd.CancelGeneration(turn)} <= {
        c for c in commands if isinstance(c, cmd.TurnCommand)
    }
    talk.wait(0.1)
    assert talk.path[-3:] == [S.SPEAKING, S.INTERRUPTED, S.LISTENING]
    interrupted, listening = talk.all(cmd.Transition)[-2:]
    assert listening.at - interrupted.at < 0.4


def test_AC_005_a_suspension_comes_back_to_the_turn_it_left() -> None:
    """Audio pauses, the microphone closes, and the same answer goes on."""
    talk = talk_in(Place.PLAYING)
    turn = talk.turn
    talk.feed(ev.Suspend(talk.now, "reload"))
    assert talk.path[-1] is S.SUSPENDED
    assert talk.last(cmd.HoldPlayback).turn == turn
    assert talk.last(cmd.SetMicrophone) == cmd.SetMicrophone(False)
    talk.held_at(2 * WORD)
    talk.pass_time(5)
    talk.feed(ev.Resume(talk.now))
    assert (talk.place, talk.turn) == (Place.PLAYING, turn)
    assert talk.last(cmd.SetMicrophone) == cmd.SetMicrophone(True)
    assert len(talk.all(cmd.Generate)) == 1


def test_AC_006_a_fatal_fault_stops_the_conversation_and_ends_the_process() -> None:
    """FAULTED with its blink code and nothing spoken on, then TERMINATING and a status."""
    talk = talk_in(Place.PLAYING)
    turn = talk.turn
    talk.feed(ev.Fault(talk.now, ev.FaultKind.ENGINE, "think", "model is gone", fatal=True))
    assert talk.path[-1] is S.FAULTED
    light = pattern(talk.place, talk.core.fault_kind)
    assert (light.motion, light.blinks) == ("code", BLINKS[ev.FaultKind.ENGINE])
    assert talk.last(cmd.DropPlayback).turn == turn
    talk.pass_time(10.1)
    assert talk.path[-1] is S.TERMINATING
    assert talk.last(cmd.Exit).status == 70


def test_AC_007_rapid_turns_have_ids_of_their_own_and_never_skip_listening() -> None:
    """Ids only grow, answers come in order, LISTENING lies between any two turns."""
    talk = Talk()
    talk.wake()
    questions = ["tell me about ships", "and about boats", "how old are they"]
    for question in questions:
        talk.ask(question)
        talk.answer("Yes indeed.")
        talk.finish()
    turns = [prompt.turn for prompt in talk.all(cmd.Generate)]
    assert all(earlier < later for earlier, later in pairwise(turns))
    assert [record.heard for record in talk.all(cmd.TurnRecord)] == questions
    before = [a for a, b in pairwise(talk.path) if b is S.PROCESSING]
    assert before == [S.LISTENING] * 3


def test_AC_008_a_model_that_never_answers_is_excused_and_listening_follows() -> None:
    """Asked again, then a spoken apology, then LISTENING: nothing hangs in PROCESSING."""
    talk = talk_in(Place.WAITING_FOR_LLM)
    talk.pass_time(31)
    assert len(talk.all(cmd.Generate)) > 1
    assert talk.last(cmd.Synthesise).text == talk.core.lexicon.phrases["unavailable"]
    talk.synthesise()
    assert talk.place is Place.PLAYING
    talk.finish()
    assert talk.place is Place.LISTENING
