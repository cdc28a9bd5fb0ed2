"""The lifecycle document: each of its timeouts, in simulated time."""

from __future__ import annotations

import json

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.table import TIMEOUTS, Cause, Place
from edgevoice.core.tuning import DeadAir, Timeouts
from tests.acceptance.places import call_tool, talk_in
from tests.core.talk import Talk

P = Place


def test_lifecycle_timeout_preparing_60_s() -> None:
    """Then FAULTED."""
    talk = talk_in(P.PREPARING)
    talk.pass_time(59.9)
    assert talk.place is P.PREPARING
    talk.pass_time(0.2)
    assert talk.place is P.FAULTED


def test_lifecycle_timeout_idle_never() -> None:
    """A day later it still waits."""
    talk = talk_in(P.IDLE)
    assert talk.core.deadline is None
    talk.pass_time(86_400)
    assert talk.place is P.IDLE


def test_lifecycle_timeout_listening_30_s_of_speech() -> None:
    """Speech without an end is answered as it stands."""
    talk = talk_in(P.LISTENING)
    talk.speak(1)
    talk.hear("once upon a time")
    talk.speak(28.5)
    assert talk.place is P.LISTENING
    talk.speak(1)
    assert Cause.TURN_TIMEOUT in talk.causes
    assert talk.last(cmd.Generate).messages[-1].text == "once upon a time"


def test_lifecycle_timeout_listening_5_s_with_nothing_said() -> None:
    """Then IDLE."""
    talk = talk_in(P.LISTENING)
    talk.wait(4.9)
    assert talk.place is P.LISTENING
    talk.wait(0.2)
    assert talk.place is P.IDLE


def test_lifecycle_timeout_follow_up_8_s() -> None:
    """After an answer the device listens longer, without a wake word."""
    talk = talk_in(P.PLAYING)
    talk.finish()
    talk.wait(7.9)
    assert talk.place is P.LISTENING
    talk.wait(0.2)
    assert talk.place is P.IDLE


def test_lifecycle_timeout_dead_air_asks_and_then_closes() -> None:
    """8 s after the answer it asks, twice at most, then the conversation is over."""
    talk = talk_in(P.PLAYING, dead_air=DeadAir(enabled="on"))
    talk.finish()
    for phrase in talk.core.lexicon.check_ins[:2]:
        talk.wait(8.1)
        assert talk.last(cmd.Synthesise).text == phrase
        talk.synthesise()
        talk.finish()
    talk.wait(8.1)
    assert talk.place is P.IDLE
    assert talk.causes[-1] is Cause.DEAD_AIR


def test_lifecycle_timeout_first_token_8_s_then_a_retry() -> None:
    """No token for 8 s: cancelled, and asked again a second later."""
    talk = talk_in(P.WAITING_FOR_LLM)
    asked_at = talk.core.since
    talk.pass_time(asked_at + 8.9 - talk.now)
    assert len(talk.all(cmd.Generate)) == 1
    talk.pass_time(0.2)
    assert len(talk.all(cmd.Generate)) == 2


def test_lifecycle_timeout_processing_30_s_then_an_apology() -> None:
    """Whatever was tried, after 30 s the device says that it has no answer."""
    talk = talk_in(P.WAITING_FOR_LLM)
    asked_at = talk.core.since
    talk.pass_time(asked_at + 29.9 - talk.now)
    assert not talk.all(cmd.Synthesise)
    talk.pass_time(0.2)
    assert talk.last(cmd.Synthesise).text == talk.core.lexicon.phrases["unavailable"]


def test_lifecycle_timeout_tool_30_s_then_an_error_for_the_model() -> None:
    """The tool is cancelled, and its result says so."""
    talk = talk_in(P.TOOL_EXECUTING)
    talk.pass_time(29.9)
    assert talk.place is P.TOOL_EXECUTING
    talk.pass_time(0.2)
    assert talk.place is P.WAITING_FOR_LLM
    assert talk.all(cmd.CancelTool)
    assert "error" in json.loads(talk.last(cmd.Generate).messages[-1].text)


def test_lifecycle_timeout_task_progress_speech() -> None:
    """A long task is spoken of at once, and the task goes on after it."""
    talk = talk_in(P.WAITING_FOR_TASK)
    talk.pass_time(0.1)
    assert talk.last(cmd.Synthesise).text == talk.core.lexicon.progress[0]
    talk.synthesise()
    talk.finish()
    assert talk.place is P.WAITING_FOR_TASK
    talk.pass_time(5)
    assert talk.last(cmd.Synthesise).text == talk.core.lexicon.progress[1]


def _quiet_task(talk: Talk, seconds: float) -> None:
    """A task goes on; each of its progress lines is spoken at once."""
    end = talk.now + seconds
    while talk.now < end:
        talk.pass_time(0.5)
        pieces = {c.turn for c in talk.all(cmd.Synthesise)}
        started = {c.turn for c in talk.all(cmd.StartPlayback)}
        if talk.core.answer is not None and talk.turn in pieces - started:
            talk.synthesise()
            talk.finish()


