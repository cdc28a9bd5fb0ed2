"""What one event costs the core, over the events of a real conversation.

The trace comes from `bench.conversation`, which holds one if none was held.
"""

from __future__ import annotations

import time

from bench.conversation import a_trace
from bench.rows import Row, row
from edgevoice.core.conversation import Conversation
from edgevoice.trace import read

_ROUNDS = 5
_TARGET_US = 200.0


def rows() -> list[Row]:
    """The figures of the suite."""
    tuning, born, steps = read(a_trace())
    events = [step.event for step in steps]
    costs = []
    for _ in range(_ROUNDS):
        core = Conversation(tuning, born)
        for event in events:
            began = time.perf_counter()
            core.handle(event)
            costs.append(1e6 * (time.perf_counter() - began))
    figure = row("core", "one event", "µs", costs, target="p99 < 200 µs")
    return [figure | {"holds": figure["p99"] < _TARGET_US}]
