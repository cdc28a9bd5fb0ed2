"""How to get a conversation into each of its places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from edgevoice.core import events as ev
from edgevoice.core.table import Place
from tests.core.talk import WORD, Talk


def _idle(talk: Talk) -> None:
    """Where it is when it is ready."""


def _listening(talk: Talk) -> None:
    talk.wake()


def _waiting_for_llm(talk: Talk) -> None:
    talk.asked()


def call_tool(talk: Talk, *, long_running: bool = False) -> None:
    """The model calls tool number 1."""
    talk.feed(ev.ToolCalled(talk.now, talk.turn, 1, "weather", "{}", long_running))
    talk.feed(ev.ReplyDone(talk.now, talk.turn))


def _tool_executing(talk: Talk) -> None:
    talk.asked()
    call_tool(talk)


def _waiting_for_task(talk: Talk) -> None:
    talk.asked()
    call_tool(talk, long_running=True)


def _playing(talk: Talk) -> None:
    talk.answering()


def _held(talk: Talk) -> None:
    talk.answering()
    talk.speak(0.1)
    talk.held_at(WORD)


def _interrupted(talk: Talk) -> None:
    _held(talk)
    talk.hear("stop")


def _suspended(talk: Talk) -> None:
    talk.feed(ev.Suspend(talk.now, "reload"))


def _recovering(talk: Talk) -> None:
    talk.feed(ev.DeviceLost(talk.now, ev.Device.MICROPHONE))


def _faulted(talk: Talk) -> None:
    talk.feed(ev.Fault(talk.now, ev.FaultKind.ENGINE, "think", "gone", fatal=True))


def _terminating(talk: Talk) -> None:
    talk.feed(ev.Shutdown(talk.now))


_WAYS: dict[Place, Callable[[Talk], None]] = {
    Place.IDLE: _idle,
    Place.LISTENING: _listening,
    Place.WAITING_FOR_LLM: _waiting_for_llm,
    Place.TOOL_EXECUTING: _tool_executing,
    Place.WAITING_FOR_TASK: _waiting_for_task,
    Place.PLAYING: _playing,
    Place.HELD: _held,
    Place.INTERRUPTED: _interrupted,
    Place.SUSPENDED: _suspended,
    Place.RECOVERING: _recovering,
    Place.FAULTED: _faulted,
    Place.TERMINATING: _terminating,
}


def talk_in(place: Place, **sections: Any) -> Talk:
    """A conversation that is in ``place``."""
    if place is Place.PREPARING:
        return Talk(ready=False, **sections)
    talk = Talk(**sections)
    _WAYS[place](talk)
    assert talk.place is place
    return talk
