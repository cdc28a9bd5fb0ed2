"""SUSPENDED and RECOVERING: leaving in mid-turn, and coming back to it."""

from __future__ import annotations

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.conversation import Conversation
from edgevoice.core.rules import steps
from edgevoice.core.table import Cause, Place
from edgevoice.core.timers import Timer

_AWAY = (Place.SUSPENDED, Place.RECOVERING)


def leave_for(c: Conversation, place: Place, cause: Cause) -> None:
    """Pause what goes on and remember it."""
    if c.place not in _AWAY:
        c.came_from = _place_to_return_to(c.place)
        if c.place is Place.PLAYING and c.answer is not None:
            c.do(cmd.HoldPlayback(c.answer.turn))
        if c.place is Place.HELD:
            steps.forget_utterance(c)
            c.judge = None
    c.pressed_at = None
    c.move(place, cause)


def _place_to_return_to(place: Place) -> Place:
    """A hold and an interruption are too short to go back to."""
    if place is Place.HELD:
        return Place.PLAYING
    if place is Place.INTERRUPTED:
        return Place.LISTENING
    return Place.IDLE if place in (Place.PREPARING, Place.FAULTED) else place


def come_back(c: Conversation, cause: Cause) -> None:
    """Go on where it was: the turn has lost nothing."""
    if c.muted:
        c.move(Place.SUSPENDED, cause)
        return
    c.do(cmd.SetMicrophone(True))
    c.evidence.reset()
    answer, target = c.answer, c.came_from
    if target is Place.PLAYING and answer is not None:
        _speak_on(c, cause)
    elif target is Place.WAITING_FOR_LLM and answer is not None:
        c.move(target, cause, answer.turn)
        _think_on(c)
    elif target is Place.LISTENING:
        _listen_on(c, cause)
    elif target in (Place.TOOL_EXECUTING, Place.WAITING_FOR_TASK) and answer is not None:
        _work_on(c, cause)
    else:
        steps.go_idle(c, cause)


def _speak_on(c: Conversation, cause: Cause) -> None:
    answer = c.answer
    assert answer is not None
    c.do(cmd.ResumePlayback(answer.turn, c.history.resume_position(answer.spoken, answer.position)))
    c.move(Place.PLAYING, cause, answer.turn)


def _think_on(c: Conversation) -> None:
    from edgevoice.core.rules.mouth import start_speaking

    answer = c.answer
    assert answer is not None
    if answer.buffered:
        start_speaking(c, answer)
    elif not answer.text:
        c.after(c.tuning.timeouts.first_token_s, Timer.FIRST_TOKEN)


def _listen_on(c: Conversation, cause: Cause) -> None:
    if c.hearing is None:
        steps.begin_utterance(c, c.heard_until)
    c.move(Place.LISTENING, cause)
    c.after(c.tuning.timeouts.nothing_said_s, Timer.NOTHING_SAID)


def _work_on(c: Conversation, cause: Cause) -> None:
    from edgevoice.core.rules.tools import take_result

    assert c.answer is not None
    c.move(c.came_from, cause, c.answer.turn)
    take_result(c)


# -- rules ------------------------------------------------------------------------


def mute_more(c: Conversation, event: ev.Event) -> None:
    """Muted while away: stay away until unmuted."""
    if c.muted:
        return
    c.muted = True
    c.do(cmd.SetMicrophone(False))
    if c.place is Place.SUSPENDED:
        c.timers.clear(Timer.PLACE)


def unmute_more(c: Conversation, event: ev.Event) -> None:
    """Unmuted while recovering."""
    c.muted = False


def suspend_more(c: Conversation, event: ev.Event) -> None:
    """Suspended twice is suspended; the clock starts again."""
    if not c.muted:
        c.after(c.tuning.timeouts.suspended_s, Timer.PLACE)


def unmute(c: Conversation, event: ev.Event) -> None:
    """The owner wants to be heard."""
    if c.muted:
        c.muted = False
        come_back(c, Cause.USER_UNMUTE)


def resume(c: Conversation, event: ev.Event) -> None:
    """The reason is gone; a muted device stays muted."""
    if not c.muted and not c.lost and not c.broken:
        come_back(c, Cause.RESUME)


def button_while_suspended(c: Conversation, event: ev.Event) -> None:
    """The button takes the mute away."""
    if "button" in c.tuning.activation and c.muted:
        c.muted = False
        come_back(c, Cause.BUTTON_PRESSED)


def end_while_away(c: Conversation, event: ev.Event) -> None:
    """The conversation is closed; the device stays where it is."""
    answer = c.answer
    if answer is not None and answer.spoken:
        answer.interrupted = True
        c.record(answer)
    steps.cancel_answer(c)
    steps.drop_parked(c)
    steps.forget_utterance(c)
    c.came_from = Place.IDLE


def tool_done_away(c: Conversation, event: ev.Event) -> None:
    """The result waits until the device is back."""
    from edgevoice.core.rules.tools import shortened

    assert isinstance(event, ev.ToolDone)
    for answer in (c.answer, c.parked):
        if answer is not None and answer.call == event.call:
            answer.result = shortened(event.result)


def suspended_too_long(c: Conversation, event: ev.Event) -> None:
    """Whatever suspended the device has forgotten it."""
    if c.timers.pop_due(c.now) is Timer.PLACE:
        c.move(Place.RECOVERING, Cause.RECOVERY_TIMEOUT)
        c.after(c.tuning.recovery.device_retries_s[0], Timer.REOPEN)
