"""Steps that several rules take: begin to listen, ask, speak, stop, finish."""

from __future__ import annotations

from edgevoice.core import commands as cmd
from edgevoice.core.conversation import Conversation
from edgevoice.core.events import RATE
from edgevoice.core.lexicon import words
from edgevoice.core.table import Cause, Place
from edgevoice.core.timers import Timer
from edgevoice.core.turn import Answer, Kind

_CANNED_SPEECH_S = 8.0
"""Synthesis of a phrase of the device's own that takes longer has failed."""


# -- hearing ----------------------------------------------------------------


def begin_utterance(c: Conversation, since: int) -> None:
    """Recognise a new utterance from sample ``since`` on."""
    forget_utterance(c)
    heard = c.new_utterance(since)
    c.do(cmd.Recognise(heard.turn, since))


def forget_utterance(c: Conversation) -> None:
    """What is being said, or was, is nobody's business any more."""
    if c.hearing is not None:
        c.do(cmd.StopRecognising(c.hearing.turn))
        c.hearing = None


def listen(c: Conversation, cause: Cause, since: int, window_s: float) -> None:
    """Go to LISTENING for a new utterance that must begin within ``window_s``."""
    begin_utterance(c, since)
    c.move(Place.LISTENING, cause)
    c.after(window_s, Timer.NOTHING_SAID)


def go_idle(c: Conversation, cause: Cause) -> None:
    """Close the conversation and wait, or announce what has been waiting."""
    forget_utterance(c)
    c.answer = None
    c.check_ins = 0
    c.evidence.reset()
    c.move(Place.IDLE, cause)
    announce_next(c)


# -- asking -----------------------------------------------------------------


def prompt(c: Conversation, text: str, cause: Cause) -> None:
    """Send the one prompt of an utterance and wait for the answer."""
    if c.history.due(c.now):
        c.history.condense(c.now)
    answer = c.new_answer(text, Kind.REPLY)
    answer.times.decided = c.now
    if c.hearing is not None:
        answer.times.speech_ended = speech_ended(c)
    c.check_ins = 0
    c.move(Place.WAITING_FOR_LLM, cause, answer.turn)
    send_prompt(c, answer)


def send_prompt(c: Conversation, answer: Answer) -> None:
    """Give the prompt of ``answer`` to the language model."""
    c.do(cmd.Generate(answer.turn, c.history.messages(answer.heard)))
    c.after(c.tuning.timeouts.first_token_s, Timer.FIRST_TOKEN)


def speech_ended(c: Conversation) -> float | None:
    """When the user stopped speaking, dated back to where the energy fell."""
    sample = c.policy.speech_ended_at
    return None if sample is None else c.clock_of(sample)


def end_turn(c: Conversation, cause: Cause) -> None:
    """The user has finished: answer, or close if that is what was said."""
    heard = c.hearing
    assert heard is not None
    said = words(heard.text)
    if c.lexicon.closes(said):
        go_idle(c, Cause.USER_GOODBYE)
        c.do(cmd.PlayEarcon("close"))
    elif c.lexicon.stops(heard.text):
        go_idle(c, Cause.USER_STOP)
    else:
        prompt(c, heard.text, cause)


# -- speaking ---------------------------------------------------------------


def speak_piece(c: Conversation, answer: Answer, text: str) -> None:
    """Hand one piece of the answer to the synthesiser."""
    if not answer.text:
        answer.times.first_piece = c.now
    c.do(cmd.Synthesise(answer.turn, len(answer.text), text))
    answer.text.append(text)


def end_speech(c: Conversation, answer: Answer) -> None:
    """No piece follows."""
    answer.complete = True
    c.do(cmd.EndSpeech(answer.turn))


def say(c: Conversation, text: str, kind: Kind, heard: str = "") -> Answer:
    """Say something that the language model has no part in."""
    answer = c.new_answer(heard, kind)
    speak_piece(c, answer, text)
    end_speech(c, answer)
    c.after(_CANNED_SPEECH_S, Timer.SPEECH)
    return answer


