"""How a language says times, durations and dates; data in ``languages/*.yaml``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from functools import cached_property
from importlib.resources import files
from typing import Any

MAX_NAME_WORDS = 4
"""A name in more words than this is a sentence of another meaning."""

_UNITS = (("hour", 3600), ("minute", 60), ("second", 1))


class Language:
    """One language: the templates of what can be said, and words for what is answered."""

    def __init__(self, code: str) -> None:
        import yaml

        text = (files("edgevoice.skills") / "languages" / f"{code}.yaml").read_text("utf-8")
        data = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        self.code = code
        self.sentences: dict[str, Any] = data["sentences"]
        self._say: Mapping[str, Any] = data["say"]
        self._words: Mapping[str, Any] = data["words"]
        self.examples: Sequence[str] = data["examples"]

    def say(self, key: str, **values: str) -> str:
        """The answer ``key``; a value may also be asked for with a capital: ``{Label}``."""
        capitals = {name.capitalize(): _capital(value) for name, value in values.items()}
        return str(self._say[key]).format(**values, **capitals)

    def is_name(self, name: str) -> bool:
        """Whether ``name`` can be a name: short, and without words that join others."""
        words = name.lower().split()
        return 1 <= len(words) <= MAX_NAME_WORDS and not {*words} & {*self._words["no_names"]}

    def counted(self, key: str, number: int) -> str:
        """``key`` for one or for several."""
        one, several = self._say[key]
        return str(one if number == 1 else several.format(Number=_capital(self.number(number))))

    def number(self, number: int) -> str:
        """A number as words: "twenty-five"."""
        return self._spelt(number, "CARDINAL")

    def label(self, kind: str, name: str) -> str:
        """What a timer or an alarm is called: "pasta timer"."""
        return self.say(f"named_{kind}", name=name) if name else str(self._say[kind])

    def listed(self, items: Sequence[str]) -> str:
        """Some things in a row: "a, b and c"."""
        *most, last = items
        return f"{', '.join(most)} {self._words['and']} {last}" if most else last

    def duration(self, seconds: float) -> str:
        """Whole seconds as words; without seconds from ten minutes on."""
        left = max(0, round(seconds))
        if left >= 600 and left % 60:
            left = 60 * round(left / 60)
        parts: list[str] = []
        for unit, size in _UNITS:
            amount, left = divmod(left, size)
            if amount or (unit == "second" and not parts):
                one, several = self._words["units"][unit]
                parts.append(one if amount == 1 else several.format(n=self.number(amount)))
        return self.listed(parts)

    def clock(self, at: time) -> str:
        """A time of day: "seven fifteen"; in the language's way of counting hours."""
        twelve = self._words["hours"] == 12
        hour = (at.hour % 12 or 12) if twelve else at.hour
        key = "full_hour" if not at.minute else "under_ten" if at.minute < 10 else "clock"
        name = self._words["hour_names"].get(hour) or self.number(hour)
        return str(self._words[key]).format(hour=name, minute=self.number(at.minute))

    def moment(self, at: datetime, now: datetime) -> str:
        """A time that is not now, so that morning and evening are told apart, and the day."""
        parts: Mapping[int, str] = self._words["parts_of_day"]
        part = next((parts[h] for h in sorted(parts, reverse=True) if at.hour >= h), "")
        text = self._words["with_part_of_day"].format(time=self.clock(at.time()), part=part)
        days = (at.date() - now.date()).days
        if days == 1 and at.hour >= 12:
            return str(self._words["tomorrow"]).format(time=text)
        if days > 1 or days < 0:
            weekday = self._words["days"][at.weekday()]
            return str(self._words["on_day"]).format(weekday=weekday, time=text)
        return str(text)

    def date(self, day: date) -> str:
        """A day of the year: "Saturday, November twenty-first"."""
        return str(self._words["date"]).format(
            weekday=self._words["days"][day.weekday()],
            month=self._words["months"][day.month - 1],
            ordinal=self._spelt(day.day, "ORDINAL"),
        )

    def _spelt(self, number: int, purpose: str) -> str:
        from unicode_rbnf import FormatPurpose

        return str(self._rbnf.format_number(number, FormatPurpose[purpose]).text)

    @cached_property
    def _rbnf(self) -> Any:
        from unicode_rbnf import RbnfEngine

        return RbnfEngine.for_language(self.code)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
