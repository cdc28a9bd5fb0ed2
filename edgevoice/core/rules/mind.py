"""What the language model brings: tokens, and their end."""

from __future__ import annotations

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.conversation import Conversation
from edgevoice.core.rules import steps
from edgevoice.core.table import Cause, Place
from edgevoice.core.timers import Timer
from edgevoice.core.turn import Answer, Kind


def _owner(c: Conversation, event: ev.TurnEvent) -> Answer | None:
    """The answer that grows by this event."""
    return next((a for a in (c.answer, c.parked) if a is not None and a.turn == event.turn), None)


def token(c: Conversation, event: ev.Event) -> None:
    """More text: what can be spoken goes to the synthesiser."""
    assert isinstance(event, ev.Token)
    answer = _owner(c, event)
    if answer is None or answer.complete:
        return
    if answer.times.first_token is None:
        answer.times.first_token = c.now
        c.timers.clear(Timer.FIRST_TOKEN)
    for piece in answer.splitter.feed(event.text):
        steps.speak_piece(c, answer, piece)


def reply_done(c: Conversation, event: ev.Event) -> None:
    """The last of the text; an answer without any closes the turn."""
    assert isinstance(event, ev.ReplyDone)
    answer = _owner(c, event)
    if answer is None or answer.complete:
        return
    _finish_text(c, answer)
    if not answer.text and c.place is Place.WAITING_FOR_LLM:
        c.record(answer)
        steps.go_idle(c, Cause.LLM_EMPTY)


def reply_done_away(c: Conversation, event: ev.Event) -> None:
    """The same while the device is suspended or recovering."""
    assert isinstance(event, ev.ReplyDone)
    answer = _owner(c, event)
    if answer is not None and not answer.complete:
        _finish_text(c, answer)


def _finish_text(c: Conversation, answer: Answer) -> None:
    c.timers.clear(Timer.FIRST_TOKEN)
    for piece in answer.splitter.finish():
        steps.speak_piece(c, answer, piece)
    steps.end_speech(c, answer)


def thinking_tick(c: Conversation, event: ev.Event) -> None:
    """No token, a retry that is due, or too long in all."""
    timer = c.timers.pop_due(c.now)
    answer = c.answer
    if timer is Timer.FIRST_TOKEN and answer is not None:
        c.do(cmd.CancelGeneration(answer.turn))
        retry_or_apologise(c, answer)
    elif timer is Timer.RETRY and answer is not None:
        ask_again(c, answer)
    elif timer is Timer.PLACE and answer is not None and answer.kind is Kind.REPLY:
        apologise(c, answer)
    elif timer is not None:
        give_up_speaking(c)


def retry_or_apologise(c: Conversation, answer: Answer) -> None:
    """Ask the model again after a pause that grows, or say that it does not answer."""
    waits = c.tuning.recovery.llm_retries_s
    if answer.retries < len(waits) and not answer.text:
        c.after(waits[answer.retries], Timer.RETRY)
        answer.retries += 1
    else:
        apologise(c, answer)


def ask_again(c: Conversation, failed: Answer) -> None:
    """The same prompt under a new turn id, so that late tokens of the old one are stale."""
    answer = c.new_answer(failed.heard, failed.kind)
    answer.retries = failed.retries
    answer.times.decided = failed.times.decided
    answer.times.speech_ended = failed.times.speech_ended
    steps.send_prompt(c, answer)


def apologise(c: Conversation, failed: Answer) -> None:
    """Give the answer up and say so."""
    steps.cancel_answer(c)
    c.timers.clear(Timer.FIRST_TOKEN, Timer.RETRY)
    phrase = c.lexicon.phrases["no_answer"]
    answer = steps.say(c, phrase, Kind.PHRASE, failed.heard)
    answer.times.decided = failed.times.decided
    answer.times.speech_ended = failed.times.speech_ended
    answer.retries = failed.retries


def give_up_speaking(c: Conversation) -> None:
    """Not even the apology can be spoken: a sound, and listen again."""
    answer = c.answer
    if answer is not None:
        c.record(answer)
        steps.cancel_answer(c)
    c.do(cmd.PlayEarcon("error"))
    steps.listen(c, Cause.LLM_TIMEOUT, c.heard_until, c.tuning.timeouts.follow_up_s)
