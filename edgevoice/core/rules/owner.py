"""What the owner does: the button, the control socket, mute, and the way down."""

from __future__ import annotations

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.conversation import Conversation
from edgevoice.core.rules import speculation, steps
from edgevoice.core.rules.away import leave_for
from edgevoice.core.rules.ending import asks_into_silence
from edgevoice.core.rules.faults import all_works, reopen_at_rest, what_is_missing
from edgevoice.core.rules.ringing import hush, is_ringing
from edgevoice.core.rules.silence import cancel_answer, commit
from edgevoice.core.rules.utterance import forget_utterance, read_ahead
from edgevoice.core.table import Cause, Place
from edgevoice.core.timers import Timer
from edgevoice.core.turn import Kind, Ring, Utterance

_LAST_WORD_S = 2.0
"""After the button's release: longest wait for the recogniser's final words."""

_LOOK_AGAIN_S = 0.5
"""Somebody is speaking, or the device is about to: too early to call it silence."""

# -- coming up and going down ---------------------------------------------------


def retune(c: Conversation, event: ev.Event) -> None:
    """The owner has changed the configuration."""
    assert isinstance(event, ev.Retuned)
    c.retune(event.tuning)


def ready(c: Conversation, event: ev.Event) -> None:
    """Everything is loaded: wait to be talked to, if nothing has failed since."""
    c.up = True
    if not all_works(c):
        return
    c.do(cmd.PlayEarcon("ready"))
    if "always" in c.tuning.activation and not c.muted:
        steps.listen(c, Cause.READY, c.heard_until, c.tuning.timeouts.nothing_said_s)
        steps.next_in_line(c)
    else:
        steps.go_idle(c, Cause.READY)
    if c.place is Place.IDLE:
        read_ahead(c)


def ready_later(c: Conversation, event: ev.Event) -> None:
    """Everything is loaded, after the device had given up: the next start will do."""
    c.up = True


def preparing_too_long(c: Conversation, event: ev.Event) -> None:
    """Something does not come up, or a device is still away."""
    timer = c.timers.pop_due(c.now)
    if timer is Timer.REOPEN:
        reopen_at_rest(c)
    elif timer is Timer.PLACE:
        c.fault_kind = what_is_missing(c)
        c.move(Place.FAULTED, Cause.START_TIMEOUT)


def shut_down(c: Conversation, event: ev.Event) -> None:
    """Fall silent and leave."""
    forget_utterance(c)
    cancel_answer(c)
    c.move(Place.TERMINATING, Cause.SHUTDOWN)
    c.after(0.0, Timer.PLACE)


def leave(c: Conversation, event: ev.Event) -> None:
    """The process may end."""
    if c.timers.pop_due(c.now) is Timer.PLACE:
        c.do(cmd.Exit(70 if c.fatal else 0))


# -- the control socket -----------------------------------------------------------


def start(c: Conversation, event: ev.Event) -> None:
    """Listen, as after the wake word."""
    cancel_answer(c)
    steps.greet(c, Cause.USER_START, c.heard_until)


def start_twice(c: Conversation, event: ev.Event) -> None:
    """Only one conversation exists: refused, and nothing changes."""
    c.refused += 1
    c.do(cmd.Refused(c.place, type(event).__name__))


def ask(c: Conversation, event: ev.Event) -> None:
    """A question that was typed."""
    queue_question(c, event)
    cancel_answer(c)
    steps.next_in_line(c)


def queue_question(c: Conversation, event: ev.Event) -> None:
    """A question that must wait for the present answer."""
    assert isinstance(event, ev.Ask)
    if event.text.strip():
        c.questions.append(event.text)


def announce(c: Conversation, event: ev.Event) -> None:
    """Say it now if there is a pause."""
    queue_announcement(c, event)
    if c.hearing is None or not c.hearing.text:
        steps.announce_next(c)


def queue_announcement(c: Conversation, event: ev.Event) -> None:
    """Say it at the next pause."""
    assert isinstance(event, ev.Say)
    if event.text.strip():
        c.announcements.append(event.text)


def queue_ring(c: Conversation, event: ev.Event) -> None:
    """Ring at the next pause; an alarm that rings already does not ring twice."""
    assert isinstance(event, ev.Rings)
    if all(ring.id != event.ring for ring in c.rings):
        c.rings.append(Ring(event.ring, event.text))


def rings(c: Conversation, event: ev.Event) -> None:
    """Ring now if there is a pause; a muted device rings, too."""
    queue_ring(c, event)
    talks = c.hearing is not None and c.hearing.text
    if Timer.RING not in c.timers and not talks and (c.muted or c.place is not Place.SUSPENDED):
        steps.ring_on(c)


def end_conversation(c: Conversation, event: ev.Event) -> None:
    """Close it, whatever goes on."""
    c.questions.clear()
    hush(c)
    if c.place is Place.INTERRUPTED:
        c.move(Place.LISTENING, Cause.SETTLED)
    steps.go_idle(c, Cause.USER_STOP)


def interrupt(c: Conversation, event: ev.Event) -> None:
    """Stop speaking and listen."""
    c.why = "commit by the owner"
    hush(c)
    commit(c, Cause.USER_INTERRUPT)


