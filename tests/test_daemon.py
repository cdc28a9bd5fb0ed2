"""What the daemon adds to the house."""

from __future__ import annotations

import pytest

from edgevoice.core.commands import Transition
from edgevoice.core.table import Cause, Place
from edgevoice.daemon import SinkWaker


def moved(place: Place) -> Transition:
    return Transition(0.0, Place.IDLE, place, Cause.WAKE_DETECTED, 1)


@pytest.mark.parametrize(
    ("when", "told"),
    [
        ("conversation", [False, True, True, True, False, False]),
        ("always", [True]),
        ("never", [False]),
    ],
)
def test_a_sink_is_woken_long_before_the_answer(when: str, told: list[bool]) -> None:
    awake: list[bool] = []
    waker = SinkWaker(awake.append, when)
    for place in (
        Place.LISTENING,
        Place.WAITING_FOR_LLM,
        Place.PLAYING,
        Place.IDLE,
        Place.SUSPENDED,
    ):
        waker.moved(moved(place))
    assert awake == told
