"""A figure as it was measured: several times, because no machine is quiet."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

_LEAST, _MOST = 3, 7
"""Runs: a median of fewer than three says nothing, more than seven say no more."""


@dataclass(frozen=True)
class Figure:
    """What was measured, in ``unit``, once for each run."""

    name: str
    unit: str
    runs: tuple[float, ...]

    @property
    def median(self) -> float:
        """The figure."""
        return median(self.runs)

    @property
    def noise(self) -> float:
        """How far the runs lie apart, as a share of the median."""
        return (max(self.runs) - min(self.runs)) / self.median if self.median else 0.0

    def __str__(self) -> str:
        lowest, highest = min(self.runs), max(self.runs)
        unit = f" {self.unit}" if self.unit else ""
        return (
            f"{self.name:44} {self.median:8.3g}{unit}  "
            f"({lowest:.3g} to {highest:.3g} in {len(self.runs)} runs)"
        )


def less(one: Figure, other: Figure) -> bool:
    """Whether ``one`` is less, and by more than the noise: no run of it reaches the other's."""
    return max(one.runs) < min(other.runs)


def repeat(measure: Callable[[], float], seconds: float) -> tuple[float, ...]:
    """Run ``measure`` three times, and up to seven while ``seconds`` last."""
    began = time.monotonic()
    runs: list[float] = []
    while len(runs) < _LEAST or (len(runs) < _MOST and time.monotonic() - began < seconds):
        runs.append(measure())
    return tuple(runs)


def timed(work: Callable[[], object]) -> float:
    """Seconds that it takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def percentile(values: Sequence[float], share: float) -> float:
    """The value that ``share`` of the others do not exceed."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]
