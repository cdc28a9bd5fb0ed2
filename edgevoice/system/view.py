"""What the owner reads of the daemon's status and events: plain text, one function each."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

WIDTH = 78
_FLOOR_DB = -60.0
_COLUMNS = (
    ("turn end", "eot"),
    ("first token", "llmFirstToken"),
    ("voice", "ttsFirstAudio"),
    ("response", "response"),
    ("barge-in", "bargeInSilence"),
)
"""Of a turn's latencies: the heading, and the name in the protocol."""


def status_lines(status: dict[str, Any]) -> list[str]:
    """The status as a page of text."""
    now = f"{status['localizedLabel']} for {duration(status['elapsedMs'])}"
    lines = [
        f"{now:50}  up {duration(status['uptimeMs'])}",
        f"{_before(status):50}  turns: {status['metrics']['turns']}",
        "",
        *textwrap.wrap(" → ".join(map(_stay, status["timeline"])) or "nothing yet", WIDTH),
        "",
        *turn_table(status["turns"]),
        *metrics_lines(status["metrics"]),
    ]
    if pending := status["metadata"]["pendingActions"]:
        lines.append(f"waiting: {', '.join(pending)}")
    return lines


def _before(status: dict[str, Any]) -> str:
    if len(status["timeline"]) < 2:
        return f"before: {status['previousState'] or 'nothing'}"
    last = status["timeline"][-2]
    return f"before: {place(last)} ({duration(last['durationMs'])})"


def _stay(stay: dict[str, Any]) -> str:
    # No break inside: a line ends between two stays.
    return f"{place(stay)}\u00a0({duration(stay['durationMs'])})".replace(" ", "\u00a0")


def place(at: dict[str, Any]) -> str:
    """State and phase in one word."""
    return at["state"] if at["phase"] is None else f"{at['state']}.{at['phase']}"


def turn_table(turns: Sequence[dict[str, Any]]) -> list[str]:
    """The latencies of turns, one a line, under a heading; nothing when there are none."""
    if not turns:
        return []
    heading = f"{'turn':10}{'':12}" + "".join(f"{name:>11}" for name, _ in _COLUMNS)
    return [heading, *map(_turn_line, turns), ""]


def _turn_line(turn: dict[str, Any]) -> str:
    known = turn["latenciesMs"]
    figures = (_milliseconds(known.get(key)) for _, key in _COLUMNS)
    return f"{turn['turnId']:10}{turn['outcome']:12}" + "".join(f"{f:>11}" for f in figures)


def metrics_lines(metrics: dict[str, Any]) -> list[str]:
    """The counters."""
    rate, first = metrics["interruptionRate"], metrics["averageFirstAudioMs"]
    tools = f"{metrics['toolCalls']} ({metrics['toolErrors']} failed)"
    interrupted = "none yet" if rate is None else f"{rate:.0%}"
    return [
        f"time to first audio: {_average(first)}",
        f"interruptions: {interrupted}   holds: {metrics['holds']}   "
        f"tool calls: {tools}   errors: {metrics['errors']}",
    ]


def _average(first: float | None) -> str:
    return "none yet" if first is None else f"{first:.0f} ms on average"


def _milliseconds(value: float | None) -> str:
    return "" if value is None else f"{value:.0f} ms"


def duration(milliseconds: float) -> str:
    """``245 ms``, ``8.2 s``, ``4 min 32 s`` or ``3 h 10 min``."""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def meter(level: float, width: int) -> str:
    """A bar of ``width`` characters for a level in RMS of full scale, with its decibels."""
    decibels = 20 * math.log10(level) if level > 0 else -math.inf
    room = width - 9
    share = min(1.0, max(0.0, 1 - decibels / _FLOOR_DB))
    full = round(share * room)
    figure = f"{decibels:.0f} dB" if decibels > -100 else "silent"
    return "█" * full + "·" * (room - full) + f" {figure:>7} "


def printable(text: str, width: int) -> str:
    """A text of anybody's on one line: no control characters, the end of it when too long."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    return clean if len(clean) <= width else "…" + clean[1 - width :]
