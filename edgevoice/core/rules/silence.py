"""The device stops speaking: for a moment, for good, or before it has begun."""

from __future__ import annotations

from edgevoice.core import commands as cmd
from edgevoice.core.bargein import Judge
from edgevoice.core.conversation import Conversation
from edgevoice.core.events import RATE
from edgevoice.core.rules.utterance import begin_utterance, drop_draft, forget_utterance
from edgevoice.core.table import Cause, Place
from edgevoice.core.timers import Timer
from edgevoice.core.turn import Answer, Kind

# -- for a moment -----------------------------------------------------------------


def hold(c: Conversation, onset: int) -> None:
    """Somebody speaks: pause the voice and listen to what it is."""
    answer = c.the_answer
    preroll = c.tuning.barge_in.preroll_ms * RATE // 1000
    begin_utterance(c, max(0, onset - preroll))
    c.judge = Judge(c.tuning.barge_in, c.lexicon, onset)
    answer.holds += 1
    answer.times.onset = c.clock_of(onset)
    answer.times.held = c.now
    c.do(cmd.HoldPlayback(answer.turn))
    c.move(Place.HELD, Cause.BARGE_IN_EVIDENCE, answer.turn)


def resume_speech(c: Conversation, cause: Cause) -> None:
    """It was nothing: go on from the last word boundary, and nothing happened."""
    answer = c.the_answer
    forget_utterance(c)
    c.judge = None
    c.evidence.reset()
    answer.times.onset = answer.times.held = answer.times.silent = None
    position = c.history.resume_position(answer.spoken, answer.position)
    c.do(cmd.ResumePlayback(answer.turn, position))
    c.move(Place.PLAYING, cause, answer.turn)


# -- for good -----------------------------------------------------------------------


def commit(c: Conversation, cause: Cause, since: int | None = None) -> None:
    """The user means it: drop the answer everywhere and listen.

    ``since`` is where the user's utterance begins when no hold has begun it.
    """
    answer = c.the_answer
    answer.times.committed = c.now
    if answer.times.held is None:
        answer.times.held = c.now
    cancel_answer(c)
    if since is not None or c.hearing is None:
        begin_utterance(c, c.heard_until if since is None else since)
    c.move(Place.INTERRUPTED, cause, answer.turn)


def cancel_answer(c: Conversation, *, put_off: bool = True) -> None:
    """Give up what the device says or is about to say, and the task behind it.

    What was heard of it goes into the history as soon as the player has told
    how much that was.  Of what nobody heard nothing is left, but an
    announcement goes back to the head of its line unless ``put_off`` is false.
    """
    drop_draft(c)
    cancel_phrase(c)
    answer, c.answer = c.answer, None
    if answer is not None:
        _silence(c, answer, put_off)


def cancel_phrase(c: Conversation) -> None:
    """Give up the progress line that is said for a task; the task goes on."""
    if c.parked is not None and c.answer is not None:
        _silence(c, c.answer, put_off=False)
        c.answer, c.parked = c.parked, None


def _silence(c: Conversation, answer: Answer, put_off: bool) -> None:
    c.do(
        cmd.CancelGeneration(answer.turn),
        cmd.CancelSynthesis(answer.turn),
        cmd.DropPlayback(answer.turn),
    )
    cancel_tools(c, answer)
    c.judge = None
    c.timers.clear(Timer.FIRST_TOKEN, Timer.RETRY, Timer.SPEECH)
    if answer.out and not answer.done:
        answer.interrupted = True
        settle_closing(c)
        c.closing = answer
    elif answer.out:
        c.record(answer)
    elif put_off and answer.kind is Kind.ANNOUNCEMENT:
        c.announcements.appendleft(" ".join(answer.text))
    if c.place is Place.LISTENING and Timer.NOTHING_SAID not in c.timers:
        c.after(c.tuning.timeouts.nothing_said_s, Timer.NOTHING_SAID)


def cancel_tools(c: Conversation, answer: Answer) -> None:
    """Stop every tool that runs for an answer."""
    for call in sorted(answer.running):
        c.do(cmd.CancelTool(answer.turn, call))
    answer.running.clear()


def settle_closing(c: Conversation) -> None:
    """Close an answer that was cut, with what is known by now of how much was heard."""
    if c.closing is not None:
        closing, c.closing = c.closing, None
        c.record(closing)
