"""What the bench of the turn policies counts, on decisions that are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from bench.turn import BASELINE, Cut, Outcome, cuts_of, figures, policies, wait_ms
from bench.turn.bound import taken
from bench.turn.house import Remembered
from bench.turn.plot import render
from bench.turn.sound import AFTER_S, Pause, Utterance, gaps, places_apart
from edgevoice.core.events import RATE, SpokenWord
from edgevoice.ports import Hypothesis, Samples

SAID = Utterance(
    "one two three",
    np.zeros(6 * RATE, np.int16),
    (Pause("cut", 1 * RATE, 2 * RATE), Pause("clause", 3 * RATE, 4 * RATE)),
    5 * RATE,
)


@pytest.mark.parametrize(
    ("decided_s", "cut"),
    [
        ([], (False, False)),
        ([0.9], (False, False)),
        ([1.6], (True, False)),
        ([2.9], (True, False)),  # decided in the pause, told after it
        ([3.0], (False, True)),
        ([1.5, 3.5], (True, True)),
        ([5.2], (False, False)),
    ],
)
def test_a_decision_cuts_off_the_pause_it_comes_after(
    decided_s: list[float], cut: tuple[bool, bool]
) -> None:
    assert tuple(c.was for c in cuts_of(SAID, [int(s * RATE) for s in decided_s])) == cut


def test_what_has_no_pauses_cannot_be_cut_off() -> None:
    assert cuts_of(Utterance("yes", SAID.audio, (), RATE), [RATE // 2]) == []


@pytest.mark.parametrize(
    ("decided_s", "waited_ms"), [([5.6], 600), ([1.5, 5.4, 5.9], 400), ([1.5], AFTER_S * 1000)]
)
def test_the_wait_goes_from_the_end_to_the_first_decision(
    decided_s: list[float], waited_ms: float
) -> None:
    assert wait_ms(SAID, [round(s * RATE) for s in decided_s]) == pytest.approx(waited_ms)


def test_pauses_are_words_apart_and_never_after_the_last() -> None:
    for seed in range(50):
        chosen = places_apart(6, 2, np.random.default_rng(seed))
        assert all(0 <= place < 5 for place in chosen)
        assert len(chosen) == 1 or chosen[1] - chosen[0] > 1


def test_gaps_are_silences_of_the_wanted_length() -> None:
    at = [(0.0, 0.3), (0.5, 1.0), (1.8, 2.0), (4.0, 4.2)]
    words = [SpokenWord("so", int(a * RATE), int(b * RATE)) for a, b in at]
    assert gaps(words, "person") == (Pause("person", RATE, int(1.8 * RATE)),)


class Counting:
    """Hears how much it was given; counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.heard = 0

    def begin(self, apart: Sequence[str] = ()) -> None:
        self.heard = 0

    def accept(self, audio: Samples) -> Hypothesis:
        self.asked += 1
        self.heard += len(audio)
        return Hypothesis(str(self.heard))

    def flush(self) -> Hypothesis:
        self.asked += 1
        return Hypothesis(f"{self.heard}, all")


def test_a_recogniser_that_is_remembered_answers_as_the_real_one_would() -> None:
    made: list[Counting] = []
    memory: dict[bytes, Hypothesis] = {}

    def make() -> Counting:
        made.append(Counting())
        return made[-1]

    def ask(*blocks: int, flush: bool = False) -> str:
        recogniser = Remembered(make, memory)
        recogniser.begin()
        answers = [recogniser.accept(np.full(n, 7, np.int16)) for n in blocks]
        if flush:
            answers.append(recogniser.flush())
        return answers[-1].text

    assert ask(10, 20) == "30"
    assert ask(10, 20) == "30"
    assert len(made) == 1, "asked the same once more, the real one was asked"
    assert ask(10, 20, 5, flush=True) == "35, all"
    assert made[-1].heard == 35, "on a new path the real one has heard all of it"
    assert ask(30) == "30"


def test_each_policy_has_its_rows_beside_the_baseline() -> None:
    cuts = (Cut("cut", True), Cut("cut", False), Cut("clause", False))
    outcomes = [Outcome(name, cuts, (500.0, 600.0, 1700.0)) for name in policies()]
    (baseline,) = (o for o in outcomes if o.name == BASELINE)
    found = {row["metric"]: row for o in outcomes for row in figures(o, baseline)}
    cut = found["easyturn, default: cut-offs"]
    assert cut["p50"] == cut["baseline"] == pytest.approx(100 / 3)
    assert cut["n"] == 3
    assert cut["holds"] is False
    assert found["easyturn, default: cut-offs, cut"]["p50"] == 50
    assert found["smart_turn, default: end of speech to decision"]["p50"] == 600
    picture = render(outcomes)
    assert all(f">{outcome.name}<" in picture for outcome in outcomes)


@pytest.mark.parametrize(
    ("pauses", "share"),
    [([-9.0, -8.0, -7.0, -6.0], 0), ([-9.0, -8.0, 5.0, 6.0], 50), ([5.0, 6.0], 100)],
)
def test_the_bound_counts_pauses_that_look_like_all_ends_but_one_in_twenty(
    pauses: list[float], share: float
) -> None:
    scores = np.array([*pauses, -100.0, *([1.0] * 30)])
    ends = np.array([False] * len(pauses) + [True] * 31)
    assert taken(scores, ends) == share
