"""The lifecycle document: each row of its transition matrix.

Where it disagrees with the others the product has one reading: SPEAKING ends in
LISTENING (the follow-up window), ERROR is FAULTED, RECONNECTING is RECOVERING,
WAITING_AMPLIFIER is WAITING_FOR_TASK, and tools that fail are results for the
model, not errors of the device.
"""

from __future__ import annotations

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.table import ANYWHERE, TABLE, Cause, Place, State, may_move
from tests.acceptance.places import talk_in
from tests.core.talk import Talk

P, S = Place, State


def may_go(place: Place) -> set[State]:
    """Every other state that the matrix lets ``place`` move to, besides those all may."""
    return {to.state for to in Place if may_move(place, to)} - {place.state} - ANYWHERE


def test_lifecycle_matrix_preparing() -> None:
    """To IDLE when it is ready, to LISTENING when it always listens."""
    assert may_go(P.PREPARING) == {S.IDLE, S.LISTENING}
    always = Talk(activation=frozenset({"always"}))
    assert always.path == [S.PREPARING, S.LISTENING]


def test_lifecycle_matrix_idle() -> None:
    """To LISTENING, and to SPEAKING for an announcement; never straight to PROCESSING."""
    assert may_go(P.IDLE) == {S.LISTENING, S.SPEAKING, S.PREPARING}
    talk = talk_in(P.IDLE)
    talk.feed(ev.Ask(talk.now, "what is new"))
    assert talk.path == [S.PREPARING, S.IDLE, S.LISTENING, S.PROCESSING]
    talk = talk_in(P.IDLE)
    talk.feed(ev.Say(talk.now, "The tea is ready."))
    talk.synthesise()
    assert talk.path == [S.PREPARING, S.IDLE, S.SPEAKING]


def test_lifecycle_matrix_listening() -> None:
    """To PROCESSING, to IDLE in silence, to SPEAKING for a check-in or an announcement."""
    assert may_go(P.LISTENING) == {S.PROCESSING, S.IDLE, S.SPEAKING}
    talk = talk_in(P.LISTENING)
    talk.feed(ev.Say(talk.now, "The tea is ready."))
    talk.synthesise()
    assert talk.path[-2:] == [S.LISTENING, S.SPEAKING]


def test_lifecycle_matrix_processing() -> None:
    """To SPEAKING, to LISTENING when the user goes on, to IDLE, to the phases of its tools."""
    assert may_go(P.WAITING_FOR_LLM) == {S.SPEAKING, S.LISTENING, S.IDLE}
    for place in (P.TOOL_EXECUTING, P.WAITING_FOR_TASK):
        assert may_move(P.WAITING_FOR_LLM, place)
    talk = talk_in(P.WAITING_FOR_LLM)
    talk.speak(0.4)
    assert talk.path[-2:] == [S.PROCESSING, S.LISTENING]


def test_lifecycle_matrix_speaking() -> None:
    """To LISTENING when it is over, INTERRUPTED, PROCESSING for a tool, IDLE when closed."""
    wanted = {S.LISTENING, S.PROCESSING, S.IDLE, S.INTERRUPTED}
    assert may_go(P.PLAYING) == may_go(P.HELD) == wanted
    talk = talk_in(P.PLAYING)
    talk.feed(ev.EndConversation(talk.now))
    assert talk.path[-2:] == [S.SPEAKING, S.IDLE]
    talk = talk_in(P.PLAYING)
    talk.finish()
    assert talk.path[-2:] == [S.SPEAKING, S.LISTENING]


def test_lifecycle_matrix_speaking_to_a_tool_in_mid_answer() -> None:
    """The words before the call are spoken, then the tool is waited for."""
    talk = talk_in(P.WAITING_FOR_LLM)
    talk.feed(ev.Token(talk.now, talk.turn, "Let me have a look. "))
    talk.feed(ev.ToolCalled(talk.now, talk.turn, 1, "weather", "{}"))
    talk.feed(ev.ReplyDone(talk.now, talk.turn))
    if talk.place is not P.PLAYING:
        talk.synthesise()
    talk.feed(ev.PlaybackStarted(talk.now, talk.turn))
    talk.finish()
    assert talk.path[-3:] == [S.PROCESSING, S.SPEAKING, S.PROCESSING]


def test_lifecycle_matrix_interrupted() -> None:
    """To LISTENING and nowhere else."""
    assert may_go(P.INTERRUPTED) == {S.LISTENING}


