"""The user goes on with a sentence that was taken to be over.

While the device thinks, the prompt is taken back and the same utterance continues
(`go_on_listening`).  A draft leaves nearly no time for that: who has only paused speaks
into the first words of the answer.  What they say then is the rest of their sentence
(`rejoin`): the answer is as if it had never begun, and the whole sentence is answered.
"""

from __future__ import annotations

from edgevoice.core.conversation import Conversation
from edgevoice.core.rules.silence import cancel_answer, commit
from edgevoice.core.table import Cause, Place
from edgevoice.core.timers import Timer
from edgevoice.core.turn import Kind, Utterance

_LIKELY_WHOLE = 0.3
"""As the language model sees it, 40 % of the ends of sentences are whole with so much, and of 195
pauses within them three (`bench.turn`)."""


def go_on_listening(c: Conversation, heard: Utterance) -> None:
    """Take the prompt back; the same utterance continues."""
    cancel_answer(c)
    c.move(Place.LISTENING, Cause.USER_RESUMED, heard.turn)
    c.after(c.tuning.timeouts.nothing_said_s, Timer.NOTHING_SAID)


def may_go_on(c: Conversation) -> bool:
    """Whether who speaks into the answer may be in the middle of the question.

    That is so when they began sooner than the answer could have been understood, and the
    question may have been unfinished.  A question that the button or the clock has ended was
    over, and so was one that has called a tool, which cannot be undone.
    """
    answer = c.the_answer
    asked = answer.utterance
    if answer.kind is not Kind.REPLY or answer.called or asked is None or asked.is_over:
        return False
    if asked.whole is None or asked.whole >= _LIKELY_WHOLE:
        return False
    began, onset = answer.times.started, answer.times.onset
    heard_ms = 0.0 if began is None or onset is None else (onset - began) * 1000
    return heard_ms < c.tuning.turn.rejoin_ms


def rejoin(c: Conversation) -> None:
    """Take the answer back: what is being said continues its question."""
    answer = c.the_answer
    answer.retracted = True
    c.why += ", the rest of the question"
    commit(c, Cause.USER_RESUMED)
    c.the_hearing.continue_from(answer.heard)
