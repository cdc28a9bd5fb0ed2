"""Faults: devices that go, engines that fail, and the ways back."""

from __future__ import annotations

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.conversation import Conversation
from edgevoice.core.rules import speculation, steps
from edgevoice.core.rules.away import (
    missing,
    recover,
    settle,
    try_again_later,
)
from edgevoice.core.rules.mind import apologise, can_retry, retry_or_apologise
from edgevoice.core.rules.silence import cancel_answer, cancel_phrase
from edgevoice.core.rules.tools import at_work, fail_tools
from edgevoice.core.rules.utterance import forget_utterance
from edgevoice.core.table import Cause, Place
from edgevoice.core.timers import Timer
from edgevoice.core.turn import Answer, Kind

_REST_RETRY_S = 10.0
"""Between attempts to open a lost device while the device rests."""


def fault(c: Conversation, event: ev.Event) -> None:
    """Each kind has its own way; too many of one kind open the breaker.

    A model that will be asked again has not failed yet.  Without one there is
    still all that needs none, so its breaker only ends the patience with it.
    """
    assert isinstance(event, ev.Fault)
    if _is_of_draft(c, event):
        speculation.give_up(c)
    elif event.turn is not None and event.kind is not ev.FaultKind.ENGINE and _is_stale(c, event):
        c.stale += 1
    elif event.fatal:
        _give_up(c, Cause.ERROR, event.kind, fatal=True)
    elif _opens_breaker(c, event) and event.kind is not ev.FaultKind.LLM:
        _remember(c, event)
        _give_up(c, Cause.BREAKER_OPEN, event.kind, fatal=False)
    else:
        _WAYS[event.kind](c, event)


def _is_of_draft(c: Conversation, event: ev.Fault) -> bool:
    """Whether nobody has noticed yet: it will be asked again when it is wanted."""
    quiet = not event.fatal and event.kind is not ev.FaultKind.ENGINE
    return quiet and c.draft is not None and event.turn == c.draft.turn


def _opens_breaker(c: Conversation, event: ev.Fault) -> bool:
    return not _will_be_retried(c, event) and c.breakers[event.kind].fault(c.now)


def _is_stale(c: Conversation, event: ev.Fault) -> bool:
    alive = (c.answer, c.parked, c.draft)
    return not any(a is not None and a.turn == event.turn for a in alive)


def _will_be_retried(c: Conversation, event: ev.Fault) -> bool:
    waiting = event.kind is ev.FaultKind.LLM and c.place is Place.WAITING_FOR_LLM
    return waiting and c.answer is not None and can_retry(c, c.answer)


def _remember(c: Conversation, event: ev.Fault) -> None:
    """What does not work when the breaker opens must be mended before the next start."""
    if event.kind is ev.FaultKind.ENGINE:
        c.broken.add(event.part)
    elif event.kind is ev.FaultKind.DEVICE:
        c.lost.add(_device(event))


def _device(event: ev.Fault) -> ev.Device:
    return ev.Device.SPEAKER if event.part in ("play", "speaker") else ev.Device.MICROPHONE


def _give_up(c: Conversation, cause: Cause, kind: ev.FaultKind, *, fatal: bool) -> None:
    """FAULTED: nothing goes on, the lamp says why."""
    c.fault_kind = kind
    _drop_everything(c)
    c.fatal = c.fatal or fatal
    c.move(Place.FAULTED, cause)
    if cause is Cause.BREAKER_OPEN:
        c.after(c.tuning.recovery.breaker_open_s, Timer.PLACE)


def what_is_missing(c: Conversation) -> ev.FaultKind:
    """Why it does not come up, or back."""
    if c.broken:
        return ev.FaultKind.ENGINE
    return ev.FaultKind.DEVICE if missing(c) else ev.FaultKind.UNKNOWN


def _drop_everything(c: Conversation) -> None:
    cancel_answer(c)
    forget_utterance(c)
    c.paused = False


def _llm_failed(c: Conversation, event: ev.Fault) -> None:
    answer = c.answer
    if answer is None or answer.kind is not Kind.REPLY or answer.complete or answer.failed:
        return
    if c.place is Place.WAITING_FOR_LLM:
        if answer.retries:  # once may be chance
            c.do(cmd.RebuildPart(event.part))
        retry_or_apologise(c, answer)
    else:
        _lose_model(c, answer)


def _lose_model(c: Conversation, answer: Answer) -> None:
    """No more tokens come: ask again later if nothing was said, else say what there is."""
    if answer.text:
        c.do(cmd.CancelGeneration(answer.turn))
        steps.finish_text(c, answer)
    else:
        answer.failed = True
        answer.retries += 1


def _tts_failed(c: Conversation, event: ev.Fault) -> None:
    """No voice: a sound and the lamp must do, until it is built again."""
    c.do(cmd.PlayEarcon("error"), cmd.RebuildPart(event.part))
    answer = c.answer
    if answer is None or not answer.text or answer.done:
        return
    if c.parked is not None and not answer.out:
        cancel_phrase(c)
    elif answer.out:
        c.do(cmd.CancelGeneration(answer.turn))
        steps.finish_text(c, answer)
    elif answer.uses_tools:
        c.do(cmd.CancelSynthesis(answer.turn), cmd.DropPlayback(answer.turn))
        answer.done = True
    else:
        _unspeakable(c, answer)


def _unspeakable(c: Conversation, answer: Answer) -> None:
    """It cannot be said; the journal still learns of it."""
    if answer.kind is Kind.REPLY:
        c.record(answer)
    cancel_answer(c, put_off=False)
    if c.place is Place.WAITING_FOR_LLM:
        steps.listen(c, Cause.ERROR, c.heard_until, c.tuning.timeouts.follow_up_s)


