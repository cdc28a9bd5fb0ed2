from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevoice.core.events import Transcript, Word
from edgevoice.core.stability import StabilityTracker, common_prefix
from edgevoice.core.turn import Utterance
from tests.core.ear import ms


def test_nothing_heard_is_not_stable() -> None:
    tracker = StabilityTracker()
    assert tracker.stability(0) == 0.0
    tracker.update("", 0)
    assert tracker.stability(ms(1000)) == 0.0


def test_the_first_words_are_stable_once_they_were_seen_twice() -> None:
    tracker = StabilityTracker()
    tracker.update("", 0)
    tracker.update("turn on", ms(200))
    assert tracker.stability(ms(290)) == 0.0
    assert tracker.stability(ms(300)) == 1.0


def test_new_words_lower_it_and_it_recovers_while_nothing_changes() -> None:
    tracker = StabilityTracker()
    tracker.update("what time is it", 0)
    tracker.update("what time is it in paris", ms(1000))
    values = [tracker.stability(ms(1000 + t)) for t in (0, 100, 200, 500)]
    assert values == pytest.approx([0.667, 0.839, 0.925, 1.0], abs=0.001)


def test_all_of_the_recent_past_counts() -> None:
    tracker = StabilityTracker()
    for number, text in enumerate(("a", "a b", "a b c")):
        tracker.update(text, ms(100 * number))
    assert tracker.stability(ms(200)) == pytest.approx((0.5 * 2 / 3 + 0.25 * 1 / 3) / 0.75)


def test_a_correction_at_the_front_lowers_it_most() -> None:
    tracker = StabilityTracker()
    tracker.update("burn on the lamp", 0)
    tracker.update("turn on the lamp", ms(1000))
    assert tracker.stability(ms(1000)) == 0.0


def test_words_that_were_taken_back_leave_the_rest_stable() -> None:
    tracker = StabilityTracker()
    tracker.update("turn on the lamp oh", 0)
    tracker.update("turn on the lamp", ms(1000))
    assert tracker.stability(ms(1000)) == 1.0


def test_a_final_is_stable_from_the_beginning_and_what_follows_is_not() -> None:
    tracker = StabilityTracker()
    tracker.update("what time", 0)
    tracker.update("what time is it", ms(1000), final=True)
    assert tracker.stability(ms(1000)) == 1.0
    tracker.update("what time is it in paris now", ms(1100))
    assert tracker.stability(ms(1100)) == pytest.approx(4 / 7)


def test_the_same_text_again_changes_nothing() -> None:
    once, often = StabilityTracker(), StabilityTracker()
    for tracker, times in ((once, 1), (often, 9)):
        tracker.update("what", 0)
        for repeat in range(times):
            tracker.update("What time?", ms(500 + repeat * 30))
    assert once.stability(ms(800)) == often.stability(ms(800))


def test_the_past_is_forgotten() -> None:
    tracker = StabilityTracker()
    for second in range(100):
        tracker.update(f"word {second}", ms(second * 1000))
    assert len(tracker._past) <= 2
    for repeat in range(10):
        tracker.update("the same", ms(100_000 + repeat * 30))
    assert len(tracker._past) <= 2


@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from("abc"), max_size=6), st.integers(0, 400)), max_size=12
    ),
    st.integers(0, 800),
)
def test_it_is_a_share_and_recovers_in_any_case(
    partials: list[tuple[list[str], int]], later: int
) -> None:
    tracker = StabilityTracker()
    now = 0
    for spoken, pause in partials:
        now += ms(pause)
        tracker.update(" ".join(spoken), now)
    assert 0.0 <= tracker.stability(now + ms(later)) <= 1.0
    if partials and partials[-1][0]:
        assert tracker.stability(now + ms(500)) == 1.0


def test_common_prefix() -> None:
    assert common_prefix(["a", "b", "c"], ["a", "b", "x"]) == 2
    assert common_prefix(["a"], ["a", "b"]) == 1
    assert common_prefix([], ["a"]) == 0
    same = ["a", "b"]
    assert common_prefix(same, same) == 2


def test_a_final_is_stable_at_once_however_early() -> None:
    tracker = StabilityTracker()
    tracker.update("turn on", ms(100), final=True)
    assert tracker.stability(ms(100)) == 1.0


def test_the_utterance_tells_its_tracker_what_is_final() -> None:
    utterance = Utterance(1, 0, StabilityTracker())
    utterance.take(Transcript(0.0, 1, "turn on", ms(100), True, (Word("turn", 0.9),)))
    assert utterance.tracker.stability(ms(100)) == 1.0
