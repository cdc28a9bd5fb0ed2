"""SUSPENDED and RECOVERING: leaving in mid-turn, and coming back to it."""

from __future__ import annotations

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.conversation import Conversation
from edgevoice.core.rules import steps
from edgevoice.core.rules.ending import finish
from edgevoice.core.rules.mind import apologise, ask_again, nothing_to_say
from edgevoice.core.rules.ringing import hush, is_ringing
from edgevoice.core.rules.silence import cancel_answer, cancel_phrase
from edgevoice.core.rules.tools import at_work, take_result, wait_for_tool
from edgevoice.core.rules.utterance import begin_utterance, forget_utterance
from edgevoice.core.table import Cause, Place
from edgevoice.core.timers import Timer
from edgevoice.core.turn import Answer, Kind

_AWAY = (Place.SUSPENDED, Place.RECOVERING)
_LISTENING = (Place.LISTENING, Place.INTERRUPTED)


def leave_for(c: Conversation, place: Place, cause: Cause) -> None:
    """Pause what goes on and remember it."""
    if c.place not in _AWAY:
        _pause(c)
    c.pressed_at = None
    c.move(place, cause)


def _pause(c: Conversation) -> None:
    """A hold and an interruption are too short to come back to."""
    c.came_from = c.place
    c.left_at = c.now
    if c.place is Place.HELD:
        c.came_from = Place.PLAYING
        c.judge = None
        forget_utterance(c)
    elif c.place is Place.PLAYING:
        c.do(cmd.HoldPlayback(c.the_answer.turn))
    elif c.place in (Place.IDLE, *_LISTENING):
        c.came_from = Place.IDLE if c.place is Place.IDLE else Place.LISTENING
        cancel_answer(c)
    else:
        cancel_phrase(c)
    if c.hearing is not None:
        c.hearing.by_button = False


def settle(c: Conversation, cause: Cause) -> None:
    """Something has changed while the device was away: where should it be now?"""
    if c.broken or missing(c):
        if c.place is not Place.RECOVERING:
            recover(c, Cause.DEVICE_LOST)
    elif c.muted or c.paused:
        c.move(Place.SUSPENDED, cause)
    else:
        come_back(c, cause)


def recover(c: Conversation, cause: Cause) -> None:
    """Go to RECOVERING, and try to open what is lost in a while."""
    leave_for(c, Place.RECOVERING, cause)
    c.attempts = 0
    try_again_later(c)


def try_again_later(c: Conversation) -> None:
    """The waits between attempts grow."""
    waits = c.tuning.recovery.device_retries_s
    if waits:
        c.after(waits[min(c.attempts, len(waits) - 1)], Timer.REOPEN)
    c.attempts += 1


def missing(c: Conversation) -> set[ev.Device]:
    """The devices that are lost and wanted: a muted microphone is not."""
    return c.lost - {ev.Device.MICROPHONE} if c.muted else c.lost


def come_back(c: Conversation, cause: Cause) -> None:
    """Go on where it was: the turn has lost nothing, and its tools no time."""
    c.evidence.reset()
    if (worker := at_work(c)) is not None:
        worker.stop_tool_clocks(c.left_at, c.now)
    answer = c.answer
    if answer is None:
        _listen_on(c, cause)
    elif answer.done:
        finish(c, cause)
    elif answer.out:
        position = c.history.resume_position(answer.spoken, answer.position)
        c.do(cmd.ResumePlayback(answer.turn, position))
        c.move(Place.PLAYING, cause, answer.turn)
    elif answer.buffered and not answer.failed:
        steps.start_speaking(c, answer)
    elif answer.uses_tools:
        wait_for_tool(c, answer, cause)
        take_result(c)
    else:
        c.move(Place.WAITING_FOR_LLM, cause, answer.turn)
        _think_on(c, answer)


def _listen_on(c: Conversation, cause: Cause) -> None:
    if c.came_from is not Place.LISTENING:
        steps.go_idle(c, cause)
        return
    if c.hearing is None:
        begin_utterance(c, c.heard_until)
    c.move(Place.LISTENING, cause)
    c.after(c.tuning.timeouts.nothing_said_s, Timer.NOTHING_SAID)
    if c.hearing is not None and not c.hearing.text:
        steps.next_in_line(c)


def _think_on(c: Conversation, answer: Answer) -> None:
    """Ask once more if the model was lost; else give it its time again."""
    if answer.failed and answer.retries <= 1:
        ask_again(c, answer)
    elif answer.failed:
        apologise(c, answer, "unavailable")
    elif answer.complete and not answer.text:
        nothing_to_say(c, answer)
    elif answer.kind is not Kind.REPLY:
        steps.await_phrase(c)
    elif not answer.text:
        c.after(c.tuning.timeouts.first_token_s, Timer.FIRST_TOKEN)


# -- rules ------------------------------------------------------------------------


def mute_more(c: Conversation, event: ev.Event) -> None:
    """Muted while away: stay away until unmuted."""
    if c.muted:
        return
    c.muted = True
    if c.place is Place.SUSPENDED:
        c.timers.clear(Timer.PLACE)
        steps.ring_on(c)
    else:
        settle(c, Cause.USER_MUTE)


def mute_later(c: Conversation, event: ev.Event) -> None:
    """Muted while there is nothing to leave: the next start leads to SUSPENDED."""
    c.muted = True


def unmute_more(c: Conversation, event: ev.Event) -> None:
    """Unmuted while down or recovering."""
    _open_ears(c)


def suspend_more(c: Conversation, event: ev.Event) -> None:
    """Suspended twice is suspended; the clock starts again."""
    c.paused = True
    if not c.muted:
        c.after(c.tuning.timeouts.suspended_s, Timer.PLACE)


def unmute(c: Conversation, event: ev.Event) -> None:
    """The owner wants to be heard."""
    _unmute(c, Cause.USER_UNMUTE)


def button_while_suspended(c: Conversation, event: ev.Event) -> None:
    """The button stops an alarm, else it takes the mute away."""
    if is_ringing(c):
        hush(c)
        steps.ring_on(c)
    elif "button" in c.tuning.activation:
        _unmute(c, Cause.BUTTON_PRESSED)


def _unmute(c: Conversation, cause: Cause) -> None:
    if not c.muted:
        return
    _open_ears(c)
    if c.paused:
        c.after(c.tuning.timeouts.suspended_s, Timer.PLACE)
    settle(c, cause)


def _open_ears(c: Conversation) -> None:
    """No longer muted; after a long time nobody waits for the rest of what went on."""
    c.muted = False
    if c.now - c.left_at > c.tuning.timeouts.suspended_s:
        cancel_answer(c)
        forget_utterance(c)


def resume(c: Conversation, event: ev.Event) -> None:
    """The reason is gone; a muted device stays muted, a broken one broken."""
    c.paused = False
    settle(c, Cause.RESUME)


def end_while_away(c: Conversation, event: ev.Event) -> None:
    """The conversation is closed; the device stays where it is."""
    cancel_answer(c)
    forget_utterance(c)
    c.questions.clear()
    hush(c)
    c.came_from = Place.IDLE


def suspended_too_long(c: Conversation, event: ev.Event) -> None:
    """Whatever suspended the device has forgotten it."""
    timer = c.timers.pop_due(c.now)
    if timer is Timer.RING:
        steps.ring_on(c)
    elif timer is Timer.PLACE:
        c.paused = False
        recover(c, Cause.RECOVERY_TIMEOUT)
