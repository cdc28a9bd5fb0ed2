"""Tools and long tasks: called, waited for, given up."""

from __future__ import annotations

import json
from functools import partial

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.conversation import Conversation
from edgevoice.core.rules import steps
from edgevoice.core.rules.mind import apologise, tell
from edgevoice.core.rules.silence import cancel_phrase, cancel_tools
from edgevoice.core.rules.utterance import begin_utterance
from edgevoice.core.table import Cause, Place
from edgevoice.core.timers import Timer
from edgevoice.core.turn import Answer, Kind

MAX_RESULT_CHARACTERS = 4000
"""A longer result is shortened before the model sees it."""

MAX_SPOKEN_CHARACTERS = 1000
"""Of what a tool says, about a minute."""

MAX_ROUNDS = 8
"""A model that has called tools so often for one question calls in circles."""

PROGRESS_S = (0.0, 5.0, 15.0, 30.0)
"""Seconds into a task at which its progress is spoken."""

_AT_WORK = (Place.TOOL_EXECUTING, Place.WAITING_FOR_TASK)


def tool_called(c: Conversation, event: ev.Event) -> None:
    """Run it; one that takes long is a task.

    What the model has said before it is spoken first; then it is waited for.
    """
    assert isinstance(event, ev.ToolCalled)
    if c.draft is not None and event.turn == c.draft.turn:
        c.draft.put_off.append(event)
        c.the_hearing.understood = event.direct
        return
    answer = c.answer
    if answer is None or answer.turn != event.turn or answer.failed:
        return
    if answer.kind is not Kind.REPLY or event.call in answer.called:
        return
    steps.finish_text(c, answer)
    c.timers.clear(Timer.FIRST_TOKEN)
    c.do(cmd.RunTool(event.turn, event.call, event.name, event.arguments))
    if not answer.called:
        answer.progress = 1 if answer.text else 0
        answer.task_began = c.now
    answer.called.add(event.call)
    answer.running.add(event.call)
    answer.long_running = answer.long_running or event.long_running
    answer.direct = event.direct
    answer.called_at = answer.beat_at = c.now
    if c.place in (Place.WAITING_FOR_LLM, *_AT_WORK):
        wait_for_tool(c, answer, Cause.TASK_STARTED if answer.long_running else Cause.TOOL_CALLED)


def wait_for_tool(c: Conversation, answer: Answer, cause: Cause) -> None:
    """Wait in the place that fits; what the user says meanwhile is kept.

    The clocks of the tool have run on while the device spoke, not while it was away.
    """
    task, timeouts = answer.long_running, c.tuning.timeouts
    c.move(Place.WAITING_FOR_TASK if task else Place.TOOL_EXECUTING, cause, answer.turn)
    if c.hearing is None or c.hearing is answer.utterance:
        begin_utterance(c, c.heard_until)
    if not task:
        c.timers.set(Timer.PLACE, answer.called_at + timeouts.tool_s)
        return
    c.timers.set(Timer.PLACE, answer.task_began + timeouts.task_s)
    c.timers.set(Timer.HEARTBEAT, answer.beat_at + timeouts.heartbeat_s)
    _await_progress(c, answer)


def _await_progress(c: Conversation, answer: Answer) -> None:
    if answer.progress < len(PROGRESS_S):
        c.timers.set(Timer.PROGRESS, answer.task_began + PROGRESS_S[answer.progress])


def tool_done(c: Conversation, event: ev.Event) -> None:
    """The model gets the result and goes on, if nothing is being said."""
    assert isinstance(event, ev.ToolDone)
    answer = at_work(c)
    if answer is None or answer.turn != event.turn or event.call not in answer.running:
        return
    answer.running.discard(event.call)
    answer.results.append(shortened(event.result))
    answer.said_of.append(event.spoken)
    if c.place in _AT_WORK and not answer.running:
        cancel_phrase(c)
        take_result(c)


