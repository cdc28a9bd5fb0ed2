"""Begin to recognise what the user says, and stop it."""

from __future__ import annotations

from edgevoice.core import commands as cmd
from edgevoice.core.conversation import Conversation


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
