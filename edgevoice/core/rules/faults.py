"""Faults: devices that go, engines that fail, and the ways back."""

from __future__ import annotations

import json

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.conversation import Conversation
from edgevoice.core.rules import steps
from edgevoice.core.rules.away import come_back, leave_for
from edgevoice.core.rules.mind import apologise, ask_again, retry_or_apologise
from edgevoice.core.rules.tools import take_result
from edgevoice.core.table import Cause, Place
from edgevoice.core.timers import Timer
from edgevoice.core.turn import Kind

_REST_RETRY_S = 10.0
"""Between attempts to open a lost device while the device rests."""

_SPEAKING = (Place.PLAYING, Place.HELD)
_THINKING = (Place.WAITING_FOR_LLM, Place.TOOL_EXECUTING, Place.WAITING_FOR_TASK)


def fault(c: Conversation, event: ev.Event) -> None:
    """Each kind has its own way; too many of one kind open the breaker."""
    assert isinstance(event, ev.Fault)
    if event.turn is not None and event.kind is not ev.FaultKind.ENGINE and _is_stale(c, event):
        c.stale += 1
        return
    if event.fatal:
        _give_up(c, Cause.ERROR, fatal=True)
    elif c.breakers[event.kind].fault(c.now):
        _give_up(c, Cause.BREAKER_OPEN, fatal=False)
    else:
        _WAYS[event.kind](c, event)


def _is_stale(c: Conversation, event: ev.Fault) -> bool:
    alive = (c.answer, c.parked)
    return not any(a is not None and a.turn == event.turn for a in alive)


def _give_up(c: Conversation, cause: Cause, *, fatal: bool) -> None:
    """FAULTED: nothing goes on, the lamp says why."""
    _drop_everything(c)
    c.fatal = c.fatal or fatal
    c.move(Place.FAULTED, cause)
    if cause is Cause.BREAKER_OPEN:
        c.after(c.tuning.recovery.breaker_open_s, Timer.PLACE)


def _drop_everything(c: Conversation) -> None:
    answer = c.answer
    if answer is not None:
        answer.interrupted = not answer.done
        c.record(answer)
    steps.cancel_answer(c)
    steps.drop_parked(c)
    steps.forget_utterance(c)
    c.judge = None


def _llm_failed(c: Conversation, event: ev.Fault) -> None:
    answer = c.answer
    if answer is None:
        return
    c.timers.clear(Timer.FIRST_TOKEN)
    if c.place is Place.WAITING_FOR_LLM and answer.kind is Kind.REPLY:
        retry_or_apologise(c, answer)
    elif not answer.complete:
        steps.end_speech(c, answer)


def _tts_failed(c: Conversation, event: ev.Fault) -> None:
    """No voice: a sound and the lamp must do."""
    c.do(cmd.PlayEarcon("error"))
    answer = c.answer
    if answer is None:
        return
    if c.place in _SPEAKING and not answer.complete:
        c.do(cmd.CancelGeneration(answer.turn))
        steps.end_speech(c, answer)
    elif c.place in _THINKING:
        c.record(answer)
        steps.cancel_answer(c)
        steps.listen(c, Cause.ERROR, c.heard_until, c.tuning.timeouts.follow_up_s)
    elif c.place not in _SPEAKING:
        steps.cancel_answer(c)


def _tool_failed(c: Conversation, event: ev.Fault) -> None:
    """To the model as a result, never to the user as a crash."""
    answer = c.answer if c.parked is None else c.parked
    if answer is None or answer.call is None:
        return
    answer.result = json.dumps({"error": event.reason})
    if c.place in (Place.TOOL_EXECUTING, Place.WAITING_FOR_TASK):
        take_result(c)


def _engine_failed(c: Conversation, event: ev.Fault) -> None:
    """Build it again; the turn waits."""
    c.broken.add(event.part)
    c.do(cmd.RebuildPart(event.part))
    if c.place is not Place.RECOVERING:
        c.attempts = 0
        leave_for(c, Place.RECOVERING, Cause.ERROR)


def _device_failed(c: Conversation, event: ev.Fault) -> None:
    device = ev.Device.SPEAKER if event.part == "speaker" else ev.Device.MICROPHONE
    device_lost(c, ev.DeviceLost(event.at, device, event.reason))


def _unknown(c: Conversation, event: ev.Fault) -> None:
    """Say sorry if a question is open, and go on."""
    answer = c.answer
    if c.place is Place.WAITING_FOR_LLM and answer is not None and answer.kind is Kind.REPLY:
        apologise(c, answer)


