"""What the owner does: the button, the control socket, mute, and the way down."""

from __future__ import annotations

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.conversation import Conversation
from edgevoice.core.rules import steps
from edgevoice.core.rules.away import leave_for
from edgevoice.core.rules.faults import reopen_at_rest
from edgevoice.core.table import Cause, Place
from edgevoice.core.timers import Timer
from edgevoice.core.turn import Kind

_LAST_WORD_S = 2.0
"""After the button's release: longest wait for the recogniser's final words."""

# -- coming up and going down ---------------------------------------------------


def ready(c: Conversation, event: ev.Event) -> None:
    """Everything works: wait to be talked to."""
    c.do(cmd.PlayEarcon("ready"))
    if "always" in c.tuning.activation:
        steps.listen(c, Cause.READY, c.heard_until, c.tuning.timeouts.nothing_said_s)
    else:
        c.move(Place.IDLE, Cause.READY)
    steps.announce_next(c)


def preparing_too_long(c: Conversation, event: ev.Event) -> None:
    """Something does not come up, or a device is still away."""
    timer = c.timers.pop_due(c.now)
    if timer is Timer.REOPEN:
        reopen_at_rest(c)
    elif timer is Timer.PLACE:
        c.move(Place.FAULTED, Cause.START_TIMEOUT)


def shut_down(c: Conversation, event: ev.Event) -> None:
    """Fall silent and leave."""
    steps.forget_utterance(c)
    if c.answer is not None:
        c.answer.interrupted = not c.answer.done
    steps.cancel_answer(c)
    steps.drop_parked(c)
    c.move(Place.TERMINATING, Cause.SHUTDOWN)
    c.after(0.0, Timer.PLACE)


def leave(c: Conversation, event: ev.Event) -> None:
    """The process may end."""
    c.timers.clear()
    c.do(cmd.Exit(70 if c.fatal else 0))


# -- the control socket -----------------------------------------------------------


def start(c: Conversation, event: ev.Event) -> None:
    """Listen, as after the wake word."""
    steps.cancel_answer(c)
    c.do(cmd.PlayEarcon("wake"))
    steps.listen(c, Cause.USER_START, c.heard_until, c.tuning.timeouts.nothing_said_s)


def start_twice(c: Conversation, event: ev.Event) -> None:
    """Only one conversation exists: refused, and nothing changes."""
    c.refused += 1
    c.do(cmd.Refused(c.place, type(event).__name__))


def ask(c: Conversation, event: ev.Event) -> None:
    """A question that was typed."""
    assert isinstance(event, ev.Ask)
    steps.cancel_answer(c)
    if c.place is Place.IDLE:
        steps.listen(c, Cause.USER_ASK, c.heard_until, c.tuning.timeouts.nothing_said_s)
    steps.prompt(c, event.text, Cause.USER_ASK)


def queue_question(c: Conversation, event: ev.Event) -> None:
    """A question that must wait for the present answer."""
    assert isinstance(event, ev.Ask)
    c.questions.append(event.text)


def announce(c: Conversation, event: ev.Event) -> None:
    """Say it now if there is a pause."""
    queue_announcement(c, event)
    if c.hearing is None or not c.hearing.text:
        steps.announce_next(c)


def queue_announcement(c: Conversation, event: ev.Event) -> None:
    """Say it at the next pause."""
    assert isinstance(event, ev.Say)
    c.announcements.append(event.text)


def end_conversation(c: Conversation, event: ev.Event) -> None:
    """Close it, whatever goes on."""
    if c.answer is not None and c.place in (Place.PLAYING, Place.HELD):
        c.answer.interrupted = True
        c.record(c.answer)
    steps.cancel_answer(c)
    steps.drop_parked(c)
    c.judge = None
    if c.place is Place.INTERRUPTED:
        c.move(Place.LISTENING, Cause.SETTLED)
    steps.go_idle(c, Cause.USER_STOP)


def interrupt(c: Conversation, event: ev.Event) -> None:
    """Stop speaking and listen."""
    c.why = "commit by the owner"
    steps.commit(c, Cause.USER_INTERRUPT)


def stop_thinking(c: Conversation, event: ev.Event) -> None:
    """Forget the question and listen."""
    steps.cancel_answer(c)
    steps.drop_parked(c)
    steps.listen(c, Cause.USER_INTERRUPT, c.heard_until, c.tuning.timeouts.nothing_said_s)


