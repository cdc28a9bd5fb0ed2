"""What a conversation is judged by: its turns with their figures, and the process."""

from __future__ import annotations

import json
import os
import resource
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edgevoice.core.commands import Transition, TurnRecord
from edgevoice.core.table import Cause, Place
from edgevoice.demo.timeline import Mark, Span

_FIGURES = (
    "eot_ms",
    "response_ms",
    "llm_first_token_ms",
    "tts_first_audio_ms",
    "onset_to_decision_ms",
    "decision_to_silence_ms",
    "commit_to_listening_ms",
)

_MARKED = {
    Place.LISTENING: "listen",
    Place.WAITING_FOR_LLM: "answer",
    Place.PLAYING: "speak",
    Place.HELD: "hold",
    Place.INTERRUPTED: "commit",
    Place.IDLE: "close",
}


@dataclass
class Watch:
    """Keeps what happened; a watcher of `edgevoice.app.EdgeVoice`."""

    transitions: list[Transition] = field(default_factory=list)
    records: list[TurnRecord] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    cpu: float = field(default_factory=lambda: _cpu_seconds())

    def moved(self, transition: Transition) -> None:
        """Keep a transition."""
        self.transitions.append(transition)

    def turn_over(self, record: TurnRecord) -> None:
        """Keep a turn."""
        self.records.append(record)

    def noticed(self, what: str, fields: Mapping[str, Any]) -> None:
        """Keep what was unusual."""
        self.notices.append(f"{what} {json.dumps(dict(fields))}")

    def process(self, xruns: int) -> dict[str, float | int]:
        """Memory now, and the share of one core since the watch began."""
        seconds = time.monotonic() - self.started
        return {
            "rss_mb": round(rss_mb(), 1),
            "cpu_percent": round(100 * (_cpu_seconds() - self.cpu) / seconds, 1),
            "xruns": xruns,
        }

    def words_at(self, at: float) -> str:
        """What the device was saying at a monotonic time; nothing for an earcon."""
        speaking = [t for t in self.transitions if t.at <= at and t.target is Place.PLAYING]
        played = {record.turn: record.played for record in self.records}
        return played.get(speaking[-1].turn, "") if speaking else ""

    def states(self, since: float, until: float) -> list[tuple[Place, Span]]:
        """Every place with its time, in seconds after ``since``."""
        moves = self.transitions
        ends = [t.at for t in moves[1:]] + [until]
        return [
            (move.target, Span(max(0.0, move.at - since), end - since))
            for move, end in zip(moves, ends, strict=True)
            if end > since
        ]

    def marks(self, since: float) -> list[Mark]:
        """The decisions, in seconds after ``since``."""
        return [
            Mark(t.at - since, _label(t))
            for t in self.transitions
            if t.target in _MARKED and t.at >= since
        ]


def _label(move: Transition) -> str:
    """What was decided, and why."""
    if move.cause is Cause.READY:
        return "ready"
    return f"{_MARKED[move.target]}: {move.cause.value}"


def turn(record: TurnRecord) -> dict[str, Any]:
    """One turn of the report; figures in whole milliseconds, null where they do not apply."""
    figures = {name: _rounded(getattr(record, name)) for name in _FIGURES}
    return {
        "turn_id": record.turn,
        "heard": record.heard,
        "answered": record.answered,
        "played": record.played,
        "interrupted": record.interrupted,
        "holds": record.holds,
        "drafts": record.drafts,
        "wasted_tokens": record.wasted_tokens,
        **figures,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def report(
    records: Sequence[TurnRecord], process: Mapping[str, Any], **more: Any
) -> dict[str, Any]:
    """The whole report."""
    return {"turns": [turn(r) for r in records], "process": dict(process), **more}


def rss_mb() -> float:
    """Resident memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
