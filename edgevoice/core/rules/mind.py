"""What the language model brings: tokens, and their end."""

from __future__ import annotations

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.conversation import Conversation
from edgevoice.core.rules import steps
from edgevoice.core.rules.silence import cancel_answer
from edgevoice.core.table import Cause, Place
from edgevoice.core.timers import Timer
from edgevoice.core.turn import Answer, Kind

_FIRST_SOUND_S = 0.3
"""From a piece to its first sound, on a slow processor."""

_SENTENCE_TOKENS = 12
"""What is missing of a sentence when one waits for its end."""

_TIME_TO_SPARE_S = 0.2
"""Of the wait for the end of the turn, when an answer is begun in it."""


def _growing(c: Conversation, event: ev.TurnEvent) -> Answer | None:
    """The answer that grows by this event."""
    answer = c.answer_of(event.turn)
    return None if answer is None or answer.complete or answer.failed else answer


def token(c: Conversation, event: ev.Event) -> None:
    """More text: what can be spoken goes to the synthesiser."""
    assert isinstance(event, ev.Token)
    answer = _growing(c, event)
    if answer is None:
        return
    answer.touched_at = c.now
    answer.tokens += 1
    if answer.times.first_token is None:
        answer.times.first_token = c.now
        c.timers.clear(Timer.FIRST_TOKEN)
    for piece in answer.splitter.feed(event.text, in_a_hurry=_is_waited_for(c, answer)):
        steps.speak_piece(c, answer, piece)


def _is_waited_for(c: Conversation, answer: Answer) -> bool:
    """Whether a piece is wanted now, whatever it does to the melody of the sentence."""
    sentence_s = _SENTENCE_TOKENS * answer.token_s(c.now)
    if not answer.text:
        return answer.awaited or sentence_s > _TIME_TO_SPARE_S
    left = answer.speech_left(c.now)
    return left is not None and left < _FIRST_SOUND_S + sentence_s


def reply_done(c: Conversation, event: ev.Event) -> None:
    """The last of the text; an answer without any closes the turn."""
    assert isinstance(event, ev.ReplyDone)
    answer = _growing(c, event)
    if answer is None:
        return
    c.timers.clear(Timer.FIRST_TOKEN)
    steps.finish_text(c, answer)
    if not answer.text and c.place is Place.WAITING_FOR_LLM:
        nothing_to_say(c, answer)


def nothing_to_say(c: Conversation, answer: Answer) -> None:
    """The model's answer is empty."""
    c.record(answer)
    c.answer = None
    steps.go_idle(c, Cause.LLM_EMPTY)


def tell(c: Conversation, answer: Answer, words: str) -> None:
    """What tools say of their work is the answer; the model has no part in it."""
    answer.told = words
    for piece in answer.splitter.feed(words):
        steps.speak_piece(c, answer, piece)
    steps.finish_text(c, answer)
    if answer.text:
        steps.await_phrase(c)
    else:
        nothing_to_say(c, answer)


def thinking_tick(c: Conversation, event: ev.Event) -> None:
    """No token, a retry that is due, or too long in all."""
    timer = c.timers.pop_due(c.now)
    answer = c.answer
    if timer is None or answer is None:
        return
    if timer is Timer.FIRST_TOKEN:
        retry_or_apologise(c, answer)
    elif timer is Timer.RETRY:
        ask_again(c, answer)
    elif timer is Timer.PLACE and answer.kind is Kind.REPLY:
        apologise(c, answer, "unavailable")
    else:
        give_up_speaking(c, answer)


def retry_or_apologise(c: Conversation, answer: Answer) -> None:
    """Ask the model again after a pause that grows, or say that it does not answer."""
    waits = c.tuning.recovery.llm_retries_s
    c.timers.clear(Timer.FIRST_TOKEN)
    if can_retry(c, answer):
        answer.failed = True
        c.do(cmd.CancelGeneration(answer.turn))
        c.after(waits[answer.retries], Timer.RETRY)
        answer.retries += 1
    else:
        apologise(c, answer, "unavailable")


def can_retry(c: Conversation, answer: Answer) -> bool:
    """Whether the model may be asked again without anybody noticing.

    One that has failed for several questions is asked once for each, and no more.
    """
    retries = len(c.tuning.recovery.llm_retries_s)
    if c.breakers[ev.FaultKind.LLM].is_open(c.now):
        return False
    return answer.kind is Kind.REPLY and answer.retries < retries and not answer.text


def ask_again(c: Conversation, failed: Answer) -> None:
    """The same prompt under a new turn id, so that late tokens of the old one are stale.

    What tools have said is said again: their work is done.
    """
    c.do(cmd.CancelGeneration(failed.turn))
    if failed.text:
        c.do(cmd.CancelSynthesis(failed.turn), cmd.DropPlayback(failed.turn))
    answer = c.new_answer(failed.heard, failed.kind, failed.utterance)
    answer.retries = failed.retries
    answer.rounds = failed.rounds
    answer.times.decided = failed.times.decided
    answer.times.speech_ended = failed.times.speech_ended
    if failed.told:
        tell(c, answer, failed.told)
    else:
        steps.send_prompt(c, answer)


def apologise(c: Conversation, failed: Answer, phrase: str = "no_answer") -> None:
    """Give the answer up and say so, by the name of a phrase of the lexicon."""
    cancel_answer(c)
    text = c.lexicon.phrases[phrase]
    answer = steps.say(c, text, Kind.PHRASE, failed.heard, failed.utterance)
    answer.times.decided = failed.times.decided
    answer.times.speech_ended = failed.times.speech_ended
    answer.retries = failed.retries


def give_up_speaking(c: Conversation, answer: Answer) -> None:
    """Not even the apology can be spoken: a sound, and listen again."""
    c.record(answer)
    steps.speech_failed(c)
    steps.listen(c, Cause.LLM_TIMEOUT, c.heard_until, c.tuning.timeouts.follow_up_s)