def at_work(c: Conversation) -> Answer | None:
    """The answer that tools work for."""
    return c.answer if c.parked is None else c.parked


def take_result(c: Conversation) -> None:
    """Say what the tools have to say, or ask the model again, once all are back."""
    answer = c.the_answer
    if answer.running or not answer.results:
        return
    c.do(cmd.CancelGeneration(answer.turn))
    if answer.text and not answer.done:
        c.do(cmd.CancelSynthesis(answer.turn), cmd.DropPlayback(answer.turn))
    again = c.new_answer(answer.heard, Kind.REPLY)
    again.rounds = answer.rounds + 1
    again.times.decided = answer.times.decided
    again.times.speech_ended = answer.times.speech_ended
    c.move(Place.WAITING_FOR_LLM, Cause.TOOL_RESULT)
    if answer.direct or all(answer.said_of) or not any(answer.results):
        said = map(partial(_words_of, c), answer.results, answer.said_of)
        tell(c, again, " ".join(filter(None, said))[:MAX_SPOKEN_CHARACTERS])
    elif again.rounds > MAX_ROUNDS:
        apologise(c, again)
    else:
        for result in answer.results:
            c.history.tool(answer.heard, result or "{}")
        steps.send_prompt(c, again)


def _words_of(c: Conversation, result: str, said: str) -> str:
    """What is said of one result without asking the model."""
    return said or (c.lexicon.phrases["tool_failed"] if is_error(result) else result)


def is_error(result: str) -> bool:
    """Whether a tool's result tells of its failure: a JSON object with an ``error`` key."""
    try:
        value = json.loads(result)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "error" in value


def shortened(result: str) -> str:
    """The result, cut to `MAX_RESULT_CHARACTERS` with a note."""
    if len(result) <= MAX_RESULT_CHARACTERS:
        return result
    return result[:MAX_RESULT_CHARACTERS] + " … (shortened)"


def tool_too_long(c: Conversation, event: ev.Event) -> None:
    """No result in time: that is the result."""
    if c.timers.pop_due(c.now) is Timer.PLACE:
        fail_tools(c, "timed out")


def task_tick(c: Conversation, event: ev.Event) -> None:
    """Say how it goes, warn, or give up."""
    timer = c.timers.pop_due(c.now)
    answer = at_work(c)
    if timer is None or answer is None:
        return
    if timer is Timer.PROGRESS:
        _speak_progress(c, answer)
    elif timer is Timer.SPEECH:
        cancel_phrase(c)
    elif timer is Timer.HEARTBEAT:
        c.do(cmd.Warn("task_silent", answer.turn))
        c.after(c.tuning.timeouts.heartbeat_s, Timer.HEARTBEAT)
    else:
        fail_tools(c, "timed out")


def fail_tools(c: Conversation, reason: str) -> None:
    """Stop what still runs; the model is told that it failed."""
    answer = at_work(c)
    if answer is None or not answer.running:
        return
    answer.results += [json.dumps({"error": reason})] * len(answer.running)
    answer.said_of += [""] * len(answer.running)
    cancel_tools(c, answer)
    if c.place in _AT_WORK:
        cancel_phrase(c)
        take_result(c)


def _speak_progress(c: Conversation, answer: Answer) -> None:
    lines = c.lexicon.progress
    text = lines[min(answer.progress, len(lines) - 1)]
    answer.progress += 1
    _await_progress(c, answer)
    if c.parked is None and (answer.done or not answer.text):
        c.parked = answer
        steps.say(c, text, Kind.PHRASE)


def task_beat(c: Conversation, event: ev.Event) -> None:
    """The task is alive."""
    assert isinstance(event, ev.TaskBeat)
    answer = at_work(c)
    if answer is None or event.call not in answer.running:
        return
    answer.beat_at = c.now
    if c.place is Place.WAITING_FOR_TASK:
        c.after(c.tuning.timeouts.heartbeat_s, Timer.HEARTBEAT)
