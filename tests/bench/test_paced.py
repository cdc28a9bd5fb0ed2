"""What was computed appears when the time that it took has been granted, and not before."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from bench import paced
from bench.paced import Worker


@pytest.fixture
def spend(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Let a portion cost so many seconds of processor time."""
    spent = [0.0]
    monkeypatch.setattr(paced.time, "process_time", lambda: spent[0])

    def spend(seconds: float) -> None:
        spent[0] += seconds

    return spend


@pytest.fixture
def done() -> list[str]:
    return []


@pytest.fixture
def work(spend: Callable[[float], None], done: list[str]) -> Callable[..., Iterator[object]]:
    def work(name: str, *costs: float, end: float = 0.0) -> Iterator[object]:
        for number, cost in enumerate(costs):
            spend(cost)
            yield lambda number=number: done.append(f"{name}{number}")
        spend(end)

    return work


def test_a_result_waits_for_its_time(work, done):
    worker = Worker(1)
    worker.give(work("a", 0.25))
    worker.grant(0.125)
    assert done == []
    assert worker.busy
    worker.grant(0.125)
    assert done == ["a0"]


def test_what_passes_the_time_is_dropped_for_something_to_do(work, done):
    worker = Worker(1)
    worker.pass_time(work("a", 0.25, 0.25, 0.25))
    worker.grant(0.375)
    worker.give(work("b", 0.25))
    worker.grant(0.25)
    assert done == ["a0", "b0"]
    worker.grant(0.25)
    assert not worker.busy
    assert done == ["a0", "b0"]


def test_what_would_pass_the_time_waits_for_its_turn(work, done):
    worker = Worker(1)
    worker.give(work("a", 0.25))
    worker.pass_time(work("b", 0.25))
    worker.grant(0.125)
    worker.give(work("c", 0.25))
    worker.grant(1.0)
    assert done == ["a0", "c0"]


def test_time_that_is_left_goes_to_the_next_portion_and_order(work, done):
    worker = Worker(1)
    worker.give(work("a", 0.25, 0.25))
    worker.give(work("b", 0.25))
    worker.grant(0.625)
    assert done == ["a0", "a1"]
    worker.grant(0.125)
    assert done == ["a0", "a1", "b0"]


def test_what_comes_after_the_last_result_is_paid_with_the_next_order(work, done):
    worker = Worker(1)
    worker.give(work("a", 0.25, end=0.5))
    worker.give(work("b", 0.25))
    worker.grant(0.25)
    assert done == ["a0"]
    worker.grant(0.5)
    assert done == ["a0"]
    worker.grant(0.25)
    assert done == ["a0", "b0"]


def test_nothing_is_computed_before_it_is_its_turn(work):
    begun = []

    def order() -> Iterator[object]:
        begun.append(True)
        yield lambda: None

    worker = Worker(1)
    worker.give(work("a", 0.25))
    worker.give(order())
    assert worker.has_more
    worker.grant(0.125)
    assert not begun


def test_a_worker_without_work_takes_no_time(work, done):
    worker = Worker(1)
    worker.grant(1.0)
    assert not worker.busy
    worker.give(work("a", 0.25))
    worker.grant(0.125)
    assert done == []
    worker.grant(0.125)
    assert done == ["a0"]
