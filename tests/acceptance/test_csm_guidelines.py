"""The requirements of the conversation state machine (CSM): SEC, CON, GUD, PAT and INT.

Times are simulated; the product's reading of each requirement is in its docstring.
"""

from __future__ import annotations

import io
import json
import logging

import pytest

from edgevoice.adapters.journal import log_transition, log_turn
from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.easyturn import POLICIES
from edgevoice.core.table import Cause, Place, State
from edgevoice.core.tuning import Turn
from edgevoice.errors import ConfigError
from edgevoice.settings.schema import Settings
from edgevoice.trace import Recorder
from tests.acceptance.places import call_tool, talk_in
from tests.core.talk import Talk

S = State

# -- privacy ---------------------------------------------------------------------------------


def test_SEC_001_the_journal_holds_no_word_that_was_said(caplog: pytest.LogCaptureFixture) -> None:
    """Every line and every field of a whole conversation, at the finest level."""
    caplog.set_level(logging.DEBUG)
    talk = Talk()
    talk.wake()
    talk.ask("what does elephant soup taste like")
    talk.answer("Rather grey and wrinkled.")
    talk.finish()
    for moved in talk.all(cmd.Transition):
        log_transition(moved)
    for record in talk.all(cmd.TurnRecord):
        log_turn(record)
    assert len(caplog.records) == len(talk.all(cmd.Transition)) + 1
    written = " ".join(str(vars(record)) for record in caplog.records).lower()
    assert not [w for w in ("elephant", "soup", "grey", "wrinkled") if w in written]


def test_SEC_002_histories_are_kept_in_memory_only_and_words_are_not_logged_by_default() -> None:
    """Nothing of an earlier conversation is in a new one; logging words has to be asked for."""
    assert Settings().privacy.log_transcripts is False
    Talk().answering("Blue.")
    talk = talk_in(Place.WAITING_FOR_LLM)
    assert [m.role for m in talk.last(cmd.Generate).messages] == ["system", "user"]


# -- constraints -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place",
    [Place.LISTENING, Place.WAITING_FOR_LLM, Place.TOOL_EXECUTING, Place.PLAYING, Place.HELD],
)
def test_CON_002_a_second_start_is_refused(place: Place) -> None:
    """Counted and told, and the conversation that goes on does not notice."""
    talk = talk_in(place)
    refused = talk.core.refused
    assert talk.feed(ev.StartConversation(talk.now)) == [cmd.Refused(place, "StartConversation")]
    assert talk.place is place
    assert talk.core.refused == refused + 1


def test_CON_003_the_last_20_transitions_are_remembered_and_no_more() -> None:
    """In memory, oldest first; a new machine remembers none."""
    talk = Talk()
    for _ in range(30):
        talk.feed(ev.Suspend(talk.now, "reload"))
        talk.feed(ev.Resume(talk.now))
    assert list(talk.core.transitions) == talk.all(cmd.Transition)[-20:]
    assert not Talk(ready=False).core.transitions


# -- guidelines ----------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["easyturn", "silence"])
def test_GUD_001_the_turn_policy_is_a_setting(policy: str) -> None:
    """Any policy by its name ends a turn hands-free; an unknown name is one clear line."""
    assert policy in POLICIES
    talk = talk_in(Place.WAITING_FOR_LLM, turn=Turn(policy=policy))
    assert talk.causes[-1] is Cause.TURN_SPEAK
    with pytest.raises(ConfigError, match="there is no policy 'psychic'"):
        Talk(turn=Turn(policy="psychic"))


def test_GUD_001_the_manual_policy_waits_for_the_button() -> None:
    """Silence alone never ends a turn that the button ends."""
    talk = Talk(turn=Turn(policy="manual", patience_ms=10_000))
    talk.press()
    talk.say("tell me about the sea")
    talk.wait(5)
    assert talk.place is Place.LISTENING
    talk.release()
    talk.hear("tell me about the sea", final=True)
    assert talk.place is Place.WAITING_FOR_LLM


def test_GUD_002_diagnostics_are_structured_json() -> None:
    """One JSON object a line: the tuning, then each event with the commands it led to."""
    file = io.StringIO()
    talk = Talk(ready=False)
    recorder = Recorder(file, talk.tuning, 0.0)
    event = ev.Ready(0.0)
    recorder(event, talk.feed(event))
    head, line = map(json.loads, file.getvalue().splitlines())
    assert head["tuning"]["timeouts"]["first_token_s"] == 8.0
    assert line["event"] == {"is": "Ready", "at": 0.0}
    assert [c["is"] for c in line["commands"]] == ["PlayEarcon", "Transition", "Prefill"]


def test_GUD_003_the_owner_sees_that_it_is_thinking() -> None:
    """A label of its own for every place; thinking is told from listening and from working."""
    talk = talk_in(Place.WAITING_FOR_LLM)
    assert talk.core.snapshot().label == "⋯ Thinking"
    assert set(talk.core.lexicon.labels) == set(Place)


@pytest.mark.parametrize(("language", "label"), [("en", "⋯ Thinking"), ("de", "⋯ Denkt nach")])
def test_GUD_003_labels_are_in_the_language_of_the_settings(language: str, label: str) -> None:
    """`language` in the configuration chooses the labels with the words."""
    assert talk_in(Place.WAITING_FOR_LLM, language=language).core.snapshot().label == label


