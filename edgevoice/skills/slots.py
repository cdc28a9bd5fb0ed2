"""From the slots of a sentence to the arguments of a tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def arguments(slots: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that ``slots`` mean.

    ``hour``, ``minute``, ``before`` and ``clock`` make one ``time``: "ten to eight" is
    hour 8 and before 10, and means 7:50.
    """
    values = dict(slots)
    clock = values.pop("clock", None)
    hour, minute = values.pop("hour", None), values.pop("minute", 0)
    before = values.pop("before", 0)
    if hour is not None:
        minutes = (int(hour) * 60 + int(minute) - int(before)) % 1440
        clock = f"{minutes // 60}:{minutes % 60:02}"
    if clock is not None:
        values["time"] = clock
    return values
