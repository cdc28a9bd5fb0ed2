"""The tools for timers and alarms."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from edgevoice.ports import Outcome, Task
from edgevoice.skills.language import Language
from edgevoice.skills.registry import Arguments, Tool, failure, parameters
from edgevoice.skills.store import Entry
from edgevoice.skills.timers import Timers

LONGEST_S = 7 * 86400
"""A longer timer is a misunderstanding."""

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NAME = {"type": "string", "maxLength": 60, "description": "What it is for, e.g. pasta."}
_ALL = {"type": "boolean", "description": "true for all of them."}
_TIME = {
    "type": "string",
    "pattern": r"^([01]?[0-9]|2[0-3]):[0-5][0-9]$",
    "description": "Hour and minute, e.g. 7:15.",
}
_PERIOD = {"enum": ["am", "pm"]}


def _amount(unit: str, most: int) -> dict[str, Any]:
    return {"type": "number", "minimum": 0, "maximum": most, "description": unit}


class TimerTools:
    """Speaks of timers in one language.  ``now`` is the local time."""

    def __init__(
        self, timers: Timers, language: Language, now: Callable[[], datetime] = datetime.now
    ) -> None:
        self._timers = timers
        self._language = language
        self._now = now

    def tools(self) -> tuple[Tool, ...]:
        """All of them."""
        name = parameters(name=_NAME)
        return (
            Tool(
                "timer_set",
                "Set a timer that rings after some time.",
                self.set_timer,
                parameters(
                    hours=_amount("Hours.", 168),
                    minutes=_amount("Minutes.", 10080),
                    seconds=_amount("Seconds.", 604800),
                    name=_NAME,
                ),
            ),
            Tool("timer_left", "Tell how much time is left on a timer.", self.time_left, name),
            Tool(
                "timer_cancel",
                "Cancel a timer.",
                lambda a, t: self.cancel("timer", a),
                parameters(name=_NAME, all=_ALL),
            ),
            Tool("timer_list", "List the timers and alarms that are set.", self.tell_all),
            Tool(
                "alarm_set",
                "Set an alarm for a time of day.",
                self.set_alarm,
                parameters(
                    ("time",),
                    time=_TIME,
                    period=_PERIOD,
                    day={"enum": ["today", "tomorrow", "tomorrow morning", *_DAYS]},
                    name=_NAME,
                ),
            ),
            Tool(
                "alarm_cancel",
                "Cancel an alarm.",
                lambda a, t: self.cancel("alarm", a),
                parameters(name=_NAME, all=_ALL, time=_TIME, period=_PERIOD),
            ),
        )

    # -- what is said when one is due --------------------------------------------------

    def rings(self, entry: Entry) -> str:
        """What is said while it rings."""
        due = self._language.clock(datetime.fromtimestamp(entry.due).time())
        return self._language.say(f"{entry.kind}_rings", label=self._label(entry), time=due)

    def missed(self, entry: Entry) -> str:
        """What is said of one that was due while the device was off."""
        due = self._language.moment(datetime.fromtimestamp(entry.due), self._now())
        return self._language.say("missed", label=self._label(entry), time=due)

    # -- tools ----------------------------------------------------------------------------

    def set_timer(self, arguments: Arguments, task: Task) -> Outcome:
        """Set a timer."""
        parts = {"hours": 3600, "minutes": 60, "seconds": 1}
        seconds = sum(arguments.get(part, 0) * size for part, size in parts.items())
        if seconds <= 0:
            return failure("how long? give hours, minutes or seconds")
        if seconds > LONGEST_S:
            return self._refuse("too_long")
        due = self._now().timestamp() + seconds
        return self._add("timer", arguments, due, duration=self._language.duration(seconds))

    def set_alarm(self, arguments: Arguments, task: Task) -> Outcome:
        """Set an alarm."""
        now = self._now()
        due = next_time(now, arguments["time"], arguments.get("period"), arguments.get("day"))
        if due is None:
            return self._refuse("no_time")
        time = self._language.moment(due, now)
        return self._add("alarm", arguments, due.timestamp(), time=time)

    def time_left(self, arguments: Arguments, task: Task) -> Outcome:
        """Tell how much time is left."""
        found = self._named("timer", arguments.get("name"))
        if isinstance(found, Outcome):
            return found
        left = self._language.duration(self._timers.left(found))
        said = self._language.say("timer_left", duration=left, label=self._label(found))
        return Outcome(left, said)

    def tell_all(self, arguments: Arguments, task: Task) -> Outcome:
        """Tell what is set."""
        entries = self._timers.entries()
        if not entries:
            return self._tell("nothing_set")
        return self._tell("listed", labels=self._language.listed([*map(self._told, entries)]))

    def cancel(self, kind: str, arguments: Arguments) -> Outcome:
        """Cancel one, or all of a kind."""
        if arguments.get("all"):
            entries = self._timers.entries(kind)
            if not entries:
                return self._tell(f"no_{kind}")
            self._timers.cancel(entries)
            count = self._language.counted(f"counted_{kind}s", len(entries))
            return self._tell("all_cancelled", count=count)
        found = self._named(kind, arguments.get("name"), arguments)
        if isinstance(found, Outcome):
            return found
        self._timers.cancel([found])
        return self._tell("cancelled", label=self._label(found))

    # -- inside ------------------------------------------------------------------------------

    def _add(self, kind: str, arguments: Arguments, due: float, **words: str) -> Outcome:
        entry = self._timers.add(kind, arguments.get("name", ""), due)
        if entry is None:
            return self._refuse("too_many")
        return self._tell(f"{kind}_set", label=self._label(entry), **words)

    def _named(
        self, kind: str, name: str | None, clock: Arguments | None = None
    ) -> Entry | Outcome:
        """The one that is meant, or what there is to say when it is not clear."""
        entries = self._timers.entries(kind)
        if not entries:
            return self._tell(f"no_{kind}")
        if clock and "time" in clock:
            entries = [e for e in entries if _is_at(e, clock["time"], clock.get("period"))]
        if name:
            entries = [e for e in entries if e.name.lower() == name.lower()]
        if not entries:
            return self._tell("no_such", label=self._language.label(kind, name or ""))
        if len(entries) > 1:
            labels = self._language.listed([self._label(entry) for entry in entries])
            return self._tell("which", labels=labels)
        return entries[0]

    def _told(self, entry: Entry) -> str:
        label = self._label(entry)
        if entry.kind == "timer":
            left = self._language.duration(self._timers.left(entry))
            return self._language.say("listed_timer", label=label, duration=left)
        due = self._language.moment(datetime.fromtimestamp(entry.due), self._now())
        return self._language.say("listed_alarm", label=label, time=due)

    def _label(self, entry: Entry) -> str:
        return self._language.label(entry.kind, entry.name)

    def _tell(self, key: str, **words: str) -> Outcome:
        said = self._language.say(key, **words)
        return Outcome(said, said)

    def _refuse(self, key: str) -> Outcome:
        said = self._language.say(key)
        return Outcome(failure(said).result, said)


def next_time(now: datetime, clock: str, period: str | None, day: str | None) -> datetime | None:
    """The next moment after ``now`` at ``clock`` ("7:15"); None when there is none.

    Without ``period`` an hour up to twelve may be of the morning or the evening:
    the next of the two is meant, but tomorrow's is the morning's.
    """
    hour, minute = map(int, clock.split(":"))
    hours = _hours(hour, period, tomorrow=day not in (None, "today"))
    if day is None:
        days: tuple[int, ...] = (0, 1)
    elif day == "today":
        days = (0,)
    elif day in _DAYS:
        ahead = (_DAYS.index(day) - now.weekday()) % 7
        days = (ahead, ahead + 7)
    else:
        days = (1,)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    moments = (
        (midnight + timedelta(days=ahead)).replace(hour=h, minute=minute)
        for ahead in days
        for h in hours
    )
    return next((moment for moment in moments if moment > now), None)


def _hours(hour: int, period: str | None, *, tomorrow: bool) -> tuple[int, ...]:
    """The hours of the day that an hour may mean, the earliest first; twelve is noon."""
    if hour > 12 or hour == 0:
        return (hour,)
    if period == "am":
        return (hour % 12,)
    if period == "pm":
        return (hour % 12 + 12,)
    return (hour,) if tomorrow or hour == 12 else (hour, hour + 12)


def _is_at(entry: Entry, clock: str, period: str | None) -> bool:
    due = datetime.fromtimestamp(entry.due)
    hour, minute = map(int, clock.split(":"))
    return due.minute == minute and due.hour in (_hours(hour, period, tomorrow=False))