def test_lifecycle_matrix_tool_executing() -> None:
    """Back to the model with the result; "stop" calls it off."""
    talk = talk_in(P.TOOL_EXECUTING)
    talk.feed(ev.ToolDone(talk.now, talk.turn, 1, "sunny"))
    assert talk.place is P.WAITING_FOR_LLM
    assert talk.causes[-1] is Cause.TOOL_RESULT
    talk = talk_in(P.TOOL_EXECUTING)
    talk.speak(0.3)
    talk.hear("stop")
    assert talk.place is P.IDLE
    assert talk.all(cmd.CancelTool)


def test_lifecycle_matrix_waiting_for_task() -> None:
    """Back to the model with the result, to IDLE when the user cancels it."""
    talk = talk_in(P.WAITING_FOR_TASK)
    talk.feed(ev.ToolDone(talk.now, talk.turn, 1, "done"))
    assert talk.place is P.WAITING_FOR_LLM
    talk = talk_in(P.WAITING_FOR_TASK)
    talk.speak(0.3)
    talk.hear("cancel")
    assert talk.place is P.IDLE
    assert talk.all(cmd.CancelTool)


def test_lifecycle_matrix_error() -> None:
    """FAULTED goes to PREPARING, IDLE or TERMINATING, never back into a turn."""
    assert may_go(P.FAULTED) == {S.PREPARING, S.IDLE}
    assert may_move(P.FAULTED, P.TERMINATING)


def test_lifecycle_matrix_reconnecting() -> None:
    """RECOVERING goes to IDLE, to the state before it, or to FAULTED."""
    wanted = {S.IDLE, S.LISTENING, S.PROCESSING, S.SPEAKING}
    assert may_go(P.RECOVERING) == may_go(P.SUSPENDED) == wanted
    for place in (P.IDLE, P.LISTENING, P.WAITING_FOR_LLM, P.PLAYING):
        talk = talk_in(place)
        talk.feed(ev.DeviceLost(talk.now, ev.Device.SPEAKER))
        assert talk.place is P.RECOVERING
        talk.feed(ev.DeviceFound(talk.now, ev.Device.SPEAKER))
        assert talk.place is place


def test_lifecycle_matrix_terminating() -> None:
    """The end: nothing leads out of it."""
    assert not any(may_move(P.TERMINATING, place) for place in Place)


_UP = [p for p in Place if p not in (P.PREPARING, P.FAULTED, P.TERMINATING)]
_TO_RECOVERING = [p for p in _UP if p is not P.RECOVERING]


@pytest.mark.parametrize("place", _UP, ids=lambda p: p.value)
def test_lifecycle_matrix_any_state_to_error(place: Place) -> None:
    """A fatal fault leads to FAULTED from wherever the device is up."""
    talk = talk_in(place)
    talk.feed(ev.Fault(talk.now, ev.FaultKind.UNKNOWN, "driver", "boom", fatal=True))
    assert talk.place is P.FAULTED


@pytest.mark.parametrize("place", _TO_RECOVERING, ids=lambda p: p.value)
def test_lifecycle_matrix_any_state_to_reconnecting(place: Place) -> None:
    """A lost device leads to RECOVERING from wherever the device is up."""
    talk = talk_in(place)
    talk.feed(ev.DeviceLost(talk.now, ev.Device.MICROPHONE))
    assert talk.place is P.RECOVERING


@pytest.mark.parametrize(
    "place", [p for p in Place if p is not P.TERMINATING], ids=lambda p: p.value
)
def test_lifecycle_matrix_any_state_to_terminating(place: Place) -> None:
    """Shutdown leads to TERMINATING from every state, and the process exits."""
    talk = talk_in(place)
    talk.feed(ev.Shutdown(talk.now))
    assert talk.place is P.TERMINATING
    talk.pass_time(5.1)
    assert talk.last(cmd.Exit).status == (70 if place is P.FAULTED else 0)


def test_lifecycle_matrix_no_row_leads_outside_it() -> None:
    """Each place that a row names is allowed by the matrix, in one or two steps.

    The one exception is a rule that passes through another place on its way.
    """
    for place, rows in TABLE.items():
        for row in rows.values():
            direct = {to for to in row.to if to is place or may_move(place, to)}
            for to in row.to - direct:
                assert any(may_move(by, to) for by in direct), f"{place} {row}"