def test_lifecycle_timeout_task_60_s_without_heartbeat_is_a_warning() -> None:
    """Warned of, and waited for."""
    talk = talk_in(P.WAITING_FOR_TASK)
    _quiet_task(talk, 58)
    assert not talk.all(cmd.Warn)
    _quiet_task(talk, 60)
    assert talk.last(cmd.Warn).what == "task_silent"
    assert talk.place is P.WAITING_FOR_TASK


def test_lifecycle_timeout_task_5_min_then_an_error_for_the_model() -> None:
    """Cancelled, and the model is told; the progress lines in between do not prolong it."""
    talk = talk_in(P.WAITING_FOR_TASK)
    _quiet_task(talk, 290)
    assert talk.place is P.WAITING_FOR_TASK
    _quiet_task(talk, 15)
    assert talk.place is P.WAITING_FOR_LLM
    assert "error" in json.loads(talk.last(cmd.Generate).messages[-1].text)


def test_lifecycle_a_result_over_4000_characters_is_shortened() -> None:
    """The model sees the beginning and that it was cut."""
    talk = talk_in(P.WAITING_FOR_LLM)
    call_tool(talk)
    talk.feed(ev.ToolDone(talk.now, talk.turn, 1, "x" * 5000))
    text = talk.last(cmd.Generate).messages[-1].text
    assert 4000 <= len(text) < 4100


def test_lifecycle_timeout_speaking_120_s_is_only_a_warning() -> None:
    """A long explanation is not cut."""
    talk = talk_in(P.WAITING_FOR_LLM)
    talk.answer(" ".join(["and so on"] * 200) + ".")
    talk.pass_time(119)
    assert not talk.all(cmd.Warn)
    talk.pass_time(2)
    assert talk.last(cmd.Warn).what == "speaking_long"
    assert talk.place is P.PLAYING


def test_lifecycle_timeout_held_1500_ms() -> None:
    """A hold that nothing explains ends: the answer goes on."""
    talk = talk_in(P.HELD)
    since = talk.core.since
    talk.wait(1.6)
    resumed = talk.last(cmd.Transition)
    assert resumed.target is P.PLAYING
    assert resumed.at - since <= 1.5 + 1e-6


def test_lifecycle_timeout_interrupted_50_ms() -> None:
    """Then LISTENING."""
    talk = talk_in(P.INTERRUPTED)
    talk.pass_time(0.049)
    assert talk.place is P.INTERRUPTED
    talk.pass_time(0.002)
    assert talk.place is P.LISTENING


def test_lifecycle_timeout_suspended_30_s_then_recovering() -> None:
    """Whatever suspended it has forgotten it."""
    talk = talk_in(P.SUSPENDED)
    talk.pass_time(29.9)
    assert talk.place is P.SUSPENDED
    talk.pass_time(0.2)
    assert talk.place is P.RECOVERING


def test_lifecycle_timeout_muted_never() -> None:
    """The owner's mute has no end but the owner's."""
    talk = talk_in(P.IDLE)
    talk.feed(ev.Mute(talk.now))
    talk.pass_time(86_400)
    assert talk.place is P.SUSPENDED


def test_lifecycle_timeout_reconnecting_30_s_then_error() -> None:
    """Attempts after 1, 3 and 10 s; 30 s in all, then FAULTED."""
    talk = talk_in(P.RECOVERING)
    talk.pass_time(29.9)
    assert talk.place is P.RECOVERING
    assert len(talk.all(cmd.ReopenDevice)) >= 3
    talk.pass_time(0.2)
    assert talk.place is P.FAULTED


def test_lifecycle_timeout_error_10_s() -> None:
    """FAULTED leaves by itself."""
    talk = talk_in(P.FAULTED)
    talk.pass_time(9.9)
    assert talk.place is P.FAULTED
    talk.pass_time(0.2)
    assert talk.place is P.TERMINATING


def test_lifecycle_timeout_terminating_5_s_at_most() -> None:
    """Nothing keeps the process."""
    talk = talk_in(P.TERMINATING)
    talk.pass_time(5.1)
    assert talk.all(cmd.Exit)


def test_lifecycle_timeouts_of_the_document_are_the_defaults() -> None:
    """Every place but IDLE has one, and the document's numbers are the defaults."""
    assert [p for p, timeout in TIMEOUTS.items() if timeout is None] == [P.IDLE]
    t = Timeouts()
    assert (t.listening_s, t.processing_s, t.speaking_warning_s) == (30, 30, 120)
    assert (t.tool_s, t.task_s, t.faulted_s, t.recovering_s) == (30, 300, 10, 30)