_WAYS = {
    ev.FaultKind.LLM: _llm_failed,
    ev.FaultKind.TTS: _tts_failed,
    ev.FaultKind.TOOL: _tool_failed,
    ev.FaultKind.ENGINE: _engine_failed,
    ev.FaultKind.DEVICE: _device_failed,
    ev.FaultKind.UNKNOWN: _unknown,
}


def fault_at_rest(c: Conversation, event: ev.Event) -> None:
    """Before the device is up, or while it is down: a fatal one decides."""
    assert isinstance(event, ev.Fault)
    if event.fatal:
        c.fatal = True
        c.move(Place.FAULTED, Cause.ERROR)
    elif event.kind is ev.FaultKind.ENGINE:
        c.broken.add(event.part)
        c.do(cmd.RebuildPart(event.part))


def part_works(c: Conversation, event: ev.Event) -> None:
    """Good to know; nobody waited for it."""
    assert isinstance(event, ev.PartRebuilt)
    c.broken.discard(event.part)


def part_rebuilt(c: Conversation, event: ev.Event) -> None:
    """It works again: ask once more if the turn had not been answered."""
    part_works(c, event)
    if c.broken or c.lost:
        return
    if c.place is Place.PREPARING:
        steps.go_idle(c, Cause.RESUME)
    else:
        come_back(c, Cause.RESUME)
        _ask_once_more(c)


def _ask_once_more(c: Conversation) -> None:
    answer = c.answer
    if c.place is Place.WAITING_FOR_LLM and answer is not None and answer.kind is Kind.REPLY:
        if answer.retries == 0 and not answer.spoken:
            answer.retries = 1
            c.do(cmd.CancelGeneration(answer.turn), cmd.CancelSynthesis(answer.turn))
            ask_again(c, answer)
        else:
            apologise(c, answer)


# -- devices --------------------------------------------------------------------------


def device_lost(c: Conversation, event: ev.Event) -> None:
    """Try to open it again, in 1, 3 and 10 seconds."""
    assert isinstance(event, ev.DeviceLost)
    known = event.device in c.lost
    c.lost.add(event.device)
    if c.place is Place.PREPARING:
        c.after(_REST_RETRY_S, Timer.REOPEN)
    elif c.place is not Place.RECOVERING:
        c.attempts = 0
        leave_for(c, Place.RECOVERING, Cause.DEVICE_LOST)
        _try_again_later(c)
    elif not known:
        c.attempts = 0
        _try_again_later(c)


def device_is_lost(c: Conversation, event: ev.Event) -> None:
    """Down already: remember it for the next start."""
    assert isinstance(event, ev.DeviceLost)
    c.lost.add(event.device)


def device_found(c: Conversation, event: ev.Event) -> None:
    """All are back: go on where it was."""
    assert isinstance(event, ev.DeviceFound)
    c.lost.discard(event.device)
    if c.lost or c.broken:
        return
    if c.place is Place.PREPARING:
        steps.go_idle(c, Cause.DEVICE_FOUND)
    else:
        come_back(c, Cause.DEVICE_FOUND)


def device_is_there(c: Conversation, event: ev.Event) -> None:
    """Good to know for the next start."""
    assert isinstance(event, ev.DeviceFound)
    c.lost.discard(event.device)


def _try_again_later(c: Conversation) -> None:
    waits = c.tuning.recovery.device_retries_s
    c.after(waits[min(c.attempts, len(waits) - 1)], Timer.REOPEN)
    c.attempts += 1


def _reopen(c: Conversation) -> None:
    for device in sorted(c.lost, key=lambda d: d.value):
        c.do(cmd.ReopenDevice(device))


def reopen_at_rest(c: Conversation) -> None:
    """Try to open what is lost, and again in a while."""
    _reopen(c)
    c.after(_REST_RETRY_S, Timer.REOPEN)


def recovering_tick(c: Conversation, event: ev.Event) -> None:
    """Another attempt, or the end of them."""
    timer = c.timers.pop_due(c.now)
    if timer is Timer.REOPEN:
        _reopen(c)
        _try_again_later(c)
    elif timer is Timer.PLACE:
        _drop_everything(c)
        c.move(Place.FAULTED, Cause.RECOVERY_TIMEOUT)


def fault_over(c: Conversation, event: ev.Event) -> None:
    """A fatal fault ends the process; any other one gets a new start."""
    if c.timers.pop_due(c.now) is not Timer.PLACE:
        return
    if c.fatal:
        c.move(Place.TERMINATING, Cause.ERROR)
        c.after(0.0, Timer.PLACE)
    elif c.lost or c.broken:
        c.move(Place.PREPARING, Cause.ERROR_CLEARED)
        for part in sorted(c.broken):
            c.do(cmd.RebuildPart(part))
        reopen_at_rest(c)
    else:
        c.move(Place.IDLE, Cause.ERROR_CLEARED)