def announce_next(c: Conversation) -> None:
    """In a pause: say the next announcement that waits."""
    if c.announcements and c.answer is None:
        say(c, c.announcements.popleft(), Kind.ANNOUNCEMENT)


def cancel_answer(c: Conversation) -> None:
    """Stop an answer of which nothing has been heard; it leaves no trace."""
    answer = c.answer
    if answer is None:
        return
    c.do(
        cmd.CancelGeneration(answer.turn),
        cmd.CancelSynthesis(answer.turn),
        cmd.DropPlayback(answer.turn),
    )
    if answer.call is not None:
        c.do(cmd.CancelTool(answer.turn, answer.call))
    c.answer = None


def hold(c: Conversation, onset: int) -> None:
    """Somebody speaks: pause the voice and listen to what it is."""
    from edgevoice.core.bargein import Judge

    answer = c.answer
    assert answer is not None
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
    answer = c.answer
    assert answer is not None
    forget_utterance(c)
    c.judge = None
    c.evidence.reset()
    answer.times.onset = answer.times.held = answer.times.silent = None
    position = c.history.resume_position(answer.spoken, answer.position)
    c.do(cmd.ResumePlayback(answer.turn, position))
    c.move(Place.PLAYING, cause, answer.turn)


def commit(c: Conversation, cause: Cause, since: int | None = None) -> None:
    """The user means it: drop the answer everywhere and listen.

    ``since`` is where the user's utterance begins when no hold has begun it.
    """
    answer = c.answer
    assert answer is not None
    answer.interrupted = True
    answer.times.committed = c.now
    if answer.times.held is None:
        answer.times.held = c.now
    settle_closing(c)
    c.closing, c.answer, c.judge = answer, None, None
    c.do(
        cmd.DropPlayback(answer.turn),
        cmd.CancelGeneration(answer.turn),
        cmd.CancelSynthesis(answer.turn),
    )
    drop_parked(c)
    if since is not None or c.hearing is None:
        begin_utterance(c, c.heard_until if since is None else since)
    c.move(Place.INTERRUPTED, cause, answer.turn)


def drop_parked(c: Conversation) -> None:
    """A task whose progress was being spoken is given up."""
    if c.parked is None:
        return
    if c.parked.call is not None:
        c.do(cmd.CancelTool(c.parked.turn, c.parked.call))
    c.parked = None


def settle_closing(c: Conversation) -> None:
    """Close an interrupted answer with the position known by now."""
    if c.closing is not None and c.closing.times.listening is not None:
        c.record(c.closing)
        c.closing = None


# -- finishing ----------------------------------------------------------------


def finish(c: Conversation, cause: Cause) -> None:
    """The answer was spoken to its end: what next?"""
    answer = c.answer
    assert answer is not None
    c.record(answer)
    c.answer = None
    if c.parked is not None:
        return_to_task(c)
    elif answer.closes or not keeps_listening(c, answer):
        go_idle(c, cause)
    else:
        listen(c, cause, c.heard_until, c.tuning.timeouts.follow_up_s)
        if c.questions:
            prompt(c, c.questions.popleft(), Cause.USER_ASK)
        else:
            announce_next(c)


def return_to_task(c: Conversation) -> None:
    """Progress was spoken: wait for the task again, or go on with its result."""
    from edgevoice.core.rules.tools import take_result

    c.answer, c.parked = c.parked, None
    assert c.answer is not None
    c.move(Place.WAITING_FOR_TASK, Cause.TTS_COMPLETE, c.answer.turn)
    take_result(c)


def keeps_listening(c: Conversation, answer: Answer) -> bool:
    """Whether a follow-up is listened for without wake word."""
    if answer.kind is Kind.ANNOUNCEMENT and not answer.heard:
        return "always" in c.tuning.activation
    hands_free = c.tuning.activation & {"wake_word", "always"}
    return bool(hands_free) and c.tuning.timeouts.follow_up_s > 0