def stop_thinking(c: Conversation, event: ev.Event) -> None:
    """Forget the question and listen."""
    cancel_answer(c)
    steps.listen(c, Cause.USER_INTERRUPT, c.heard_until, c.tuning.timeouts.nothing_said_s)


# -- the button ---------------------------------------------------------------------


def button_pressed(c: Conversation, event: ev.Event) -> None:
    """Listen until it is released; while the device speaks, that stops it."""
    if is_ringing(c) and c.place in (Place.IDLE, Place.LISTENING):
        steps.stop_ringing(c, Cause.USER_STOP)
        return
    hush(c)
    if "button" not in c.tuning.activation:
        return
    c.pressed_at = event.at
    if c.place in (Place.PLAYING, Place.HELD):
        c.why = "commit by button"
        commit(c, Cause.BUTTON_PRESSED, c.heard_until)
    else:
        cancel_answer(c)
        if c.place not in (Place.LISTENING, Place.INTERRUPTED):
            steps.listen(c, Cause.BUTTON_PRESSED, c.heard_until, c.tuning.timeouts.nothing_said_s)
    c.engaged = True
    c.timers.clear(Timer.NOTHING_SAID, Timer.RELEASED)
    if c.place is Place.LISTENING:
        c.after(c.tuning.timeouts.listening_s, Timer.PLACE)
        steps.expect_long_hold(c)
    c.the_hearing.by_button, c.the_hearing.released = True, False


def button_released(c: Conversation, event: ev.Event) -> None:
    """A short press was a click; a long one ends the turn."""
    if c.pressed_at is None:
        return
    pressed_ms = (event.at - c.pressed_at) * 1000
    c.pressed_at = None
    c.timers.clear(Timer.LONG_HOLD)
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


def _held_for_long(c: Conversation, heard: Utterance) -> None:
    """Held in silence, the button closes the conversation; its release then means nothing."""
    if heard.text or c.policy.speaking:
        return
    c.pressed_at = None
    c.questions.clear()
    steps.go_idle(c, Cause.BUTTON_HELD)
    c.do(cmd.PlayEarcon("close"))


# -- silence ------------------------------------------------------------------------


def idle_tick(c: Conversation, event: ev.Event) -> None:
    """An alarm sounds again, or an announcement could not be spoken."""
    timer = c.timers.pop_due(c.now)
    if timer is Timer.RING:
        steps.ring_on(c)
    elif timer is Timer.SPEECH:
        steps.speech_failed(c)
        steps.next_in_line(c)


def listening_tick(c: Conversation, event: ev.Event) -> None:
    """Nothing said, or speech without an end."""
    timer = c.timers.pop_due(c.now)
    heard = c.the_hearing
    if timer is None:
        return
    if timer is Timer.RING:
        steps.ring_on(c)
    elif timer is Timer.SPEECH:
        steps.speech_failed(c)
        steps.ring_on(c)
    elif timer is Timer.LONG_HOLD:
        _held_for_long(c, heard)
    elif timer is not Timer.NOTHING_SAID and heard.text:
        heard.cut = timer is not Timer.RELEASED
        speculation.end_turn(c, Cause.TURN_TIMEOUT)
    elif c.answer is not None or (timer is Timer.NOTHING_SAID and _is_talking(c, heard)):
        c.after(_LOOK_AGAIN_S, Timer.NOTHING_SAID)
    elif timer is Timer.RELEASED:
        steps.go_idle(c, Cause.USER_SILENT)
    else:
        _nothing_said(c)


def _is_talking(c: Conversation, heard: Utterance) -> bool:
    """Whether the user may still go on; not for ever, even if the microphone has died."""
    limited = Timer.PLACE in c.timers or Timer.PATIENCE in c.timers
    return limited and (heard.text != "" or c.policy.speaking)


def _nothing_said(c: Conversation) -> None:
    """Ask whether anybody is there, or close; who only listens for an alarm's end does not."""
    if Timer.RING in c.timers:
        c.after(c.tuning.timeouts.nothing_said_s, Timer.NOTHING_SAID)
        return
    if asks_into_silence(c) and c.check_ins < c.tuning.dead_air.times:
        phrase = c.lexicon.check_ins[c.check_ins % len(c.lexicon.check_ins)]
        c.check_ins += 1
        steps.say(c, phrase, Kind.PHRASE)
        return
    steps.go_idle(c, Cause.DEAD_AIR if c.check_ins else Cause.USER_SILENT)


# -- mute and suspension --------------------------------------------------------------


def mute(c: Conversation, event: ev.Event) -> None:
    """Close the microphone until the owner opens it again."""
    c.muted = True
    c.do(cmd.PlayEarcon("mute"))
    leave_for(c, Place.SUSPENDED, Cause.USER_MUTE)
    steps.ring_on(c)


def suspend(c: Conversation, event: ev.Event) -> None:
    """Pause everything; it goes on where it was."""
    c.paused = True
    leave_for(c, Place.SUSPENDED, Cause.SUSPEND)
