"""The thread that paints patterns, on a light that remembers."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from edgevoice.adapters.light import Animated, Colour
from edgevoice.core.lamps import Pattern, pattern
from edgevoice.core.table import Place
from tests.patience import until


class Paper:
    """A light that remembers its colours, and when it got them."""

    def __init__(self) -> None:
        self.colours: list[Colour] = []
        self.times: list[float] = []
        self.closed = 0
        self.broken = False

    def paint(self, colour: Colour) -> None:
        if self.broken:
            raise OSError("no current")
        self.colours.append(colour)
        self.times.append(time.monotonic())

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def paper() -> Paper:
    return Paper()


@pytest.fixture
def lamps(paper: Paper) -> Iterator[Animated]:
    lamps = Animated(paper)
    yield lamps
    lamps.close()


def test_a_steady_light_is_painted_once(paper: Paper, lamps: Animated) -> None:
    for _ in range(3):
        lamps.show(pattern(Place.LISTENING))
    until(lambda: paper.colours)
    time.sleep(0.1)
    assert paper.colours == [(0.0, 0.4, 1.0)]


def test_it_goes_dark(paper: Paper, lamps: Animated) -> None:
    lamps.show(pattern(Place.SUSPENDED))
    until(lambda: paper.colours == [(1.0, 0.0, 0.0)])
    lamps.show(pattern(Place.IDLE))
    until(lambda: paper.colours[-1] == (0.0, 0.0, 0.0))


def test_a_blink_is_all_or_nothing_and_goes_on(paper: Paper, lamps: Animated) -> None:
    lamps.show(pattern(Place.HELD))
    until(lambda: len(paper.colours) > 4)
    assert set(paper.colours) == {(0.0, 1.0, 0.3), (0.0, 0.0, 0.0)}


def test_a_pulse_passes_through_what_lies_between(paper: Paper, lamps: Animated) -> None:
    lamps.show(pattern(Place.WAITING_FOR_LLM))
    until(lambda: len(set(paper.colours)) > 5)


@pytest.mark.parametrize("place", list(Place), ids=lambda place: place.value)
def test_a_change_is_painted_at_once(paper: Paper, lamps: Animated, place: Place) -> None:
    lamps.show(Pattern("before", (0.5, 0.5, 0.5), "pulse", 0.2))
    until(lambda: paper.colours)
    asked, seen = time.monotonic(), len(paper.colours)
    lamps.show(pattern(place))
    light = pattern(place)
    first = (0.0, 0.0, 0.0) if light.motion == "off" else light.colour
    until(lambda: first in paper.colours[seen:])
    at = paper.times[paper.colours.index(first, seen)]
    print(f"{place.value}: painted after {(at - asked) * 1e3:.1f} ms")


def test_a_light_that_fails_is_told_once_and_nobody_waits_for_it(
    paper: Paper, caplog: pytest.LogCaptureFixture
) -> None:
    paper.broken = True
    lamps = Animated(paper)
    lamps.show(pattern(Place.LISTENING))
    until(lambda: caplog.records)
    for place in Place:
        lamps.show(pattern(place))
    lamps.close()
    assert [record.message for record in caplog.records] == [
        "the light has failed and stays as it is: no current"
    ]


def test_closed_is_closed(paper: Paper) -> None:
    lamps = Animated(paper)
    lamps.close()
    assert paper.closed == 1
    assert not lamps._thread.is_alive()
