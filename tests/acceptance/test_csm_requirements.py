"""The requirements of the conversation state machine (CSM): REQ and PER.

Times are simulated; the product's reading of each requirement is in its docstring.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.table import TABLE, Cause, Place, State
from edgevoice.core.tuning import RecoveryTuning, Timeouts
from tests.acceptance.places import talk_in
from tests.core.talk import Talk

S = State

# -- states and transitions -------------------------------------------------------------


def test_REQ_001_every_primary_state_exists_and_can_be_reached() -> None:
    """CSM's ten; WaitingForCopilot is the phase of PROCESSING that waits for the model."""
    wanted = "idle preparing listening processing speaking interrupted suspended faulted"
    assert {s.value for s in State} >= {*wanted.split(), "terminating"}
    assert Place.WAITING_FOR_LLM.state is S.PROCESSING
    reached = {Place.PREPARING}
    for _ in Place:
        reached |= {to for p in reached for row in TABLE[p].values() for to in row.to}
    assert reached == set(Place)


def test_REQ_002_nothing_begins_before_everything_is_ready() -> None:
    """PREPARING takes neither wake word nor start; only `Ready` leads out of it."""
    talk = talk_in(Place.PREPARING)
    for event in (ev.WakeHeard(0.1, "hey_jarvis", 0.9, 0), ev.StartConversation(0.2)):
        talk.feed(event)
        assert talk.place is Place.PREPARING
    talk.feed(ev.Ready(0.3))
    assert talk.place is Place.IDLE


def test_REQ_003_listening_needs_a_recogniser_and_an_open_microphone() -> None:
    """The recogniser is told before LISTENING begins; a closed microphone is opened first."""
    talk = talk_in(Place.LISTENING)
    kinds = [type(c) for c in talk.done]
    assert kinds.index(cmd.Recognise) < len(kinds) - 1 - kinds[::-1].index(cmd.Transition)
    talk.feed(ev.Mute(talk.now))
    talk.wake()
    assert talk.place is Place.SUSPENDED
    commands = talk.feed(ev.Unmute(talk.now))
    kinds = [type(c) for c in commands]
    assert commands[0] == cmd.SetMicrophone(True)
    assert kinds.index(cmd.SetMicrophone) < kinds.index(cmd.Transition)
    assert talk.place is Place.LISTENING


def test_REQ_004_processing_follows_a_finished_utterance_or_the_released_button() -> None:
    """By the turn policy hands-free, by the release with push-to-talk."""
    hands_free = talk_in(Place.WAITING_FOR_LLM)
    assert hands_free.causes[-1] is Cause.TURN_SPEAK
    talk = Talk()
    talk.press()
    talk.speak(1.0)
    talk.release()
    talk.hear("what time is it", final=True)
    assert talk.place is Place.WAITING_FOR_LLM
    assert talk.causes[-1] is Cause.BUTTON_RELEASED


def test_REQ_005_waiting_for_the_model_times_out_as_configured() -> None:
    """The wait begins with the prompt and lasts ``first_token_s``."""
    talk = talk_in(Place.WAITING_FOR_LLM, timeouts=Timeouts(first_token_s=2.0))
    turn, asked_at = talk.turn, talk.core.since
    talk.pass_time(asked_at + 1.9 - talk.now)
    assert cmd.CancelGeneration(turn) not in talk.done
    talk.pass_time(0.2)
    assert cmd.CancelGeneration(turn) in talk.done


def test_REQ_006_speaking_begins_only_with_buffered_audio() -> None:
    """However many tokens have come, the first chunk of speech starts the voice."""
    talk = talk_in(Place.WAITING_FOR_LLM)
    talk.tokens("The sea is wide. It is deep. It is old.")
    talk.wait(0.5)
    assert talk.place is Place.WAITING_FOR_LLM
    assert not talk.all(cmd.StartPlayback)
    talk.synthesise()
    assert talk.place is Place.PLAYING
    assert talk.last(cmd.StartPlayback).turn == talk.turn


def test_REQ_007_speech_silences_the_voice_within_150_ms() -> None:
    """The hold: playback pauses 60 ms after the first loud frame; a commit cancels the rest."""
    talk = talk_in(Place.PLAYING)
    began = talk.now
    talk.speak(0.14)
    held = talk.last(cmd.Transition)
    assert held.target is Place.HELD
    assert held.at - began < 0.15
    talk.feed(ev.Interrupt(talk.now))
    assert talk.place is Place.INTERRUPTED
    assert talk.last(cmd.CancelSynthesis).turn == held.turn


