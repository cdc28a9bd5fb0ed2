from __future__ import annotations

from edgevoice.core.recovery import CircuitBreaker


def test_three_faults_in_60_s_open_the_breaker_for_60_s() -> None:
    breaker = CircuitBreaker(3, 60.0, 60.0)
    assert [breaker.fault(at) for at in (0.0, 30.0, 60.0)] == [False, False, True]
    assert breaker.is_open(119.9)
    assert not breaker.is_open(120.0)


def test_faults_that_are_far_apart_do_not_open_it() -> None:
    breaker = CircuitBreaker(3, 60.0, 60.0)
    assert not any(breaker.fault(at) for at in (0.0, 30.0, 60.1, 91.0, 121.0))


def test_faults_are_counted_anew_after_it_opened() -> None:
    breaker = CircuitBreaker(3, 60.0, 10.0)
    for at in (0.0, 1.0, 2.0):
        breaker.fault(at)
    assert [breaker.fault(at) for at in (13.0, 14.0, 15.0)] == [False, False, True]


def test_a_fault_while_it_is_open_does_not_open_it_longer() -> None:
    breaker = CircuitBreaker(2, 60.0, 10.0)
    breaker.fault(0.0)
    assert breaker.fault(1.0)
    assert breaker.fault(9.0)
    assert not breaker.is_open(11.0)


def test_it_starts_closed_at_any_time() -> None:
    assert not CircuitBreaker(1, 60.0, 60.0).is_open(-5.0)


def test_it_opens_at_any_time() -> None:
    breaker = CircuitBreaker(3, 60.0, 60.0)
    assert [breaker.fault(at) for at in (1000.0, 1001.0, 1002.0)] == [False, False, True]