def _tool_failed(c: Conversation, event: ev.Fault) -> None:
    """To the model as a result, never to the user as a crash."""
    answer = at_work(c)
    if answer is not None and event.turn in (None, answer.turn):
        fail_tools(c, event.reason)


def _engine_failed(c: Conversation, event: ev.Fault) -> None:
    """Build it again; the turn it worked on is asked again if nothing was spoken."""
    c.broken.add(event.part)
    c.do(cmd.RebuildPart(event.part))
    if c.place is not Place.RECOVERING:
        recover(c, Cause.ERROR)
    answer = c.answer
    if answer is None or answer.kind is not Kind.REPLY or event.turn not in (None, answer.turn):
        return
    if answer.out and not answer.complete and event.turn is not None:
        _lose_model(c, answer)
    elif not answer.out and not answer.uses_tools and not answer.failed:
        answer.failed = True
        answer.retries += 1


def _device_failed(c: Conversation, event: ev.Fault) -> None:
    device_lost(c, ev.DeviceLost(event.at, _device(event)))


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
    """Before the device is up, or while it is down: a fatal one decides.

    While it is down nothing is tried; what comes up broken again and again goes down again.
    """
    assert isinstance(event, ev.Fault)
    _remember(c, event)
    if event.kind is ev.FaultKind.DEVICE and c.place is Place.PREPARING:
        c.after(_REST_RETRY_S, Timer.REOPEN)
    if event.fatal:
        c.fatal = True
        c.fault_kind = event.kind
        c.move(Place.FAULTED, Cause.ERROR)
    elif c.place is Place.PREPARING and c.breakers[event.kind].fault(c.now):
        _give_up(c, Cause.BREAKER_OPEN, event.kind, fatal=False)
    elif c.place is Place.PREPARING and event.part in c.broken:
        c.do(cmd.RebuildPart(event.part))


def part_works(c: Conversation, event: ev.Event) -> None:
    """Good to know; nobody waited for it."""
    assert isinstance(event, ev.PartRebuilt)
    c.broken.discard(event.part)


def part_rebuilt(c: Conversation, event: ev.Event) -> None:
    """It works again."""
    part_works(c, event)
    _go_on(c, Cause.RESUME)


def _go_on(c: Conversation, cause: Cause) -> None:
    if c.broken or missing(c):
        return
    if c.place is not Place.PREPARING:
        settle(c, cause)
    elif c.up:
        steps.go_idle(c, cause)


def all_works(c: Conversation) -> bool:
    """Whether nothing is lost or broken that is needed."""
    return not c.broken and not missing(c)


# -- devices --------------------------------------------------------------------------


def device_is_lost(c: Conversation, event: ev.Event) -> None:
    """Down already: remember it for the next start."""
    assert isinstance(event, ev.DeviceLost)
    c.lost.add(event.device)


def device_lost_at_start(c: Conversation, event: ev.Event) -> None:
    """Not up yet: look for it now and then."""
    device_is_lost(c, event)
    c.after(_REST_RETRY_S, Timer.REOPEN)


def device_lost(c: Conversation, event: ev.Event) -> None:
    """Try to open it again, in 1, 3 and 10 seconds; a muted microphone can wait."""
    assert isinstance(event, ev.DeviceLost)
    known = event.device in c.lost
    c.lost.add(event.device)
    if event.device not in missing(c):
        return
    if c.place is not Place.RECOVERING:
        recover(c, Cause.DEVICE_LOST)
    elif not known:
        c.attempts = 0
        try_again_later(c)


def device_is_there(c: Conversation, event: ev.Event) -> None:
    """Good to know for the next start; the stream of a found microphone is open."""
    assert isinstance(event, ev.DeviceFound)
    c.lost.discard(event.device)
    if event.device is ev.Device.MICROPHONE:
        c.microphone_open = True


def device_found(c: Conversation, event: ev.Event) -> None:
    """All are back: go on where it was."""
    device_is_there(c, event)
    _go_on(c, Cause.DEVICE_FOUND)


def _reopen(c: Conversation) -> None:
    for device in sorted(missing(c), key=lambda d: d.value):
        c.do(cmd.ReopenDevice(device))


def reopen_at_rest(c: Conversation) -> None:
    """Try to open what is lost, and again in a while."""
    _reopen(c)
    c.after(_REST_RETRY_S, Timer.REOPEN)


def recovering_tick(c: Conversation, event: ev.Event) -> None:
    """Another attempt, or the end of them; with nothing to wait for, the way back."""
    timer = c.timers.pop_due(c.now)
    if timer is Timer.REOPEN and all_works(c):
        settle(c, Cause.RESUME)
    elif timer is Timer.REOPEN:
        _reopen(c)
        try_again_later(c)
    elif timer is Timer.PLACE:
        _drop_everything(c)
        c.fault_kind = what_is_missing(c)
        c.move(Place.FAULTED, Cause.RECOVERY_TIMEOUT)


def fault_over(c: Conversation, event: ev.Event) -> None:
    """A fatal fault ends the process; any other one gets a new start."""
    if c.timers.pop_due(c.now) is not Timer.PLACE:
        return
    if c.fatal:
        c.move(Place.TERMINATING, Cause.ERROR)
        c.after(0.0, Timer.PLACE)
    elif c.up and all_works(c):
        steps.go_idle(c, Cause.ERROR_CLEARED)
    else:
        c.move(Place.PREPARING, Cause.ERROR_CLEARED)
        for part in sorted(c.broken):
            c.do(cmd.RebuildPart(part))
        reopen_at_rest(c)
