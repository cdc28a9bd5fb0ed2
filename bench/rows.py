"""A row of the bench: one figure as a distribution, with its target."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Row: TypeAlias = dict[str, Any]
Values: TypeAlias = Sequence[float] | npt.NDArray[np.float64]


def row(
    suite: str,
    metric: str,
    unit: str,
    values: Values,
    *,
    target: str = "",
    holds: bool | None = None,
    baseline: float | None = None,
) -> Row:
    """p50, p95 and p99 of ``values``; ``baseline`` is the median of what it is held against."""
    p50, p95, p99 = (float(np.percentile(values, q)) for q in (50, 95, 99))
    return {
        "suite": suite,
        "metric": metric,
        "unit": unit,
        "n": len(values),
        "p50": p50,
        "p95": p95,
        "p99": p99,
        "target": target,
        "holds": holds,
        "baseline": baseline,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
    }
