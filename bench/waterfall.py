"""The waterfall of one turn: what happened between the end of speech and the first audio.

The same question with speculation and without, from two traces, on one axis of time.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from edgevoice.core import events as ev
from edgevoice.demo.timeline import Span, write
from edgevoice.trace import Step, read

_LEFT, _TOP, _WIDTH, _BAR = 250, 70, 640, 20
_LABEL = 45
"""Width of the longest duration that is written out."""
_COLOURS = ("#ffd9a0", "#c9a7f5", "#bfe8c8", "#8ec5ff")
_WAIT, _THINK, _SPEAK, _HEAR = range(4)


@dataclass(frozen=True)
class Turn:
    """One turn in seconds after the end of speech; `stages` in the order they began."""

    heard: str
    stages: Sequence[tuple[Span, int]]
    first_audio: float


def turns(trace: Path) -> list[Turn]:
    """The turns of a trace that were answered."""
    _, _, steps = read(trace)
    past = list(steps)
    return [
        _turn(past[: number + 1], command)
        for number, step in enumerate(past)
        for command in step.commands
        if command["is"] == "TurnRecord" and command["response_ms"] is not None
    ]


def _turn(past: Sequence[Step], record: dict[str, Any]) -> Turn:
    number = record["turn"]
    decided = _last(past, "Transition", turn=number, target="processing.waiting_for_llm")
    ended = decided - record["eot_ms"] / 1000
    flushed = _last(past, "FlushRecogniser", until=decided)
    final = max(
        s.event.at
        for s in past
        if isinstance(s.event, ev.Transcript) and s.event.final and s.event.at <= decided + 1
        and s.event.text == record["heard"]
    )  # fmt: skip
    final = max(final, flushed)  # two clocks may differ by a millisecond
    asked = _last(past, "Generate", turn=number)
    token = max(asked, _first(past, ev.Token, number))
    piece = _last(past, "Synthesise", turn=number, piece=0)
    ready = _first(past, ev.PieceBuffered, number)
    started = ended + record["response_ms"] / 1000
    stages = [
        (Span(0, decided - ended, "silence and hysteresis"), _WAIT),
        (Span(flushed - ended, final - ended, "the recogniser's last words"), _HEAR),
        (Span(asked - ended, token - ended, "model: to the first token"), _THINK),
        (Span(token - ended, piece - ended, "model: to the first words"), _THINK),
        (Span(piece - ended, ready - ended, "voice: to the first sound"), _SPEAK),
        (Span(ready - ended, started - ended, "ready, and waits for its turn"), _WAIT),
    ]
    return Turn(record["heard"], stages, started - ended)


def _last(past: Iterable[Step], kind: str, until: float = float("inf"), **fields: Any) -> float:
    """When such a command was last given."""
    return max(
        step.event.at
        for step in past
        for command in step.commands
        if command["is"] == kind
        and step.event.at <= until
        and all(command[name] == value for name, value in fields.items())
    )


def _first(past: Iterable[Step], kind: type[ev.TurnEvent], turn: int) -> float:
    return min(s.event.at for s in past if isinstance(s.event, kind) and s.event.turn == turn)


def typical(on: Sequence[Turn], off: Sequence[Turn]) -> tuple[Turn, Turn]:
    """A question with speculation and without, whose waits are nearest to the middle of each.

    Where the recogniser understood no question twice, those with the middle waits.
    """
    middle = _middle(on), _middle(off)
    without = {turn.heard: turn for turn in off}
    pairs = [(turn, without[turn.heard]) for turn in on if turn.heard in without]

    def distance(pair: tuple[Turn, Turn]) -> float:
        return sum(abs(a.first_audio - b.first_audio) for a, b in zip(pair, middle, strict=True))

    return min(pairs or [middle], key=distance)


def _middle(turns: Sequence[Turn]) -> Turn:
    waits = [turn.first_audio for turn in turns]
    return turns[int(np.argsort(waits)[len(waits) // 2])]


def render(on: Turn, off: Turn) -> str:
    """Both turns as one SVG document."""
    longest = max(on.first_audio, off.first_audio) * 1.12
    height = _TOP + (len(on.stages) + len(off.stages)) * (_BAR + 6) + 110
    svg = ET.Element(
        "svg",
        xmlns="http://www.w3.org/2000/svg",
        width=str(_LEFT + _WIDTH + 40),
        height=str(height),
        viewBox=f"0 0 {_LEFT + _WIDTH + 40} {height}",
    )
    svg.set("font-family", "system-ui, sans-serif")
    svg.set("font-size", "12")
    ET.SubElement(svg, "rect", width="100%", height="100%", fill="white")
    write(svg, 10, 24, f"One turn: “{on.heard}”", size=15, weight="bold")
    scale = _WIDTH / longest
    _axis(svg, longest, scale, height)
    bottom = _draw(svg, on, "with speculation", _TOP, scale)
    _draw(svg, off, "without", bottom + 20, scale)
    ET.indent(svg)
    return ET.tostring(svg, encoding="unicode") + "\n"


def _draw(svg: ET.Element, turn: Turn, name: str, top: float, scale: float) -> float:
    write(svg, 10, top + 14, f"{name}: {1000 * turn.first_audio:.0f} ms", weight="bold")
    y = top + 24
    for span, colour in turn.stages:
        _bar(svg, span, y, scale, _COLOURS[colour], line=turn.first_audio)
        y += _BAR + 6
    x = _LEFT + turn.first_audio * scale
    ET.SubElement(
        svg, "line", x1=f"{x:.1f}", x2=f"{x:.1f}", y1=f"{top + 4:.1f}", y2=f"{y:.1f}",
        stroke="#c03030",
    )  # fmt: skip
    write(svg, x + 4, top + 14, "first audio", fill="#c03030", size=11)
    return y


def _bar(svg: ET.Element, span: Span, y: float, scale: float, colour: str, *, line: float) -> None:
    """A stage, and how long it took: in it, or beside it where no ``line`` goes through that."""
    width = max(1.5, (span.end - span.start) * scale)
    write(svg, 20, y + 14, span.text)
    ET.SubElement(
        svg, "rect", x=f"{_LEFT + span.start * scale:.1f}", y=f"{y:.1f}", width=f"{width:.1f}",
        height=str(_BAR), rx="3", fill=colour, stroke="#777777",
    ).set("stroke-width", "0.5")  # fmt: skip
    label = f"{1000 * (span.end - span.start):.0f} ms"
    start, end = _LEFT + span.start * scale, _LEFT + span.end * scale
    if width > _LABEL:
        write(svg, end - 4, y + 14, label, fill="#444444", size=10, anchor="end")
    elif end + _LABEL > _LEFT + line * scale:
        write(svg, start - 4, y + 14, label, fill="#444444", size=10, anchor="end")
    else:
        write(svg, end + 4, y + 14, label, fill="#444444", size=10)


def _axis(svg: ET.Element, longest: float, scale: float, height: float) -> None:
    for tenth in range(0, int(longest * 10) + 1, 2):
        x = _LEFT + tenth / 10 * scale
        ET.SubElement(
            svg, "line", x1=f"{x:.1f}", x2=f"{x:.1f}", y1="52", y2=f"{height - 10:.0f}",
            stroke="#e8e8e8",
        )  # fmt: skip
        write(svg, x - 10, 46, f"{tenth / 10:.1f} s", fill="#888888", size=10)
