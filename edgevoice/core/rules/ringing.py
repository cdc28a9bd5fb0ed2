"""A timer or an alarm that is due: how it sounds, and how it ends."""

from __future__ import annotations

from edgevoice.core import commands as cmd
from edgevoice.core.conversation import Conversation
from edgevoice.core.table import Place
from edgevoice.core.timers import Timer

_EVERY_S = 2.0
"""From one sound to the next: the sound takes one second, the other is to hear "stop" in."""

_LISTENS_S = 5.0
"""It falls silent for so long at most when somebody speaks: it may be a television."""

_LOOK_AGAIN_S = 0.5

_SPOKEN_EVERY = 6
"""Its words come after the first sound, and then every so many sounds."""


def is_ringing(c: Conversation) -> bool:
    """Whether an alarm goes on, and nobody has called the device since to say something else."""
    addressed = c.hearing is not None and c.hearing.addressed
    return bool(c.rings) and c.rings[0].began is not None and not addressed


def sound(c: Conversation) -> str | None:
    """One round of the first alarm; the words that are to be said instead of a sound.

    One that has rung for long enough ends, and the next one has its turn.
    """
    ring = c.rings[0]
    if ring.began is None:
        ring.began = c.now
    if c.now - ring.began >= c.tuning.timeouts.ring_s:
        _end(c, stopped=False)
        return sound(c) if c.rings else None
    if _somebody_speaks(c) and c.now - ring.last < _LISTENS_S:
        c.after(_LOOK_AGAIN_S, Timer.RING)
        return None
    ring.rounds += 1
    ring.last = c.now
    c.after(_EVERY_S, Timer.RING)
    if ring.rounds % _SPOKEN_EVERY == 2 and c.place is not Place.SUSPENDED:
        c.timers.clear(Timer.RING)
        return ring.text
    c.do(cmd.PlayEarcon("alarm"))
    return None


def _somebody_speaks(c: Conversation) -> bool:
    """Whether somebody speaks, or has just done so and the words are not known yet."""
    heard = c.hearing
    return heard is not None and c.policy.speech_started_at is not None and not heard.final


def wait_for_words(c: Conversation) -> None:
    """Somebody speaks just when its words were about to be said: listen first."""
    c.after(_LOOK_AGAIN_S, Timer.RING)


def hush(c: Conversation) -> None:
    """Stop every alarm that was heard."""
    while c.rings and c.rings[0].began is not None:
        _end(c, stopped=True)


def _end(c: Conversation, *, stopped: bool) -> None:
    c.timers.clear(Timer.RING)
    c.do(cmd.RingOver(c.rings.popleft().id, stopped))
