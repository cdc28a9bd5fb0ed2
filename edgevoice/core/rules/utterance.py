"""Begin to recognise what the user says, read along, and stop it."""

from __future__ import annotations

from edgevoice.core import commands as cmd
from edgevoice.core.conversation import Conversation
from edgevoice.core.turn import Utterance


def begin_utterance(c: Conversation, since: int) -> None:
    """Recognise a new utterance from sample ``since`` on.

    Where an order may be cried, into an answer or an alarm, it is listened for apart.
    """
    forget_utterance(c)
    apart = c.short_phrases if c.answer is not None or c.rings else frozenset[str]()
    heard = c.new_utterance(since)
    c.do(cmd.Recognise(heard.turn, since, tuple(sorted(apart))))


def forget_utterance(c: Conversation) -> None:
    """What is being said, or was, is nobody's business any more."""
    drop_draft(c)
    if c.hearing is not None:
        c.do(cmd.StopRecognising(c.hearing.turn))
        c.hearing = None


def drop_draft(c: Conversation) -> None:
    """Throw the answer away that was begun too early, and leave no trace of it but its cost."""
    draft, c.draft = c.draft, None
    if draft is not None:
        c.wasted_tokens += draft.tokens
        c.do(
            cmd.CancelGeneration(draft.turn),
            cmd.CancelSynthesis(draft.turn),
            cmd.DropPlayback(draft.turn),
        )


def read_ahead(c: Conversation, text: str = "") -> None:
    """Let the model read the conversation so far, with ``text`` as the next question.

    Not while an answer is made: what it becomes is not known yet.
    """
    ahead = c.tuning.speculation
    if ahead.read_ahead and _is_quiet(c):
        turn = c.turn if c.hearing is None else c.hearing.turn
        opening = ahead.opening_tokens if text else 0
        c.do(cmd.Prefill(turn, c.history.messages(text, anew=True), opening))


def judge_words(c: Conversation, heard: Utterance) -> None:
    """Ask the model, once, whether the words are a whole utterance."""
    asks = c.tuning.turn.judges_words and heard.judged_until is None
    if asks and heard.text and _is_quiet(c):
        heard.judged_until = heard.heard_until
        messages = c.history.messages(heard.text, anew=True)
        c.do(cmd.JudgeWords(heard.turn, heard.heard_until, messages))


def _is_quiet(c: Conversation) -> bool:
    """Whether it is known what the conversation is so far."""
    return c.answer is None and c.draft is None and c.closing is None
