"""Tools and long tasks: called, waited for, given up."""

from __future__ import annotations

import json

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.conversation import Conversation
from edgevoice.core.rules import steps
from edgevoice.core.table import Cause, Place
from edgevoice.core.timers import Timer
from edgevoice.core.turn import Answer, Kind

MAX_RESULT_CHARACTERS = 4000
"""A longer result is shortened before the model sees it."""

PROGRESS_S = (0.0, 5.0, 15.0, 30.0)
"""Seconds into a task at which its progress is spoken."""


def tool_called(c: Conversation, event: ev.Event) -> None:
    """Run it; one that takes long is a task."""
    assert isinstance(event, ev.ToolCalled)
    answer = c.answer
    if answer is None or answer.turn != event.turn:
        return
    answer.call = event.call
    c.do(cmd.RunTool(event.turn, event.call, event.name, event.arguments))
    if c.place is not Place.WAITING_FOR_LLM:
        answer.tool_follows = event.long_running
        return
    wait_for_tool(c, answer, event.long_running)


def wait_for_tool(c: Conversation, answer: Answer, long_running: bool) -> None:
    """Wait in the place that fits; what the user says meanwhile is kept."""
    steps.begin_utterance(c, c.heard_until)
    if long_running:
        c.move(Place.WAITING_FOR_TASK, Cause.TASK_STARTED, answer.turn)
        c.after(PROGRESS_S[answer.progress], Timer.PROGRESS)
        c.after(c.tuning.timeouts.heartbeat_s, Timer.HEARTBEAT)
    else:
        c.move(Place.TOOL_EXECUTING, Cause.TOOL_CALLED, answer.turn)


def tool_done(c: Conversation, event: ev.Event) -> None:
    """The model gets the result and goes on."""
    assert isinstance(event, ev.ToolDone)
    answer = next((a for a in (c.answer, c.parked) if a is not None and a.call == event.call), None)
    if answer is None:
        return
    answer.result = shortened(event.result)
    if answer is c.answer and c.place in (Place.TOOL_EXECUTING, Place.WAITING_FOR_TASK):
        take_result(c)


def take_result(c: Conversation) -> None:
    """Ask the model again, with the result of its tool."""
    answer = c.answer
    if answer is None or answer.result is None:
        return
    result, answer.result, answer.call = answer.result, None, None
    c.history.tool(answer.heard, result)
    again = c.new_answer(answer.heard, Kind.REPLY)
    again.times.decided = answer.times.decided
    again.times.speech_ended = answer.times.speech_ended
    c.move(Place.WAITING_FOR_LLM, Cause.TOOL_RESULT, again.turn)
    steps.send_prompt(c, again)


def shortened(result: str) -> str:
    """The result, cut to `MAX_RESULT_CHARACTERS` with a note."""
    if len(result) <= MAX_RESULT_CHARACTERS:
        return result
    return result[:MAX_RESULT_CHARACTERS] + " … (shortened)"


def tool_too_long(c: Conversation, event: ev.Event) -> None:
    """No result in time: that is the result."""
    c.timers.pop_due(c.now)
    fail_tool(c, "timed out")


def fail_tool(c: Conversation, reason: str) -> None:
    """The model is told that its tool failed."""
    answer = c.answer
    if answer is None or answer.call is None:
        return
    c.do(cmd.CancelTool(answer.turn, answer.call))
    answer.result = json.dumps({"error": reason})
    take_result(c)


def task_tick(c: Conversation, event: ev.Event) -> None:
    """Say how it goes, warn, or give up."""
    timer = c.timers.pop_due(c.now)
    answer = c.answer
    assert answer is not None
    if timer is Timer.PROGRESS:
        _speak_progress(c, answer)
    elif timer is Timer.HEARTBEAT:
        c.do(cmd.Warn("task_silent", answer.turn))
    elif timer is Timer.PLACE:
        fail_tool(c, "timed out")


def _speak_progress(c: Conversation, answer: Answer) -> None:
    lines = c.lexicon.progress
    text = lines[min(answer.progress, len(lines) - 1)]
    answer.progress += 1
    c.parked = answer
    steps.say(c, text, Kind.PHRASE)


def task_beat(c: Conversation, event: ev.Event) -> None:
    """The task is alive."""
    if c.place is Place.WAITING_FOR_TASK:
        c.after(c.tuning.timeouts.heartbeat_s, Timer.HEARTBEAT)
