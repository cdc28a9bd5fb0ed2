"""The table, exhaustively: every place with every event."""

import inspect

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.conversation import Conversation
from edgevoice.core.rules import RULES, _find, away, ear, faults, ignore, mind, mouth, owner, tools
from edgevoice.core.table import (
    ANYWHERE,
    MOVES,
    TABLE,
    TIMEOUTS,
    Place,
    Row,
    State,
    _joined,
    _row,
    _rows,
    may_move,
)
from edgevoice.core.tuning import Timeouts, Tuning
from tests.core.reach import REACH, reach
from tests.core.world import EVENTS, plain_event, twin

PAIRS = [(place, kind) for place in Place for kind in EVENTS]


def test_all_kinds_of_event_are_known():
    defined = {
        kind
        for kind in vars(ev).values()
        if inspect.isclass(kind) and issubclass(kind, ev.Event) and kind is not ev.Event
    } - {ev.TurnEvent}
    assert set(EVENTS) == defined
    assert all(set(rows) <= defined for rows in TABLE.values())


def test_every_place_can_be_reached():
    assert set(REACH) == set(Place)
    assert all(reach(place).place is place for place in Place)


def state_of(core: Conversation) -> str:
    """All that the core remembers, but what it counts and explains."""
    left_out = {"now", "refused", "stale", "why", "_commands", "_observers", "_allowed"}
    return "\n".join(
        f"{name}={_plain(value)}"
        for name, value in sorted(vars(core).items())
        if name not in left_out
    )


def _plain(value: object) -> object:
    if isinstance(value, (list, tuple)) or type(value).__name__ == "deque":
        return [_plain(v) for v in value]  # type: ignore[attr-defined]
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if type(value).__module__.startswith("edgevoice.core") and hasattr(value, "__dict__"):
        return {k: _plain(v) for k, v in vars(value).items()}
    return repr(value) if not hasattr(value, "__dict__") else type(value).__name__


@pytest.mark.parametrize(
    ("place", "kind"), PAIRS, ids=[f"{p.value}-{k.__name__}" for p, k in PAIRS]
)
def test_every_pair_has_a_row_or_is_refused_and_changes_nothing(place, kind):
    core = reach(place)
    event = plain_event(kind, core)
    before = state_of(core)
    commands = core.handle(event)
    if kind in TABLE[place]:
        assert cmd.Refused(place, kind.__name__) not in commands or kind is ev.StartConversation
        assert core.place is place or core.place in TABLE[place][kind].to
    elif commands:
        assert commands == [cmd.Refused(place, kind.__name__)]
        assert core.refused == 1
        assert state_of(core) == before
    else:
        assert issubclass(kind, ev.TurnEvent), "only an event of a turn that is over is dropped"
        assert core.stale == 1
        assert state_of(core) == before


@pytest.mark.parametrize("place", Place, ids=lambda p: p.value)
def test_rows_lead_only_where_the_matrix_allows(place):
    for kind, row in TABLE[place].items():
        reached, new = {place}, {place}
        while new:
            new = {t for t in row.to for s in reached if may_move(s, t)} - reached
            reached |= new
        assert row.to <= reached, f"{place}, {kind.__name__}"