@pytest.mark.parametrize(
    ("place", "event"),
    [
        (Place.PREPARING, ev.Ready(9.0)),
        (Place.IDLE, ev.WakeHeard(9.0, "hey_jarvis", 0.9, 0)),
        (Place.IDLE, ev.StartConversation(9.0)),
        (Place.LISTENING, ev.EndConversation(9.0)),
        (Place.WAITING_FOR_LLM, ev.Interrupt(9.0)),
        (Place.PLAYING, ev.Interrupt(9.0)),
        (Place.PLAYING, ev.Mute(9.0)),
        (Place.PLAYING, ev.Suspend(9.0, "reload")),
        (Place.PLAYING, ev.DeviceLost(9.0, ev.Device.SPEAKER)),
        (Place.RECOVERING, ev.DeviceFound(9.0, ev.Device.MICROPHONE)),
        (Place.PLAYING, ev.Shutdown(9.0)),
    ],
    ids=lambda value: value.name.lower() if isinstance(value, Place) else type(value).__name__,
)
def test_GUD_004_an_event_that_comes_twice_changes_nothing_the_second_time(
    place: Place, event: ev.Event
) -> None:
    """The state after two is the state after one."""
    talk = talk_in(place)
    talk.feed(event)
    after_one = talk.place
    talk.feed(event)
    assert talk.place is after_one


def test_GUD_004_speech_that_is_told_of_twice_is_spoken_once() -> None:
    """Repeated ends of a turn are stale and regress nothing."""
    talk = talk_in(Place.PLAYING)
    done = ev.PlaybackDone(talk.now, talk.turn, talk.length)
    talk.feed(done)
    assert talk.place is Place.LISTENING
    assert talk.feed(done) == []
    assert talk.place is Place.LISTENING
    assert len(talk.all(cmd.TurnRecord)) == 1


# -- patterns and integration ----------------------------------------------------------------


def test_PAT_001_states_have_phases() -> None:
    """PROCESSING and SPEAKING are states with places of their own in them."""
    phases = {s: {p for p in Place if p.state is s} for s in State}
    assert phases[S.PROCESSING] == {
        Place.WAITING_FOR_LLM,
        Place.TOOL_EXECUTING,
        Place.WAITING_FOR_TASK,
    }
    assert phases[S.SPEAKING] == {Place.PLAYING, Place.HELD}
    assert all(len(places) == 1 for s, places in phases.items() if s.value not in (
        "processing", "speaking",
    ))  # fmt: skip


def test_PAT_002_observers_see_every_transition_until_they_leave() -> None:
    """As many as want to, each unsubscribed by what `observe` returned."""
    talk = Talk()
    first: list[cmd.Transition] = []
    second: list[cmd.Transition] = []
    leave = talk.core.observe(first.append)
    talk.core.observe(second.append)
    talk.wake()
    leave()
    talk.feed(ev.EndConversation(talk.now))
    assert [t.target for t in first] == [Place.LISTENING]
    assert [t.target for t in second] == [Place.LISTENING, Place.IDLE]


def test_PAT_003_what_the_owner_does_are_commands_of_their_own() -> None:
    """Start, interrupt and end, without wake word, voice or button."""
    talk = Talk()
    talk.feed(ev.StartConversation(talk.now))
    assert talk.place is Place.LISTENING
    talk.ask("tell me about the sea")
    talk.answer("The sea is wide and deep.")
    talk.feed(ev.Interrupt(talk.now))
    assert talk.place is Place.INTERRUPTED
    talk.wait(0.1)
    talk.feed(ev.EndConversation(talk.now))
    assert talk.place is Place.IDLE


def test_PAT_004_three_faults_in_a_minute_open_the_breaker_for_a_minute() -> None:
    """No restart storm: FAULTED for 60 s, whatever comes meanwhile."""
    talk = Talk()
    for _ in range(3):
        talk.feed(ev.Fault(talk.now, ev.FaultKind.UNKNOWN, "driver", "boom"))
        talk.pass_time(5)
    assert talk.causes[-1] is Cause.BREAKER_OPEN
    talk.pass_time(50)
    talk.wake()
    assert talk.place is Place.FAULTED
    talk.pass_time(6)
    assert talk.place is Place.IDLE


def test_PAT_004_faults_far_apart_leave_the_breaker_closed() -> None:
    """Two minutes between them: each is a fault of its own."""
    talk = Talk()
    for _ in range(5):
        talk.feed(ev.Fault(talk.now, ev.FaultKind.UNKNOWN, "driver", "boom"))
        talk.pass_time(120)
    assert talk.place is Place.IDLE


def test_INT_005_one_prompt_per_utterance_and_one_answer_per_prompt() -> None:
    """A repeated final asks nothing again; what an abandoned prompt brings is dropped."""
    talk = talk_in(Place.WAITING_FOR_LLM)
    abandoned = talk.turn
    talk.hear("tell me about the sea", final=True)
    talk.wait(1)
    assert len(talk.all(cmd.Generate)) == 1
    talk.speak(0.4)
    assert talk.place is Place.LISTENING
    talk.ask("tell me about the sea and the moon")
    talk.feed(ev.Token(talk.now, abandoned, "Late. "))
    talk.feed(ev.ReplyDone(talk.now, abandoned))
    assert not talk.all(cmd.Synthesise)
    talk.answer("Wide and bright.")
    assert [c.turn for c in talk.all(cmd.StartPlayback)] == [talk.turn]


def test_INT_005_a_tool_result_continues_the_same_question() -> None:
    """The second request holds the question once, with the result behind it."""
    talk = talk_in(Place.WAITING_FOR_LLM)
    call_tool(talk)
    talk.feed(ev.ToolDone(talk.now, talk.turn, 1, "sunny"))
    roles = [m.role for m in talk.last(cmd.Generate).messages]
    assert roles == ["system", "user", "tool"]
    assert talk.place is Place.WAITING_FOR_LLM
