"""Whatever happens, in whatever order: the promises of the machine hold."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgevoice.core.conversation import Conversation
from edgevoice.core.table import Place
from tests.core.reach import reach
from tests.core.soak import live, soak
from tests.core.world import TUNINGS, Chaos, Model, check_left_alone


@settings(max_examples=150)
@given(st.sampled_from(sorted(TUNINGS)), st.randoms(use_true_random=False), st.integers(1, 40))
def test_no_event_anywhere_breaks_a_promise(tuning: str, random: Random, steps: int) -> None:
    core = Conversation(TUNINGS[tuning])
    live(Model(core), Chaos(core, random), steps)


@pytest.mark.parametrize("place", Place, ids=lambda place: place.value)
def test_time_alone_leads_home_from_everywhere(place: Place) -> None:
    check_left_alone(reach(place))


def test_ten_thousand_events_of_a_seeded_world() -> None:
    assert soak(events=10_000, seed=7).events >= 10_000
