"""What the mouth brings: speech that is ready, and what became of it."""

from __future__ import annotations

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.bargein import just_spoken
from edgevoice.core.conversation import Conversation
from edgevoice.core.rules import steps
from edgevoice.core.rules.ending import act, finish, listen_on
from edgevoice.core.rules.ringing import is_ringing, wait_for_words
from edgevoice.core.rules.silence import cancel_answer, settle_closing
from edgevoice.core.table import Cause, Place
from edgevoice.core.timers import Timer
from edgevoice.core.turn import Answer

_PAUSES = (Place.IDLE, Place.LISTENING)


def _add_speech(c: Conversation, event: ev.PieceBuffered) -> Answer | None:
    answer = c.answer_of(event.turn)
    if answer is None or answer.done or not answer.text:
        return None
    answer.spoken.extend(event.words)
    answer.rate = event.rate
    answer.end = event.end
    answer.touched_at = c.now
    if answer.times.first_audio is None:
        answer.times.first_audio = c.now
    return answer


def more_speech(c: Conversation, event: ev.Event) -> None:
    """Another chunk lies ready."""
    assert isinstance(event, ev.PieceBuffered)
    _add_speech(c, event)


def speech_buffered(c: Conversation, event: ev.Event) -> None:
    """The first chunk lies ready: speak, unless the user was first.

    That of a draft lies and waits.
    """
    assert isinstance(event, ev.PieceBuffered)
    answer = _add_speech(c, event)
    if answer is None or answer is c.draft:
        return
    if c.place is Place.LISTENING and c.hearing is not None and c.hearing.text:
        cancel_answer(c)
    elif c.place in _PAUSES and is_ringing(c) and c.policy.speaking:
        cancel_answer(c)
        wait_for_words(c)
    else:
        steps.start_speaking(c, answer)


# -- what the player tells ----------------------------------------------------------


def _out(c: Conversation, event: ev.TurnEvent) -> Answer | None:
    """The answer that was let out and that the event is about."""
    answers = (c.answer, c.closing)
    return next((a for a in answers if a is not None and a.turn == event.turn and a.out), None)


def playback_started(c: Conversation, event: ev.Event) -> None:
    """The first sample was heard."""
    assert isinstance(event, ev.PlaybackStarted)
    answer = _out(c, event)
    if answer is not None and answer.times.started is None:
        answer.times.started = event.at
        answer.touched_at = c.now


def held(c: Conversation, event: ev.Event) -> None:
    """Silence: the position says what had been heard by then."""
    assert isinstance(event, ev.PlaybackHeld)
    answer = _out(c, event)
    if answer is None:
        return
    answer.position = event.position
    if answer.times.held is not None:
        answer.times.silent = event.at
    if c.judge is not None and answer is c.answer:
        window = c.tuning.barge_in.echo_window_s
        c.judge.device_said(just_spoken(answer.spoken, event.position, answer.rate, window))


def dropped(c: Conversation, event: ev.Event) -> None:
    """An answer that was cut is silent: its words are known, and it is over.

    It may also have come to its end just before.
    """
    assert isinstance(event, (ev.PlaybackDropped, ev.PlaybackDone))
    answer = c.closing
    if answer is None or answer.turn != event.turn:
        return
    answer.position = event.position
    if answer.times.silent is None:
        answer.times.silent = event.at
    if c.place is not Place.INTERRUPTED:
        settle_closing(c)


def _ended(c: Conversation, event: ev.PlaybackDone) -> bool:
    """Note that the present answer was heard to its end."""
    answer = c.answer
    if answer is None or answer.turn != event.turn:
        dropped(c, event)
        return False
    if not answer.out or not answer.complete:
        return False
    answer.position = event.position
    answer.done = True
    return True


def spoken(c: Conversation, event: ev.Event) -> None:
    """The answer was heard to its end."""
    assert isinstance(event, ev.PlaybackDone)
    if _ended(c, event):
        finish(c, Cause.TTS_COMPLETE)


def spoken_while_held(c: Conversation, event: ev.Event) -> None:
    """The hold came at the very end: there is nothing left to interrupt."""
    assert isinstance(event, ev.PlaybackDone)
    if _ended(c, event):
        listen_on(c)


def spoken_while_away(c: Conversation, event: ev.Event) -> None:
    """The device was told to leave at the very end: there is nothing to come back to."""
    assert isinstance(event, ev.PlaybackDone)
    _ended(c, event)


# -- time -----------------------------------------------------------------------------


def speaking_tick(c: Conversation, event: ev.Event) -> None:
    """A very long answer is worth a warning, not a cut; one that is stuck ends."""
    if c.timers.pop_due(c.now) is not Timer.PLACE:
        return
    answer = c.the_answer
    limit = c.tuning.timeouts.speaking_warning_s
    if c.now - answer.touched_at <= limit + answer.end / max(1, answer.rate):
        c.do(cmd.Warn("speaking_long", answer.turn))
        c.after(limit, Timer.PLACE)
        return
    c.do(cmd.Warn("speaking_stuck", answer.turn))
    cancel_answer(c)
    steps.listen(c, Cause.ERROR, c.heard_until, c.tuning.timeouts.follow_up_s)


def held_tick(c: Conversation, event: ev.Event) -> None:
    """A hold may not last longer."""
    if c.timers.pop_due(c.now) is not None:
        act(c, c.the_judge.verdict(timed_out=True))


def settled(c: Conversation, event: ev.Event) -> None:
    """The interruption took effect: listen to what is being said."""
    if c.timers.pop_due(c.now) is not Timer.PLACE:
        return
    closing = c.closing
    assert closing is not None
    closing.times.listening = c.now
    c.move(Place.LISTENING, Cause.SETTLED)
    if c.the_hearing.by_button:
        steps.expect_long_hold(c)
    else:
        c.after(c.tuning.timeouts.nothing_said_s, Timer.NOTHING_SAID)
    if closing.times.silent is not None:
        settle_closing(c)
