"""Timers: kept, due, missed."""

import json
import logging
import queue

import pytest

from edgevoice.skills.store import Entry, Store, state_directory
from edgevoice.skills.timers import MOST, Clocks, Timers


class Hands:
    """Two clocks that are moved by hand."""

    def __init__(self):
        self.wall, self.monotonic = 1_800_000_000.0, 50.0
        self.clocks = Clocks(lambda: self.wall, lambda: self.monotonic)

    def pass_time(self, seconds):
        self.wall += seconds
        self.monotonic += seconds


@pytest.fixture
def hands():
    return Hands()


@pytest.fixture
def file(tmp_path):
    return tmp_path / "state" / "timers.json"


def timers(file, hands):
    """With the thread not started: a test looks when it wants to."""
    return Timers(Store(file), lambda entry: None, hands.clocks)


def restarted(file, hands):
    """As after a restart, and what was missed."""
    again = timers(file, hands)
    missed = again.start()
    again.stop()
    return again, missed


def test_a_timer_is_due_when_its_time_has_passed(file, hands):
    some = timers(file, hands)
    entry = some.add("timer", "pasta", hands.wall + 600)
    hands.pass_time(599)
    assert some.take_due() == []
    assert some.left(entry) == 1
    hands.pass_time(1)
    assert some.take_due() == [entry]
    assert some.take_due() == []
    assert some.entries() == []


def test_a_timer_goes_on_over_a_restart(file, hands):
    entry = timers(file, hands).add("timer", "pasta", hands.wall + 600)
    hands.pass_time(400)
    again, missed = restarted(file, hands)
    assert missed == []
    assert again.left(entry) == 200


def test_a_timer_does_not_care_about_the_clock_on_the_wall_and_an_alarm_does(file, hands):
    some = timers(file, hands)
    timer = some.add("timer", "", hands.wall + 600)
    alarm = some.add("alarm", "", hands.wall + 600)
    hands.wall += 500
    assert some.left(timer) == 600
    assert some.left(alarm) == 100


def test_what_rings_is_kept_until_somebody_has_heard_it(file, hands):
    some = timers(file, hands)
    entry = some.add("timer", "", hands.wall + 10)
    hands.pass_time(10)
    some.take_due()
    some.add("timer", "", hands.wall + 3600)
    assert len(json.loads(file.read_text())["entries"]) == 2
    some.over(entry.id)
    assert len(json.loads(file.read_text())["entries"]) == 1


def test_what_was_due_just_before_a_restart_still_rings(file, hands):
    timers(file, hands).add("timer", "", hands.wall + 10)
    hands.pass_time(60)
    again, missed = restarted(file, hands)
    assert missed == []
    assert [entry.id for entry in again.take_due()] + list(again._ringing) in ([1, 1], [1])


def test_what_was_missed_is_told_once(file, hands):
    entry = timers(file, hands).add("alarm", "bus", hands.wall + 10)
    hands.pass_time(3600)
    assert restarted(file, hands)[1] == [entry]
    assert restarted(file, hands)[1] == []


def test_one_that_was_cancelled_does_not_come_back(file, hands):
    some = timers(file, hands)
    some.cancel([some.add("timer", "", hands.wall + 10)])
    hands.pass_time(20)
    assert some.take_due() == []
    assert restarted(file, hands)[0].entries() == []


def test_there_is_an_end_to_how_many(file, hands):
    some = timers(file, hands)
    assert all(some.add("timer", "", hands.wall + 60) for _ in range(MOST))
    assert some.add("timer", "", hands.wall + 60) is None


def test_the_thread_rings_by_itself(file):
    rung = queue.Queue()
    some = Timers(Store(file), rung.put)
    some.start()
    clocks = Clocks()
    entry = some.add("timer", "", clocks.wall() + 0.05)
    assert rung.get(timeout=30) == entry
    some.stop()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 100_000,
        '{"version": 2, "entries": []}',
        '{"version": 1}',
        '{"version": 1, "entries": 7}',
        '{"version": 1, "entries": [7]}',
        '{"version": 1, "entries": [{"id": 1}]}',
        '{"version": 1, "entries": [{"id": "1", "kind": "timer", "name": "", "due": 1}]}',
        '{"version": 1, "entries": [{"id": 1, "kind": "bomb", "name": "", "due": 1}]}',
        '{"version": 1, "entries": [{"id": 1, "kind": "timer", "name": "", "due": 1e300}]}',
        '{"version": 1, "entries": [{"id": 1, "kind": "timer", "name": "", "due": NaN}]}',
    ],
)
def test_a_broken_file_is_set_aside_with_one_line(file, text, caplog):
    file.parent.mkdir()
    file.write_text(text)
    with caplog.at_level(logging.INFO):
        assert Store(file).load() == []
    assert file.with_suffix(".broken").read_text() == text
    assert not file.exists()
    assert len(caplog.records) == 1


def test_a_file_that_is_no_text_is_set_aside(file):
    file.parent.mkdir()
    file.write_bytes(b"\xff\xfe\x00")
    assert Store(file).load() == []
    assert file.with_suffix(".broken").exists()


def test_a_directory_that_cannot_be_made_costs_nothing_but_the_memory(tmp_path, caplog):
    (tmp_path / "state").write_text("a file is here")
    store = Store(tmp_path / "state" / "timers.json")
    store.save([Entry(1, "timer", "", 5.0)])
    assert len(caplog.records) == 1
    assert store.load() == []


def test_the_file_is_whole_or_the_old_one_and_nobody_elses_to_read(file):
    store = Store(file)
    store.save([Entry(1, "timer", "tea", 5.0)])
    store.save([Entry(1, "timer", "tea", 5.0), Entry(2, "alarm", "", 6.0)])
    assert store.load() == [Entry(1, "timer", "tea", 5.0), Entry(2, "alarm", "", 6.0)]
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["timers.json"]


def test_systemd_names_the_directory_first(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", "/xdg")
    assert str(state_directory()) == "/xdg/edgevoice"
    monkeypatch.setenv("STATE_DIRECTORY", f"{tmp_path}:/other")
    assert state_directory() == tmp_path
    monkeypatch.delenv("STATE_DIRECTORY")
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert state_directory().is_absolute()
