"""A conversation brought to each place, by the shortest way a user would take."""

from __future__ import annotations

from collections.abc import Callable

from edgevoice.core import events as ev
from edgevoice.core.conversation import Conversation
from edgevoice.core.table import Place
from tests.core.talk import Talk


def _nothing(talk: Talk) -> None:
    """Ready is enough."""


def _tool(talk: Talk, long_running: bool = False) -> None:
    talk.asked()
    talk.feed(ev.ToolCalled(talk.now, talk.turn, 1, "clock", "{}", long_running))


def _held(talk: Talk) -> None:
    talk.answering()
    talk.speak(0.1)


def _interrupted(talk: Talk) -> None:
    talk.answering()
    talk.feed(ev.Interrupt(talk.now))


REACH: dict[Place, Callable[[Talk], None]] = {
    Place.PREPARING: _nothing,
    Place.IDLE: _nothing,
    Place.LISTENING: Talk.wake,
    Place.WAITING_FOR_LLM: Talk.asked,
    Place.TOOL_EXECUTING: _tool,
    Place.WAITING_FOR_TASK: lambda talk: _tool(talk, long_running=True),
    Place.PLAYING: Talk.answering,
    Place.HELD: _held,
    Place.INTERRUPTED: _interrupted,
    Place.SUSPENDED: lambda talk: talk.feed(ev.Suspend(talk.now, "reload")) and None,
    Place.RECOVERING: lambda talk: (
        talk.feed(ev.DeviceLost(talk.now, ev.Device.MICROPHONE)) and None
    ),
    Place.FAULTED: lambda talk: (
        talk.feed(ev.Fault(talk.now, ev.FaultKind.ENGINE, "think", "gone", fatal=True)) and None
    ),
    Place.TERMINATING: lambda talk: talk.feed(ev.Shutdown(talk.now)) and None,
}


def talk_at(place: Place, **sections: object) -> Talk:
    """A talk that has come to ``place``."""
    talk = Talk(ready=place is not Place.PREPARING, **sections)  # type: ignore[arg-type]
    REACH[place](talk)
    assert talk.place is place, f"{talk.place} instead of {place}"
    return talk


def reach(place: Place) -> Conversation:
    """Its core."""
    return talk_at(place).core
