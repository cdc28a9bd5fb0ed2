"""What is answered when somebody speaks of timers and alarms."""

from datetime import datetime, timedelta

import pytest

from edgevoice.core.rules.tools import is_error
from edgevoice.skills.language import Language
from edgevoice.skills.registry import Registry
from edgevoice.skills.store import Entry, Store
from edgevoice.skills.timer_tools import TimerTools, next_time
from edgevoice.skills.timers import MOST, Clocks, Timers

NOW = datetime(2026, 11, 21, 20, 0)
"""A Saturday evening."""


class House:
    """Timers with hands that are moved by hand, and their tools."""

    def __init__(self, path, code="en"):
        self.now = NOW
        clocks = Clocks(lambda: self.now.timestamp(), lambda: self.now.timestamp())
        self.timers = Timers(Store(path), lambda entry: None, clocks)
        self.speaker = TimerTools(self.timers, Language(code), lambda: self.now)
        self.tools = Registry()
        self.tools.add(*self.speaker.tools())

    def ask(self, name, /, **arguments):
        """What is said, when a tool is called that the schema lets through."""
        assert self.tools.accepts(name, arguments), (name, arguments)
        return self.tools[name].run(arguments, None).spoken

    def pass_time(self, **time):
        self.now += timedelta(**time)


@pytest.fixture
def house(tmp_path):
    return House(tmp_path / "timers.json")


def test_a_timer_is_set_by_name_and_told(house):
    assert house.ask("timer_set", minutes=10, name="pasta") == "Pasta timer set for ten minutes."
    house.pass_time(minutes=3, seconds=20)
    said = "Six minutes and forty seconds left on the pasta timer."
    assert house.ask("timer_left", name="pasta") == said
    assert house.ask("timer_left") == said
    assert house.ask("timer_left", name="Pasta") == said


def test_several_timers_are_told_apart(house):
    house.ask("timer_set", minutes=10, name="pasta")
    house.ask("timer_set", minutes=4, name="tea")
    assert house.ask("timer_left") == "Which one? There are the tea timer and pasta timer."
    assert house.ask("timer_cancel", name="tea") == "Tea timer cancelled."
    assert house.ask("timer_cancel", name="tea") == "There is no tea timer."
    assert house.ask("timer_cancel") == "Pasta timer cancelled."
    assert house.ask("timer_cancel") == "There is no timer."


def test_all_are_cancelled_at_once_and_alarms_are_no_timers(house):
    house.ask("timer_set", minutes=10)
    house.ask("timer_set", minutes=20)
    house.ask("alarm_set", time="7:00")
    assert house.ask("timer_cancel", all=True) == "Two timers cancelled."
    assert house.ask("alarm_cancel", all=True) == "One alarm cancelled."
    assert house.ask("alarm_cancel", all=True) == "There is no alarm."


def test_what_is_set_is_listed(house):
    assert house.ask("timer_list") == "No timer and no alarm is set."
    house.ask("timer_set", minutes=10, name="pasta")
    house.ask("alarm_set", time="7:00", day="tomorrow")
    assert house.ask("timer_list") == (
        "There is the pasta timer with ten minutes left "
        "and the alarm for seven o'clock in the morning."
    )


def test_the_confirmation_of_an_alarm_tells_morning_from_evening(house):
    assert house.ask("alarm_set", time="9:00") == "Alarm set for nine o'clock in the evening."
    assert house.ask("alarm_set", time="7:15") == "Alarm set for seven fifteen in the morning."


def test_an_alarm_is_cancelled_by_its_time(house):
    house.ask("alarm_set", time="7:00")
    house.ask("alarm_set", time="9:00", period="pm")
    assert house.ask("alarm_cancel", time="9:00") == "Alarm cancelled."
    assert [datetime.fromtimestamp(e.due).hour for e in house.timers.entries()] == [7]


def test_nonsense_is_refused_and_sets_nothing(house):
    assert is_error(house.tools["timer_set"].run({}, None).result)
    assert is_error(house.tools["timer_set"].run({"minutes": 0}, None).result)
    assert house.ask("timer_set", hours=168, minutes=1) == "That is too long for a timer."
    assert house.ask("alarm_set", time="7:00", day="today") == "I did not get the time."
    assert house.timers.entries() == []


@pytest.mark.parametrize(
    "arguments", [{"minutes": -1}, {"minutes": "ten"}, {"hours": 1e9}, {"name": "x" * 61}]
)
def test_what_the_schema_does_not_let_through(house, arguments):
    assert not house.tools.accepts("timer_set", arguments)


@pytest.mark.parametrize("time", ["24:00", "7:60", "seven", "7", "07:0"])
def test_a_time_is_an_hour_and_a_minute(house, time):
    assert not house.tools.accepts("alarm_set", {"time": time})


def test_too_many_are_refused(house):
    for _ in range(MOST):
        house.ask("timer_set", minutes=1)
    assert house.ask("timer_set", minutes=1) == "There are too many timers already."


def test_what_is_said_when_one_is_due(house):
    timer = Entry(1, "timer", "pasta", NOW.timestamp())
    alarm = Entry(2, "alarm", "", datetime(2026, 11, 21, 7, 5).timestamp())
    assert house.speaker.rings(timer) == "Your pasta timer is over."
    assert house.speaker.rings(alarm) == "Alarm. It is seven oh five."
    assert house.speaker.missed(alarm) == (
        "While I was off, your alarm was due at seven oh five in the morning."
    )


def test_it_speaks_german_too(tmp_path):
    house = House(tmp_path / "timers.json", "de")
    assert house.ask("timer_set", minutes=25, name="Nudeln") == (
        "Timer für Nudeln auf fünfundzwanzig Minuten gestellt."
    )
    assert house.ask("alarm_set", time="7:30") == "Wecker gestellt: sieben Uhr dreißig."
    assert house.ask("timer_cancel", all=True) == "Ein Timer gelöscht."


@pytest.mark.parametrize(
    ("clock", "period", "day", "due"),
    [
        ("9:00", None, None, datetime(2026, 11, 21, 21, 0)),
        ("7:00", None, None, datetime(2026, 11, 22, 7, 0)),
        ("7:00", "pm", None, datetime(2026, 11, 22, 19, 0)),
        ("19:00", None, None, datetime(2026, 11, 22, 19, 0)),
        ("8:00", None, None, datetime(2026, 11, 22, 8, 0)),
        ("12:00", None, None, datetime(2026, 11, 22, 12, 0)),
        ("0:00", None, None, datetime(2026, 11, 22, 0, 0)),
        ("12:00", "am", None, datetime(2026, 11, 22, 0, 0)),
        ("7:00", None, "tomorrow", datetime(2026, 11, 22, 7, 0)),
        ("7:00", "pm", "tomorrow", datetime(2026, 11, 22, 19, 0)),
        ("7:00", None, "monday", datetime(2026, 11, 23, 7, 0)),
        ("9:00", "pm", "saturday", datetime(2026, 11, 21, 21, 0)),
        ("7:00", None, "saturday", datetime(2026, 11, 28, 7, 0)),
        ("7:00", "am", "today", None),
    ],
)
def test_the_next_time_that_is_meant(clock, period, day, due):
    assert next_time(NOW, clock, period, day) == due