def test_the_matrix_is_the_one_of_the_specification():
    s = State
    allowed = {
        (s.PREPARING, s.IDLE), (s.PREPARING, s.LISTENING),
        (s.IDLE, s.LISTENING), (s.IDLE, s.SPEAKING), (s.IDLE, s.PREPARING),
        (s.LISTENING, s.PROCESSING), (s.LISTENING, s.IDLE), (s.LISTENING, s.SPEAKING),
        (s.PROCESSING, s.SPEAKING), (s.PROCESSING, s.LISTENING), (s.PROCESSING, s.IDLE),
        (s.SPEAKING, s.LISTENING), (s.SPEAKING, s.INTERRUPTED), (s.SPEAKING, s.PROCESSING),
        (s.SPEAKING, s.IDLE), (s.INTERRUPTED, s.LISTENING),
        (s.SUSPENDED, s.IDLE), (s.SUSPENDED, s.LISTENING), (s.SUSPENDED, s.PROCESSING),
        (s.SUSPENDED, s.SPEAKING), (s.RECOVERING, s.IDLE), (s.RECOVERING, s.LISTENING),
        (s.RECOVERING, s.PROCESSING), (s.RECOVERING, s.SPEAKING), (s.RECOVERING, s.FAULTED),
        (s.FAULTED, s.PREPARING), (s.FAULTED, s.IDLE), (s.FAULTED, s.TERMINATING),
    }  # fmt: skip
    assert {(a, b) for a, targets in MOVES.items() for b in targets} == allowed
    assert {s.SUSPENDED, s.RECOVERING, s.FAULTED, s.TERMINATING} == ANYWHERE
    for source in Place:
        for target in Place:
            expected = (source.state, target.state) in allowed or target.state in ANYWHERE
            if source.state is target.state:
                expected = source is not target
            if source is Place.TERMINATING:
                expected = False
            assert may_move(source, target) is expected


def test_a_move_that_is_not_in_the_table_is_a_fault_of_the_programmer():
    core = reach(Place.IDLE)
    core.handle(ev.Tick(core.now))
    with pytest.raises(AssertionError, match="not in the table"):
        core.move(Place.PLAYING, core.transitions[-1].cause)


def test_every_rule_is_used_and_has_one_home():
    named = {row.rule for rows in TABLE.values() for row in rows.values()}
    assert set(RULES) == named
    for module in (away, ear, faults, mind, mouth, owner, tools):
        for name, function in vars(module).items():
            if not inspect.isfunction(function) or function.__module__ != module.__name__:
                continue
            parameters = list(inspect.signature(function).parameters.values())
            if [p.name for p in parameters] != ["c", "event"] or name.startswith("_"):
                continue
            if parameters[1].annotation == "ev.Event":
                assert name in named, f"{module.__name__}.{name} is in no row"


def test_every_waiting_place_has_a_timeout_that_the_settings_know():
    assert {place for place, timeout in TIMEOUTS.items() if timeout is None} == {Place.IDLE}
    assert all(getattr(Timeouts(), timeout.setting) > 0 for timeout in TIMEOUTS.values() if timeout)
    assert all(ev.Tick in TABLE[place] for place in Place)


@pytest.mark.parametrize("place", Place, ids=lambda p: p.value)
def test_every_place_has_a_way_to_idle_or_out_of_the_process(place):
    reached, new = {place}, {place}
    while new:
        new = {t for p in new for row in TABLE[p].values() for t in row.to} - reached
        reached |= new
    assert reached & {Place.IDLE, Place.TERMINATING}


def test_a_conversation_can_be_copied_and_goes_on_alike():
    core = reach(Place.PLAYING)
    other = twin(core)
    event = ev.SoundFrame(core.now + 0.02, core.heard_until + 320, 320, 0.1, 0.9)
    assert core.handle(event) == other.handle(event)
    assert Conversation(Tuning()).tuning == core.tuning


def test_a_rule_is_found_by_its_name_in_its_home():
    assert _find("wake") is ear.wake
    assert _find("ignore") is ignore
    for name, rule in RULES.items():
        assert _find(name) is rule
    with pytest.raises(AssertionError, match="rule fly must have one home, not 0"):
        _find("fly")


def test_rows_are_joined_and_none_may_be_there_twice():
    tick, ready = {ev.Tick: _row("tick", Place.IDLE)}, {ev.Ready: _row("ready")}
    joined = _joined(_rows([Place.IDLE, Place.HELD], tick), {Place.IDLE: ready})
    assert joined[Place.IDLE] == {**tick, **ready}
    assert joined[Place.HELD] == tick
    assert joined[Place.LISTENING] == {}
    assert joined[Place.IDLE][ev.Tick] == Row("tick", frozenset({Place.IDLE}))
    with pytest.raises(AssertionError, match="two rows for"):
        _joined({Place.IDLE: tick}, {Place.IDLE: tick})
