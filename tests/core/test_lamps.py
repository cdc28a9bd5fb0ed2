"""The lamp: every place has a light, and darkness means rest."""

from itertools import pairwise

import pytest

from edgevoice.core import lamps
from edgevoice.core.events import FaultKind
from edgevoice.core.lamps import BLINKS, Pattern, pattern, plain
from edgevoice.core.table import Place

STEP_S = 0.01


def shown(light, seconds):
    """Brightness every 10 ms."""
    return [light.level(step * STEP_S) for step in range(round(seconds / STEP_S))]


def test_it_is_dark_at_rest_and_nowhere_else():
    dark = {place for place in Place if pattern(place).motion == "off"}
    assert dark == {Place.IDLE, Place.TERMINATING}


@pytest.mark.parametrize("adapt", [lambda light: light, plain])
def test_whatever_moves_has_a_period_and_colours_are_shares(adapt):
    for place in Place:
        light = adapt(pattern(place))
        assert (light.period_s > 0) is light.moves
        assert all(0 <= share <= 1 for share in light.colour)
        assert all(0 <= level <= 1 for level in shown(light, 5))
        assert (len(set(shown(light, 5))) > 1) is light.moves


@pytest.mark.parametrize("adapt", [lambda light: light, plain])
def test_a_change_is_seen_at_once(adapt):
    """Whatever is not dark begins at full brightness, and stays lit for longer than a blink."""
    for place in Place:
        light = adapt(pattern(place))
        if light.motion != "off":
            assert min(shown(light, 0.05)) > 0.8


def test_being_muted_is_not_taken_for_anything_else():
    muted = pattern(Place.SUSPENDED)
    assert all(
        (light.colour, light.motion) != (muted.colour, muted.motion)
        for light in map(pattern, set(Place) - {Place.SUSPENDED})
    )


def test_nor_is_it_on_a_lamp_of_one_colour():
    looks = {place: plain(pattern(place)) for place in Place}
    muted = looks.pop(Place.SUSPENDED)
    assert muted.motion not in {light.motion for light in looks.values()}
    assert looks[Place.LISTENING].motion == "steady"
    assert looks[Place.PLAYING].motion != "steady"


def runs(light, seconds):
    """How often it goes on within so many seconds."""
    levels = [0.0, *shown(light, seconds)]
    return sum(b > a for a, b in pairwise(levels))


@pytest.mark.parametrize("kind", FaultKind)
def test_a_fault_is_told_by_the_number_of_blinks(kind):
    light = pattern(Place.FAULTED, kind)
    round_s = BLINKS[kind] * light.period_s + lamps._CODE_PAUSE_S
    assert runs(light, round_s) == BLINKS[kind]
    assert runs(light, 3 * round_s) == 3 * BLINKS[kind]
    assert not any(shown(light, round_s)[-100:])


def test_only_the_lamp_of_a_fault_tells_its_kind():
    tells = {place for place in Place if pattern(place, FaultKind.LLM) != pattern(place)}
    assert tells == {Place.FAULTED}


def test_every_kind_of_fault_has_a_number_of_its_own():
    assert sorted(BLINKS.values()) == list(range(1, len(FaultKind) + 1))


def test_motions():
    blink = Pattern("x", (1, 1, 1), "blink", 1.0)
    assert [blink.level(t) for t in (0.0, 0.4, 0.5, 0.9, 1.1)] == [1, 1, 0, 0, 1]
    flash = Pattern("x", (1, 1, 1), "flash", 2.0)
    assert [flash.level(t) for t in (0.0, 0.05, 0.1, 1.9, 2.05)] == [1, 1, 0, 0, 1]
    pulse = Pattern("x", (1, 1, 1), "pulse", 2.0)
    assert [pulse.level(t) for t in (0.0, 1.0, 2.0)] == [1, lamps._DIMMEST, 1]
    assert Pattern("x", (1, 1, 1), "steady").level(9.0) == 1
    assert Pattern("x", (1, 1, 1), "off").level(9.0) == 0
