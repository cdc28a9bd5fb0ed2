"""The lamp: every place has a light, and darkness means rest."""

from edgevoice.core.lamps import pattern
from edgevoice.core.table import Place


def test_it_is_dark_at_rest_and_nowhere_else():
    dark = {place for place in Place if pattern(place).motion == "off"}
    assert dark == {Place.IDLE, Place.TERMINATING}


def test_whatever_moves_has_a_period_and_colours_are_shares():
    for place in Place:
        light = pattern(place)
        assert (light.period_s > 0) is (light.motion in ("pulse", "blink"))
        assert all(0 <= share <= 1 for share in light.colour)


def test_being_muted_is_not_taken_for_anything_else():
    muted = pattern(Place.SUSPENDED)
    assert all(
        (light.colour, light.motion) != (muted.colour, muted.motion)
        for light in map(pattern, set(Place) - {Place.SUSPENDED})
    )