def test_REQ_008_a_suspension_pauses_timers_and_audio_and_keeps_the_context() -> None:
    """A question that waits for the model survives a suspension longer than its patience."""
    talk = talk_in(Place.WAITING_FOR_LLM)
    turn = talk.turn
    talk.feed(ev.Suspend(talk.now, "diagnostics"))
    talk.pass_time(20)
    assert talk.place is Place.SUSPENDED
    assert len(talk.all(cmd.Generate)) == 1
    talk.feed(ev.Resume(talk.now))
    assert (talk.place, talk.turn) == (Place.WAITING_FOR_LLM, turn)
    talk.answer("Wide and deep.")
    assert talk.place is Place.PLAYING


@pytest.mark.parametrize(("fatal", "after"), [(True, Place.TERMINATING), (False, Place.IDLE)])
def test_REQ_009_faulted_always_has_a_way_out(fatal: bool, after: Place) -> None:
    """TERMINATING for a fatal fault, a new start for any other."""
    talk = Talk()
    for _ in range(3):
        talk.feed(ev.Fault(talk.now, ev.FaultKind.UNKNOWN, "driver", "boom", fatal=fatal))
    assert talk.place is Place.FAULTED
    talk.pass_time(61)
    assert talk.place is after


def test_REQ_009_a_device_that_is_still_away_leads_back_to_preparing() -> None:
    """Recoverable, and not recovered yet: PREPARING, which goes on when it is found."""
    talk = talk_in(Place.RECOVERING)
    talk.pass_time(30.1)
    assert talk.place is Place.FAULTED
    talk.pass_time(10.1)
    assert talk.place is Place.PREPARING
    talk.feed(ev.DeviceFound(talk.now, ev.Device.MICROPHONE))
    assert talk.place is Place.IDLE


def test_REQ_010_every_transition_says_what_caused_it() -> None:
    """The causes of a usual conversation, in order, each with its turn and its time."""
    talk = Talk()
    talk.answering("Blue.")
    talk.finish()
    talk.wait(8.2)
    assert [c.value for c in talk.causes] == [
        "ready", "wake.detected", "turn.speak", "tts.buffer_ready", "tts.complete", "user.silent",
    ]  # fmt: skip
    assert all(a.at <= b.at and a.turn <= b.turn for a, b in pairwise(talk.all(cmd.Transition)))


# -- timing --------------------------------------------------------------------------------


def test_PER_001_processing_begins_within_300_ms_of_the_final() -> None:
    """Hands-free with a final at the end of the wait for silence; at once after the button."""
    talk = Talk()
    talk.wake()
    talk.speak(1.0)
    talk.hear("tell me about the sea")
    talk.wait(0.4)
    talk.hear("tell me about the sea", final=True)
    final_at = talk.now
    talk.wait(0.4)
    assert talk.place is Place.WAITING_FOR_LLM
    assert talk.last(cmd.Transition).at - final_at <= 0.3

    button = Talk()
    button.press()
    button.speak(1.0)
    button.release()
    button.hear("tell me about the sea", final=True)
    assert button.last(cmd.Transition).target is Place.WAITING_FOR_LLM
    assert button.last(cmd.Transition).at == button.now


def test_PER_002_an_interruption_is_back_in_listening_within_400_ms() -> None:
    """Measured from the first loud frame of somebody who says "stop"."""
    talk = talk_in(Place.PLAYING)
    began = talk.now
    talk.speak(0.2)
    talk.hear("stop")
    talk.speak(0.1)
    assert talk.place is Place.LISTENING
    assert talk.last(cmd.Transition).at - began < 0.4


@pytest.mark.parametrize(
    "place",
    [Place.LISTENING, Place.WAITING_FOR_LLM, Place.TOOL_EXECUTING, Place.PLAYING],
)
def test_PER_003_a_resumption_takes_no_time(place: Place) -> None:
    """The state before it is there again at the moment the reason is gone."""
    talk = talk_in(place)
    talk.feed(ev.Suspend(talk.now, "reload"))
    talk.pass_time(3)
    talk.feed(ev.Resume(talk.now))
    assert talk.place is place
    assert talk.all(cmd.Transition)[-1].at == talk.now


def test_PER_004_the_model_is_asked_again_with_growing_pauses() -> None:
    """8 s by default, configurable, and pauses of 1, 2 and 4 s before each retry."""
    assert Timeouts().first_token_s == 8.0
    assert RecoveryTuning().llm_retries_s == [1.0, 2.0, 4.0]
    talk = talk_in(Place.WAITING_FOR_LLM, timeouts=Timeouts(first_token_s=1.0))
    start, asked = talk.core.since, [0.0]
    for _ in range(120):
        before = len(talk.all(cmd.Generate))
        talk.pass_time(0.1)
        if len(talk.all(cmd.Generate)) > before:
            asked.append(talk.now - start)
    assert asked == pytest.approx([0, 2, 5, 10], abs=0.11)
