"""Suspended, muted or recovering in the middle of a tool: its clocks stand still."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.events import RATE, Device
from edgevoice.core.table import Place
from edgevoice.core.timers import Timer
from tests.core.reach import talk_at
from tests.core.talk import Talk

Step = Callable[[Talk], object]


def suspend(talk: Talk) -> None:
    talk.feed(ev.Suspend(talk.now, "reload"))


def resume(talk: Talk) -> None:
    talk.feed(ev.Resume(talk.now))


AWAY: dict[str, tuple[Step, Step]] = {
    "suspended": (suspend, resume),
    "muted": (
        lambda talk: talk.feed(ev.Mute(talk.now)),
        lambda talk: talk.feed(ev.Unmute(talk.now)),
    ),
    "recovering": (
        lambda talk: talk.feed(ev.DeviceLost(talk.now, Device.SPEAKER)),
        lambda talk: talk.feed(ev.DeviceFound(talk.now, Device.SPEAKER)),
    ),
}
ways = pytest.mark.parametrize(("leave", "back"), AWAY.values(), ids=AWAY)


def lasts(talk: Talk, place: Place) -> float:
    """Seconds until time alone leads out of ``place``, progress lines spoken in between."""
    began = talk.now
    while talk.place is place:
        assert talk.core.deadline is not None
        talk.pass_time(talk.core.deadline - talk.now)
        if talk.core.parked is not None:
            talk.synthesise()
            talk.finish()
    return talk.now - began


@ways
def test_a_tool_has_the_rest_of_its_30_s_after_the_return(leave: Step, back: Step):
    talk = talk_at(Place.TOOL_EXECUTING)
    talk.pass_time(10)
    leave(talk)
    talk.pass_time(25)
    back(talk)
    assert lasts(talk, Place.TOOL_EXECUTING) == pytest.approx(20)
    assert "timed out" in talk.last(cmd.Generate).messages[-1].text


@ways
def test_a_task_has_the_rest_of_its_5_minutes_after_the_return(leave: Step, back: Step):
    talk = talk_at(Place.WAITING_FOR_TASK)
    talk.core.the_answer.progress = 99
    talk.pass_time(100)
    leave(talk)
    talk.pass_time(25)
    back(talk)
    assert lasts(talk, Place.WAITING_FOR_TASK) == pytest.approx(200)


@ways
def test_the_heartbeat_and_the_progress_wait_as_well(leave: Step, back: Step):
    talk = talk_at(Place.WAITING_FOR_TASK)
    talk.core.the_answer.progress = 1
    talk.core.timers.clear(Timer.PROGRESS)
    talk.pass_time(4)
    leave(talk)
    talk.pass_time(25)
    back(talk)
    said = len(talk.all(cmd.Synthesise))
    talk.pass_time(0.9)
    assert len(talk.all(cmd.Synthesise)) == said
    talk.pass_time(0.2)
    assert len(talk.all(cmd.Synthesise)) == said + 1
    talk.core.the_answer.progress = 99
    talk.pass_time(54.8)
    assert not talk.all(cmd.Warn)
    talk.pass_time(0.2)
    assert talk.last(cmd.Warn).what == "task_silent"


def test_the_clock_of_a_tool_that_was_called_while_away_starts_at_the_return():
    talk = talk_at(Place.WAITING_FOR_LLM)
    suspend(talk)
    talk.pass_time(10)
    talk.feed(ev.ToolCalled(talk.now, talk.turn, 1, "clock", "{}"))
    talk.pass_time(10)
    resume(talk)
    assert lasts(talk, Place.TOOL_EXECUTING) == pytest.approx(30)


def test_the_clock_of_a_tool_runs_on_while_the_device_speaks_but_not_while_it_is_away():
    talk = talk_at(Place.WAITING_FOR_LLM)
    talk.feed(ev.Token(talk.now, talk.turn, "Let me look. "))
    talk.feed(ev.ToolCalled(talk.now, talk.turn, 1, "clock", "{}"))
    talk.synthesise()
    called = talk.now
    talk.pass_time(1)
    suspend(talk)
    talk.pass_time(20)
    resume(talk)
    talk.finish()
    assert talk.place is Place.TOOL_EXECUTING
    spoken = talk.now - called - 20
    assert lasts(talk, Place.TOOL_EXECUTING) == pytest.approx(30 - spoken)


def test_the_clock_of_a_task_stands_still_when_a_progress_line_was_left():
    talk = talk_at(Place.WAITING_FOR_TASK)
    talk.wait(0.1)
    talk.synthesise()
    assert talk.place is Place.PLAYING
    suspend(talk)
    talk.pass_time(20)
    resume(talk)
    assert talk.place is Place.PLAYING
    talk.finish()
    assert talk.place is Place.WAITING_FOR_TASK
    began = talk.core.the_answer.task_began
    assert began == pytest.approx(talk.now - 0.1 - talk.length / RATE, abs=0.05)
