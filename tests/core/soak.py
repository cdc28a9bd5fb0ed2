"""A very long life of the core: ``python -m tests.core.soak [events] [seed]``.

Conversation after conversation, each of some hundred events in any order, and
at times nothing but time.  The first broken promise ends it, with the events
that led there.
"""

from __future__ import annotations

import sys
from collections import deque
from dataclasses import dataclass, field
from random import Random
from time import monotonic

from edgevoice.core import events as ev
from edgevoice.core.conversation import Conversation
from edgevoice.core.table import TABLE, Place
from tests.core.world import TUNINGS, Chaos, Model, check_left_alone

Move = tuple[Place, str, Place]
"""Where an event arrived, its name, and a place it led to."""

_LONGEST = 600
"""Steps of one conversation."""
_LEFT_ALONE = 100
"""Steps after which time alone has to lead home."""


@dataclass
class Soaked:
    """How far it came."""

    events: int = 0
    conversations: int = 0
    moves: set[Move] = field(default_factory=set)


def soak(events: int, seed: int) -> Soaked:
    """Live for ``events`` events at least."""
    random = Random(seed)
    so_far = Soaked()
    while so_far.events < events:
        core = Conversation(TUNINGS[random.choice(tuple(TUNINGS))])
        model = Model(core)
        if random.random() < 0.9:
            model.handle(ev.Ready(0.0))
        so_far.events += live(model, Chaos(core, random), min(_LONGEST, events - so_far.events))
        so_far.conversations += 1
        so_far.moves |= model.moves
    return so_far


def live(model: Model, chaos: Chaos, steps: int) -> int:
    """Let ``steps`` things happen to a conversation; how many events that were."""
    core = chaos.core
    last: deque[str] = deque(maxlen=40)
    lived = 0
    try:
        for step in range(1, steps + 1):
            for event in chaos.events():
                last.append(f"{core.place.value}: {event}")
                model.handle(event)
                lived += 1
            if step % _LEFT_ALONE == 0 or step == steps:
                check_left_alone(core)
            if core.place is Place.TERMINATING:
                break
    except AssertionError:
        print(*last, f"and now in {core.place.value}", sep="\n", file=sys.stderr)
        raise
    return lived


def never_seen(moves: set[Move]) -> list[str]:
    """What the table allows and no conversation did."""
    allowed = {
        (place, kind.__name__, target)
        for place, rows in TABLE.items()
        for kind, row in rows.items()
        for target in row.to - {place}
    }
    return sorted(f"{p.value} -{kind}-> {target.value}" for p, kind, target in allowed - moves)


def main(events: str = "1000000", seed: str = "1") -> None:
    began = monotonic()
    soaked = soak(int(events), int(seed))
    took = monotonic() - began
    print(f"{soaked.events} events in {soaked.conversations} conversations, {took:.0f} s")
    print(*(f"never seen: {move}" for move in never_seen(soaked.moves)), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
