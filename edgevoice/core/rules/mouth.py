"""What the mouth brings: speech that is ready, and what became of it."""

from __future__ import annotations

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.bargein import Verdict, just_spoken
from edgevoice.core.conversation import Conversation
from edgevoice.core.rules import steps
from edgevoice.core.table import Cause, Place
from edgevoice.core.timers import Timer
from edgevoice.core.turn import Answer, Kind


def _add_speech(c: Conversation, event: ev.PieceBuffered) -> Answer | None:
    answer = c.answer
    if answer is None or answer.turn != event.turn:
        return None
    answer.spoken.extend(event.words)
    answer.rate = event.rate
    if answer.times.first_audio is None:
        answer.times.first_audio = c.now
    return answer


def more_speech(c: Conversation, event: ev.Event) -> None:
    """Another chunk lies ready."""
    assert isinstance(event, ev.PieceBuffered)
    _add_speech(c, event)


def speech_buffered(c: Conversation, event: ev.Event) -> None:
    """The first chunk lies ready: speak."""
    assert isinstance(event, ev.PieceBuffered)
    answer = _add_speech(c, event)
    if answer is None:
        return
    if c.place is Place.LISTENING and c.hearing is not None and c.hearing.text:
        _put_off(c, answer)
        return
    start_speaking(c, answer)


def _put_off(c: Conversation, answer: Answer) -> None:
    """The user began to speak first: an announcement waits, a check-in is needless."""
    steps.cancel_answer(c)
    if answer.kind is Kind.ANNOUNCEMENT:
        c.announcements.appendleft(" ".join(answer.text))


def start_speaking(c: Conversation, answer: Answer) -> None:
    """Let the voice out; from now on speech is an interruption, not an addition."""
    steps.forget_utterance(c)
    c.evidence.reset()
    c.do(cmd.StartPlayback(answer.turn))
    cause = Cause.ANNOUNCEMENT if answer.kind is Kind.ANNOUNCEMENT else Cause.TTS_BUFFER_READY
    c.move(Place.PLAYING, cause, answer.turn)


def playback_started(c: Conversation, event: ev.Event) -> None:
    """The first sample was heard."""
    assert isinstance(event, ev.PlaybackStarted)
    for answer in (c.answer, c.closing):
        if answer is not None and answer.turn == event.turn:
            answer.times.started = event.at


def held(c: Conversation, event: ev.Event) -> None:
    """Silence: the position says what had been heard by then."""
    assert isinstance(event, ev.PlaybackHeld)
    answer = c.answer
    if answer is None or answer.turn != event.turn:
        return
    answer.position = event.position
    if answer.times.held is not None:
        answer.times.silent = event.at
    if c.judge is not None:
        window = c.tuning.barge_in.echo_window_s
        c.judge.device_said(just_spoken(answer.spoken, event.position, answer.rate, window))


def dropped(c: Conversation, event: ev.Event) -> None:
    """An interrupted answer is silent: its words are known, and it is over."""
    assert isinstance(event, ev.PlaybackDropped)
    answer = c.closing
    if answer is None or answer.turn != event.turn:
        return
    answer.position = event.position
    if answer.times.silent is None:
        answer.times.silent = event.at
    if answer.times.listening is not None:
        c.record(answer)
        c.closing = None


def spoken(c: Conversation, event: ev.Event) -> None:
    """The answer was heard to its end."""
    assert isinstance(event, ev.PlaybackDone)
    if c.answer is not None and c.answer.turn == event.turn:
        c.answer.position = event.position
        steps.finish(c, Cause.TTS_COMPLETE)


def spoken_while_held(c: Conversation, event: ev.Event) -> None:
    """The hold came at the very end: there is nothing left to interrupt."""
    assert isinstance(event, ev.PlaybackDone)
    answer = c.answer
    if answer is None or answer.turn != event.turn:
        return
    answer.position = event.position
    answer.done = True
    if c.place is Place.HELD:
        listen_on(c)


def listen_on(c: Conversation) -> None:
    """The answer is over and somebody speaks: that is the next utterance."""
    answer = c.answer
    assert answer is not None
    c.judge = None
    c.record(answer)
    c.answer = None
    c.move(Place.LISTENING, Cause.TTS_COMPLETE, answer.turn)
    c.after(c.tuning.timeouts.follow_up_s, Timer.NOTHING_SAID)


def speaking_tick(c: Conversation, event: ev.Event) -> None:
    """A very long answer: worth a warning, not a cut."""
    timer = c.timers.pop_due(c.now)
    if timer is Timer.PLACE:
        c.do(cmd.Warn("speaking_long", c.answer.turn if c.answer else c.turn))


def held_tick(c: Conversation, event: ev.Event) -> None:
    """A hold may not last longer."""
    c.timers.pop_due(c.now)
    assert c.judge is not None
    judgement = c.judge.verdict(timed_out=True)
    c.why = f"{judgement.verdict.value} by {judgement.rule} ({judgement.detail})"
    if judgement.verdict is Verdict.COMMIT:
        steps.commit(c, Cause.USER_INTERRUPT)
    else:
        steps.resume_speech(c, Cause.BARGE_IN_REJECTED)


def settled(c: Conversation, event: ev.Event) -> None:
    """The interruption took effect: listen to what is being said."""
    c.timers.pop_due(c.now)
    closing = c.closing
    if closing is not None:
        closing.times.listening = c.now
    turn = None if c.hearing is None else c.hearing.turn
    c.move(Place.LISTENING, Cause.SETTLED, turn)
    c.after(c.tuning.timeouts.nothing_said_s, Timer.NOTHING_SAID)
    if closing is not None and closing.times.silent is not None:
        c.record(closing)
        c.closing = None
