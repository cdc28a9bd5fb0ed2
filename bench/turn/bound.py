"""How well could words and sound tell the ends of sentences from pauses at best?

Whoever waits no longer than usual after nineteen of twenty ends takes some pauses for ends.
How many is found without any policy: from what the language model gives to the words of each
pause and each end, and Smart Turn to their sound.  The limit, and the weight of the sound
against the words, are fitted to the very pauses they are judged by: no policy that weighs the
two so has fewer cut-offs at these waits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.rows import Row, row
from bench.turn.house import House, JudgeWords, heed
from bench.turn.sound import AFTER_S, Utterance
from edgevoice.core import events as ev
from edgevoice.core.events import RATE
from edgevoice.core.tuning import Tuning, Turn
from edgevoice.ports import EndOfTurn, Recogniser

ENDS_KEPT_WAITING = 0.05
_WEIGHTS = np.linspace(0, 3, 61)
_SURE = 1e-6
"""No probability is nearer to 0 or 1; what the rules hold to be unfinished has it."""

_EARLY_S = 0.3
"""A verdict may come so long before what was said has died away."""

_EVERYTHING_IS_JUDGED = Turn(
    policy="easyturn+smart_turn",
    hysteresis_window_ms=10_000,
    patience_ms=10_000,
    whole_probability=_SURE,
    unfinished_probability=0.0,
)
"""And no turn is ever taken."""

_Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Silence:
    """A pause or an end, and the probabilities that it is an end."""

    is_end: bool
    words: float
    sound: float


class _Witness(House):
    """Notes when which verdict came."""

    def __init__(self, recogniser: Recogniser, judge: EndOfTurn, whole: JudgeWords) -> None:
        super().__init__(Tuning(turn=_EVERYTHING_IS_JUDGED), recogniser, judge, whole)
        self.words: list[tuple[float, float]] = []
        self.sound: list[tuple[float, float]] = []

    def _comes(self, event: ev.Event) -> None:
        if isinstance(event, ev.WordsVerdict):
            self.words.append((self._now, event.probability))
        elif isinstance(event, ev.TurnVerdict):
            self.sound.append((self._now, event.probability))
        super()._comes(event)


def rows(
    said: Sequence[Utterance],
    recogniser: Callable[[], Recogniser],
    judge: EndOfTurn,
    whole: JudgeWords,
) -> list[Row]:
    """The bounds for words, sound and both."""
    silences = [s for each in said for s in silences_of(each, recogniser(), judge, whole)]
    ends = np.array([silence.is_end for silence in silences])
    words = _log_odds([silence.words for silence in silences])
    sound = _log_odds([silence.sound for silence in silences])
    both = min(taken(words + weight * sound, ends) for weight in _WEIGHTS)
    found = {"words": taken(words, ends), "sound": taken(sound, ends), "both": both}
    return [
        row("turn", f"at best, by {what}: cut-offs where one end in twenty waits", "%", [share])
        | {"n": int(np.sum(~ends))}
        for what, share in found.items()
    ]


def silences_of(
    said: Utterance, recogniser: Recogniser, judge: EndOfTurn, whole: JudgeWords
) -> list[Silence]:
    """What was thought in each pause of an utterance, and at its end."""
    witness = _Witness(recogniser, judge, whole)
    witness.hear(heed(said.audio))
    spans = [(pause.start / RATE, pause.end / RATE) for pause in said.pauses]
    end = said.end / RATE
    return [
        Silence(
            is_end=start == end,
            words=_last(witness.words, start, until, otherwise=_SURE),
            sound=_last(witness.sound, start, until, otherwise=0.5),
        )
        for start, until in [*spans, (end, end + AFTER_S)]
    ]


def taken(score: _Array, ends: npt.NDArray[np.bool_]) -> float:
    """Pauses in percent whose score is that of an end, if `ENDS_KEPT_WAITING` have less."""
    limit = np.quantile(score[ends], ENDS_KEPT_WAITING)
    return 100 * float(np.mean(score[~ends] >= limit))


def _last(
    verdicts: Sequence[tuple[float, float]], start: float, until: float, *, otherwise: float
) -> float:
    return next((p for at, p in reversed(verdicts) if start - _EARLY_S <= at < until), otherwise)


def _log_odds(probabilities: Sequence[float]) -> _Array:
    p = np.clip(probabilities, _SURE, 1 - _SURE)
    odds: _Array = np.log(p / (1 - p))
    return odds
