"""What is counted as mended, of the sentences that were cut off."""

from __future__ import annotations

import pytest

from bench.lockstep import Step
from bench.turn.rejoin import Fate, Watcher
from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.table import Cause, Place

TURN = 3
LAST = "room"


def move(at: float, source: Place, target: Place, cause: Cause) -> Step:
    return Step(ev.Tick(at), [cmd.Transition(at, source, target, cause, TURN)], "")


def record(heard: str) -> Step:
    answered = cmd.TurnRecord(TURN, 5.0, heard, "Yes.", "Yes.", False, *[None] * 7, 0, 0, 0)
    return Step(ev.Tick(5.0), [answered], "")


DECIDED = move(1.2, Place.LISTENING, Place.WAITING_FOR_LLM, Cause.TURN_SPEAK)
STARTED = Step(ev.PlaybackStarted(1.3, TURN), [], "")
HELD = Step(ev.PlaybackHeld(1.8, TURN, 0), [], "")
RESUMED = move(1.9, Place.HELD, Place.INTERRUPTED, Cause.USER_RESUMED)
INTERRUPTED = move(1.9, Place.HELD, Place.INTERRUPTED, Cause.USER_INTERRUPT)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([], Fate(cut=False)),
        ([DECIDED, STARTED, HELD, RESUMED], Fate(cut=True, mended=True, over_ms=500)),
        ([DECIDED, STARTED, HELD, INTERRUPTED], Fate(cut=True, mended=False, over_ms=500)),
        ([DECIDED, STARTED, record("and the living")], Fate(cut=True, mended=False)),
        ([DECIDED, STARTED, record("and the living room")], Fate(cut=True, mended=True)),
    ],
)
def test_what_becomes_of_a_pause(steps: list[Step], expected: Fate) -> None:
    watcher = Watcher()
    for step in steps:
        watcher(step)
    fate = watcher.fate(1.0, 2.0, LAST)
    assert (fate.cut, fate.mended) == (expected.cut, expected.mended)
    assert fate.over_ms == pytest.approx(expected.over_ms)


def test_a_turn_that_ends_behind_the_pause_cuts_nothing_off() -> None:
    watcher = Watcher()
    watcher(DECIDED)
    assert not watcher.fate(1.3, 2.0, LAST).cut
