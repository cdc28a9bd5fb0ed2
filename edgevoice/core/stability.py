"""How sure the words of a transcript are."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from edgevoice.core.events import RATE
from edgevoice.core.lexicon import words

_STEP = RATE // 10
"""Samples between two looks into the past: EasyTurn polls its recogniser every 100 ms."""

_LOOKS = 5
_FADING = 0.5
"""Each look weighs this much of the one after it, so the recent ones decide."""


class StabilityTracker:
    """Token stability: the share of the words that have stopped changing, 0 to 1.

    The transcript is compared with what it was one, two, … `_LOOKS` steps ago;
    the share of its words that were there then (longest common prefix) is
    weighted by how recent that is.  So new words lower it at once, and it
    recovers by itself while nothing changes: two new words of six give 0.67,
    0.84 after 100 ms and 0.92 after 200 ms.  All times are sample indices.
    """

    def __init__(self) -> None:
        self._past: deque[tuple[int, list[str]]] = deque()

    def update(self, text: str, at: int, final: bool = False) -> None:
        """The transcript is ``text`` from sample ``at`` on.

        Of a final result nothing will change any more: it is stable from the
        beginning.
        """
        spoken = words(text)
        if final:
            self._past.clear()
            at -= _LOOKS * _STEP
        elif self._past and self._past[-1][1] == spoken:
            return
        self._forget(at - _LOOKS * _STEP)
        self._past.append((at, spoken))

    def stability(self, now: int) -> float:
        """Token stability at sample ``now``; 0 when there are no words."""
        if not self._past or not self._past[-1][1]:
            return 0.0
        current = self._past[-1][1]
        total = weights = 0.0
        for look in range(1, _LOOKS + 1):
            earlier = self._at(now - look * _STEP)
            if earlier:
                total += _FADING**look * common_prefix(current, earlier) / len(current)
                weights += _FADING**look
        return total / weights if weights else 0.0

    def _at(self, sample: int) -> list[str]:
        """The transcript as it was at ``sample``; none before the first word."""
        return next((spoken for since, spoken in reversed(self._past) if since <= sample), [])

    def _forget(self, before: int) -> None:
        while len(self._past) > 1 and self._past[1][0] <= before:
            self._past.popleft()


def common_prefix(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words both begin with."""
    if one is other:  # most of the time nothing has changed
        return len(one)
    pairs = zip(one, other, strict=False)
    return next(
        (i for i, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other))
    )
