"""Thinking ahead while the user speaks, and while they may have finished.

Two waits of courtesy come before each answer: the silence after which the user
has probably finished, and the hysteresis that makes sure.  They are time to
think.  While the user speaks, the words that have stopped changing are read by
the model (`follow`).  When nothing but time is missing, an answer is begun on
the quiet: a draft (`consider`).  Its words are spoken into a buffer and its
tools are noted, not run.  When the turn is over it is the answer, as far as it
has come (`end_turn`); when the user goes on it is dropped, and nothing but its
cost remains.  A draft lives in LISTENING alone, and there are at most
``speculation.answers`` of them for an utterance.
"""

from __future__ import annotations

from edgevoice.core.completeness import promises_more
from edgevoice.core.conversation import Conversation
from edgevoice.core.lexicon import words
from edgevoice.core.policy import Blocker, TurnDecision
from edgevoice.core.rules import steps
from edgevoice.core.rules.mind import nothing_to_say
from edgevoice.core.rules.ringing import is_ringing
from edgevoice.core.rules.tools import tool_called
from edgevoice.core.rules.utterance import drop_draft, judge_words, read_ahead
from edgevoice.core.table import Cause
from edgevoice.core.turn import Answer, Utterance


def follow(c: Conversation, heard: Utterance) -> None:
    """The words have changed: a draft that answers others is worth nothing.

    The policy has not judged the new ones yet; the last words need not wait for that.
    """
    if c.draft is not None and c.draft.heard != heard.text:
        drop_draft(c)
    if heard.final and not promises_more(heard.text, c.lexicon):
        consider(c, heard)
    if heard.settled and not heard.read.startswith(heard.settled):
        heard.read = heard.settled
        read_ahead(c, heard.settled)


def consider(c: Conversation, heard: Utterance) -> None:
    """Begin a draft, hurry it, or drop it, as the user's silence goes on or ends.

    Before the first one the model is asked whether the words are whole.
    """
    decision = c.decision
    if decision is None or heard.by_button:
        return
    if decision.speaking:
        drop_draft(c)
        return
    if heard.final and decision.blocked_by is not Blocker.INCOMPLETE:
        judge_words(c, heard)
    if c.draft is not None:
        c.draft.awaited = c.draft.awaited or decision.blocked_by is Blocker.NOTHING
    elif _only_time_is_missing(c, heard, decision) and _is_worth_a_draft(c, heard):
        c.history.abandon()
        steps.generate(c, c.new_draft(heard))


def _only_time_is_missing(c: Conversation, heard: Utterance, decision: TurnDecision) -> bool:
    """Whether the turn is over unless the user goes on.

    That is so when the verdict is pending, and before that when the recogniser's last
    words are there and the policy waits for nothing but silence.  While they are on their
    way nothing is begun: they are others most of the time.
    """
    if heard.flushed and not heard.final:
        return False
    if decision.blocked_by is Blocker.NOTHING:
        return True
    turn = c.tuning.turn
    return (
        decision.blocked_by is Blocker.SILENCE
        and heard.final
        and c.linguistic().certainty >= turn.min_confidence_to_speak
        and (len(heard.text) >= turn.min_text_length or c.lexicon.is_short_answer(heard.text))
    )


def _is_worth_a_draft(c: Conversation, heard: Utterance) -> bool:
    """Whether it would be answered, and the model has not been asked in vain too often."""
    if is_ringing(c):
        return False
    if heard.drafts >= c.tuning.speculation.answers or heard.released or not heard.text:
        return False
    if c.answer is not None or c.closing is not None:
        return False
    return not (c.lexicon.closes(words(heard.latest)) or c.lexicon.stops(heard.latest))


def give_up(c: Conversation) -> None:
    """The draft has failed; the question is asked again, once, when the turn is over."""
    c.the_hearing.drafts = c.tuning.speculation.answers
    drop_draft(c)


def end_turn(c: Conversation, cause: Cause) -> None:
    """The user has finished: what was prepared for this moment happens now."""
    draft = c.draft
    steps.end_turn(c, cause)
    if draft is not None and c.answer is draft:
        _take_up(c, draft)


def _take_up(c: Conversation, answer: Answer) -> None:
    """A draft has become the answer: let out what is buffered, and run its tools."""
    calls, answer.put_off = answer.put_off, []
    if answer.buffered:
        steps.start_speaking(c, answer)
    for call in calls:
        tool_called(c, call)
    if answer.complete and not answer.text and not calls:
        nothing_to_say(c, answer)