# -- the button ---------------------------------------------------------------------


def button_pressed(c: Conversation, event: ev.Event) -> None:
    """Listen until it is released; while the device speaks, that stops it."""
    if "button" not in c.tuning.activation:
        return
    c.pressed_at = event.at
    if c.place in (Place.PLAYING, Place.HELD):
        c.why = "commit by button"
        steps.commit(c, Cause.BUTTON_PRESSED, c.heard_until)
    elif c.place in (Place.IDLE, Place.LISTENING, Place.INTERRUPTED):
        steps.cancel_answer(c)
        if c.place is Place.IDLE:
            steps.listen(c, Cause.BUTTON_PRESSED, c.heard_until, c.tuning.timeouts.nothing_said_s)
        elif c.hearing is None:
            steps.begin_utterance(c, c.heard_until)
    else:
        steps.cancel_answer(c)
        steps.drop_parked(c)
        steps.listen(c, Cause.BUTTON_PRESSED, c.heard_until, c.tuning.timeouts.nothing_said_s)
    c.timers.clear(Timer.NOTHING_SAID)
    if c.hearing is not None:
        c.hearing.by_button = True


def button_released(c: Conversation, event: ev.Event) -> None:
    """A short press was a click; a long one ends the turn."""
    if c.pressed_at is None:
        return
    pressed_ms = (event.at - c.pressed_at) * 1000
    c.pressed_at = None
    if c.hearing is not None:
        c.hearing.by_button = False
    if pressed_ms < c.tuning.button.click_ms:
        _clicked(c, event.at)
    elif c.hearing is not None:
        c.hearing.released = True
        c.do(cmd.FlushRecogniser(c.hearing.turn))
        c.after(_LAST_WORD_S, Timer.RELEASED)


def _clicked(c: Conversation, at: float) -> None:
    last, c.clicked_at = c.clicked_at, at
    if last is not None and (at - last) * 1000 <= c.tuning.button.double_click_ms:
        c.clicked_at = None
        mute(c, ev.Mute(at))
    elif c.place is Place.LISTENING:
        c.after(c.tuning.timeouts.nothing_said_s, Timer.NOTHING_SAID)


# -- silence ------------------------------------------------------------------------


def idle_tick(c: Conversation, event: ev.Event) -> None:
    """An announcement could not be spoken."""
    c.timers.pop_due(c.now)
    if c.answer is not None:
        steps.cancel_answer(c)
        c.do(cmd.PlayEarcon("error"))


def listening_tick(c: Conversation, event: ev.Event) -> None:
    """Nothing said, or speech without an end."""
    timer = c.timers.pop_due(c.now)
    heard = c.hearing
    if heard is None or timer is None:
        return
    if timer is Timer.SPEECH:
        steps.cancel_answer(c)
        c.do(cmd.PlayEarcon("error"))
    elif timer in (Timer.PATIENCE, Timer.PLACE, Timer.RELEASED) and heard.text:
        steps.end_turn(c, Cause.TURN_TIMEOUT)
    elif timer is Timer.NOTHING_SAID and (heard.text or c.policy.speaking):
        c.after(0.5, Timer.NOTHING_SAID)
    elif c.answer is None:
        _nothing_said(c)


def _nothing_said(c: Conversation) -> None:
    """Ask whether anybody is there, or close."""
    dead_air = c.tuning.dead_air
    always = "always" in c.tuning.activation
    asks = dead_air.enabled == "on" or (dead_air.enabled == "auto" and always)
    if asks and c.check_ins < dead_air.times:
        phrase = c.lexicon.check_ins[c.check_ins % len(c.lexicon.check_ins)]
        c.check_ins += 1
        steps.say(c, phrase, Kind.PHRASE)
        return
    steps.go_idle(c, Cause.DEAD_AIR if c.check_ins else Cause.USER_SILENT)


# -- mute and suspension --------------------------------------------------------------


def mute(c: Conversation, event: ev.Event) -> None:
    """Close the microphone until the owner opens it again."""
    c.muted = True
    c.do(cmd.SetMicrophone(False), cmd.PlayEarcon("mute"))
    leave_for(c, Place.SUSPENDED, Cause.USER_MUTE)


def suspend(c: Conversation, event: ev.Event) -> None:
    """Pause everything; it goes on where it was."""
    c.do(cmd.SetMicrophone(False))
    leave_for(c, Place.SUSPENDED, Cause.SUSPEND)
