from dataclasses import replace

import pytest

from edgevoice.settings.schema import Llm, Settings
from edgevoice.tune.advise import Change, Model, advise
from edgevoice.tune.estimate import BOARDS, estimate
from edgevoice.tune.figures import Figure, less, repeat
from edgevoice.tune.measure import Machine, Threads, candidates, most_for_model

SMALL, MEDIUM, LARGE = (
    Model("small", 100_000_000, True),
    Model("medium", 400_000_000, True),
    Model("large", 800_000_000, False),
)


def figure(*runs: float) -> Figure:
    return Figure("it", "ms", runs)


def engine(threads: int, *firsts: float, pace: float = 10.0) -> Threads:
    return Threads(threads, figure(*firsts), figure(pace, pace, pace))


def machine(**changes: object) -> Machine:
    quiet = Machine(
        cores=4,
        recogniser=figure(0.1, 0.1, 0.1),
        ear=figure(30, 31, 32),
        model=(engine(0, 100, 101, 102), engine(2, 150, 151, 152)),
        prefill=figure(200, 201, 202),
        voice=(engine(0, 50, 51, 52), engine(2, 60, 61, 62)),
        lateness=figure(1, 1, 1),
    )
    return replace(quiet, **changes)  # type: ignore[arg-type]


def changes(measured: Machine, settings: Settings | None = None) -> tuple[Change, ...]:
    return advise(measured, settings or Settings(), SMALL, [SMALL]).changes


def test_what_is_best_is_left_alone() -> None:
    advice = advise(machine(), Settings(), SMALL, [SMALL])
    assert advice.changes == ()
    assert advice.hints == ()


@pytest.mark.parametrize(
    ("tried", "threads"),
    [
        ((50, 51, 52), 2),
        ((95, 96, 97), None),  # sure, but not worth it
        ((50, 80, 100), None),  # much better, but not for sure
        ((150, 160, 170), None),
    ],
)
def test_other_threads_must_be_better_for_sure(
    tried: tuple[float, ...], threads: int | None
) -> None:
    for key, part in (("llm.threads", "model"), ("tts.threads", "voice")):
        pair = (engine(0, 100, 101, 102), engine(2, *tried))
        found = changes(machine(**{part: pair}))
        assert [(c.key, c.value) for c in found] == ([(key, threads)] if threads else [])


@pytest.mark.parametrize(
    ("late", "now", "wanted"),
    [(2, 10, None), (9, 10, 20), (9, 20, None), (30, 10, 40), (100, 10, 40), (1, 20, None)],
)
def test_a_block_may_be_late_by_a_period_and_no_buffer_is_made_smaller(
    late: float, now: int, wanted: int | None
) -> None:
    settings = Settings()
    settings = replace(settings, audio=replace(settings.audio, period_ms=now))
    found = changes(machine(lateness=figure(1, late, 1)), settings)
    assert [c.value for c in found] == ([wanted] if wanted else [])


def model(pace: float, current: Model | None, others: list[Model]) -> object:
    measured = machine(model=(engine(0, 100, 100, 100, pace=pace),))
    advice = advise(measured, Settings(llm=Llm()), current, others)
    return [*(c.value for c in advice.changes), *(hint.split()[0] for hint in advice.hints)]


@pytest.mark.parametrize(
    ("pace", "current", "wanted"),
    [
        (9, SMALL, []),
        (40, SMALL, ["medium"]),
        (100, SMALL, ["large"]),  # a hint: it has to be fetched first
        (3, MEDIUM, ["small"]),
        (1, MEDIUM, []),  # none is fast enough
        (9, MEDIUM, []),
        (3, None, ["answers"]),
        (9, None, []),
    ],
)
def test_the_biggest_model_that_keeps_up_with_its_voice(
    pace: float, current: Model | None, wanted: list[str]
) -> None:
    assert model(pace, current, [SMALL, MEDIUM, LARGE]) == wanted


def test_a_noisy_measurement_says_so() -> None:
    advice = advise(machine(recogniser=figure(0.1, 0.1, 0.3)), Settings(), SMALL, [SMALL])
    assert "1 figures vary" in advice.hints[0]


def test_without_a_microphone_the_buffers_stay() -> None:
    advice = advise(machine(lateness=None), Settings(), SMALL, [SMALL])
    assert advice.changes == ()
    assert "no microphone" in advice.hints[0]


def test_a_slow_recogniser_is_told() -> None:
    advice = advise(machine(recogniser=figure(0.7, 0.7, 0.7)), Settings(), SMALL, [SMALL])
    assert "0.70 of real time" in advice.hints[0]


def test_no_run_of_the_lesser_reaches_the_other() -> None:
    assert less(figure(1, 2), figure(3, 4))
    assert not less(figure(1, 3), figure(3, 4))


def test_three_runs_in_any_case_and_never_more_than_seven() -> None:
    calls: list[int] = []
    assert len(repeat(lambda: float(len(calls)), 0.0)) == 3
    assert len(repeat(lambda: float(len(calls)), 1000.0)) == 7


@pytest.mark.parametrize(
    ("configured", "cores", "tried"),
    [(0, 4, [0, 2, 1]), (0, 2, [0, 1]), (0, 1, [0]), (1, 2, [1, 2]), (8, 4, [8, 3, 2, 1])],
)
def test_numbers_of_threads(configured: int, cores: int, tried: list[int]) -> None:
    assert candidates(configured, most_for_model(cores)) == tried


@pytest.mark.parametrize("board", BOARDS)
def test_an_estimate_is_a_range(board: str) -> None:
    lines = list(estimate(machine(), 0.1, board))
    assert len(lines) == 4
    assert all(" to " in line for line in lines)
    assert len(list(estimate(machine(), None, board))) == 3


def test_what_was_not_tried_is_told() -> None:
    advice = advise(machine(untried=("llm.threads",)), Settings(), SMALL, [SMALL])
    assert advice.hints == ("no time was left to try other values of llm.threads",)


def test_an_estimate_goes_by_the_number_of_threads_that_was_fastest() -> None:
    slow, fast = engine(1, 50, pace=0.5), engine(2, 50, pace=0.25)
    both = list(estimate(machine(voice=(slow, fast)), None, "pi4"))
    assert both == list(estimate(machine(voice=(fast,)), None, "pi4"))
