"""The timeline: one picture of a conversation, readable at a glance.

Three lanes share a time axis: what the user said, what the device said, and
the states in between, with the decisions marked where they were made.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from edgevoice.core.table import Place

_LEFT, _RIGHT, _SCALE = 90, 30, 70
"""Margins in px, and px for a second."""
_LANES = {"user": 60, "device": 130, "state": 200}
_LANE_HEIGHT = 44
_HEIGHT = 330
_WRAP_S = 16.0
"""Seconds to a row; a long conversation gets several rows."""
_CHARACTER_PX = 6.3
ONWARDS = "…"
"""Instead of words that were written before."""
_AFTER_S = 3.0
"""What comes later than so long after the last sound is left out."""

_COLOURS: dict[Place, str] = {
    Place.PREPARING: "#b0b0b0",
    Place.IDLE: "#e4e4e4",
    Place.LISTENING: "#8ec5ff",
    Place.WAITING_FOR_LLM: "#c9a7f5",
    Place.TOOL_EXECUTING: "#b48ee8",
    Place.WAITING_FOR_TASK: "#b48ee8",
    Place.PLAYING: "#9be3ab",
    Place.HELD: "#ffe08a",
    Place.INTERRUPTED: "#ff9d6c",
    Place.SUSPENDED: "#d98080",
    Place.RECOVERING: "#f0b070",
    Place.FAULTED: "#e05050",
    Place.TERMINATING: "#909090",
}


@dataclass(frozen=True)
class Span:
    """Something that lasted, in seconds from the start of the recording."""

    start: float
    end: float
    text: str = ""


@dataclass(frozen=True)
class Mark:
    """A decision."""

    at: float
    text: str


@dataclass(frozen=True)
class Lanes:
    """All that the picture shows."""

    user: Sequence[Span]
    device: Sequence[Span]
    states: Sequence[tuple[Place, Span]]
    marks: Sequence[Mark]

    @property
    def sounding(self) -> list[Span]:
        """What the device says, without the holds, in which it is silent, and each text once."""
        spans = list(self.device)
        for place, hold in self.states:
            if place is Place.HELD:
                spans = [part for span in spans for part in _without(span, hold)]
        texts = [span.text for span in spans]
        return [
            replace(span, text=ONWARDS) if span.text and span.text == before else span
            for before, span in zip(["", *texts], spans, strict=False)
        ]

    @property
    def end(self) -> float:
        """Where the picture ends, in seconds."""
        return max((span.end for span in (*self.user, *self.device)), default=1.0) + _AFTER_S


def _without(span: Span, gap: Span) -> list[Span]:
    """What is left of ``span`` before and behind ``gap``."""
    before = replace(span, end=min(span.end, gap.start))
    behind = replace(span, start=max(span.start, gap.end))
    return [part for part in (before, behind) if part.end > part.start]


def render(lanes: Lanes, title: str) -> str:
    """The picture as an SVG document."""
    rows = int(lanes.end // _WRAP_S) + 1
    width = _LEFT + int(min(_WRAP_S, lanes.end + 1) * _SCALE) + _RIGHT
    svg = ET.Element(
        "svg",
        xmlns="http://www.w3.org/2000/svg",
        width=str(width),
        height=str(rows * _HEIGHT + 30),
        viewBox=f"0 0 {width} {rows * _HEIGHT + 30}",
    )
    svg.set("font-family", "system-ui, sans-serif")
    svg.set("font-size", "12")
    ET.SubElement(svg, "rect", width="100%", height="100%", fill="white")
    write(svg, 10, 22, title, size=15, weight="bold")
    for row in range(rows):
        _draw_row(svg, lanes, row * _WRAP_S, 30 + row * _HEIGHT)
    ET.indent(svg)
    return ET.tostring(svg, encoding="unicode") + "\n"


def _draw_row(svg: ET.Element, lanes: Lanes, start: float, top: float) -> None:
    end = min(start + _WRAP_S, max(lanes.end, start + 1))
    for name, y in _LANES.items():
        write(svg, 10, top + y + 26, name, weight="bold")
    _axis(svg, start, end, top)
    for span in _within(lanes.user, start, end):
        _box(svg, span, start, top + _LANES["user"], "#ffd9a0")
        if span.text and not _lines(span):
            write(svg, _x(span.start, start), top + _LANES["user"] - 3, span.text, size=9)
    for span in _within(lanes.sounding, start, end):
        _box(svg, span, start, top + _LANES["device"], "#bfe8c8")
    for place, span in lanes.states:
        for part in _within([span], start, end):
            label = place.value.rpartition(".")[2]
            _box(
                svg,
                Span(part.start, part.end, label),
                start,
                top + _LANES["state"],
                _COLOURS[place],
            )
    _marks(svg, [m for m in lanes.marks if start <= m.at < end], start, top)


def _within(spans: Iterable[Span], start: float, end: float) -> list[Span]:
    """The parts of the spans that lie in the row; the text stays with the first part."""
    parts = []
    for span in spans:
        if span.end > start and span.start < end:
            text = span.text if span.start >= start else ""
            parts.append(Span(max(span.start, start), min(span.end, end), text))
    return parts


def _axis(svg: ET.Element, start: float, end: float, top: float) -> None:
    for second in range(int(start), int(end) + 1):
        x = _x(second, start)
        ET.SubElement(
            svg,
            "line",
            x1=f"{x:.1f}",
            x2=f"{x:.1f}",
            y1=str(top + 50),
            y2=str(top + 250),
            stroke="#e8e8e8",
        )
        write(svg, x - 6, top + 46, f"{second} s", fill="#888888", size=10)


def _box(svg: ET.Element, span: Span, start: float, y: float, colour: str) -> None:
    x, width = _x(span.start, start), max(1.5, (span.end - span.start) * _SCALE)
    group = ET.SubElement(svg, "g")
    ET.SubElement(
        group,
        "rect",
        x=f"{x:.1f}",
        y=str(y),
        width=f"{width:.1f}",
        height=str(_LANE_HEIGHT),
        rx="4",
        fill=colour,
        stroke="#777777",
    ).set("stroke-width", "0.5")
    ET.SubElement(group, "title").text = f"{span.text} ({span.start:.2f}–{span.end:.2f} s)"
    for i, line in enumerate(_lines(span)):
        write(group, x + 4, y + 14 + 13 * i, line, size=11)


def _lines(span: Span) -> list[str]:
    """The text in up to three lines that fit the box, with an ellipsis for the rest."""
    room = int(((span.end - span.start) * _SCALE - 6) / _CHARACTER_PX)
    if room < 3:
        return []
    lines: list[str] = [""]
    for word in span.text.split():
        if len(lines[-1]) + len(word) + 1 <= room:
            lines[-1] = f"{lines[-1]} {word}".strip()
        else:
            lines.append(word[:room])
    lines = [line for line in lines if line]
    if len(lines) > 3:
        lines = [*lines[:2], lines[2][: room - 1] + "…"]
    return lines


def _marks(svg: ET.Element, marks: Sequence[Mark], start: float, top: float) -> None:
    """Decisions under the lanes, on levels so that they do not cover one another.

    What would not fit any more stands before its line.
    """
    ends = [-1e9] * 5
    for mark in marks:
        x, width = _x(mark.at, start), 4 + _CHARACTER_PX * len(mark.text)
        fits = x + width < _LEFT + _WRAP_S * _SCALE + _RIGHT
        left = x if fits else x - width
        level = next((i for i, end in enumerate(ends) if end < left), len(ends) - 1)
        ends[level] = left + width
        y = top + 262 + 13 * level
        ET.SubElement(
            svg,
            "line",
            x1=f"{x:.1f}",
            x2=f"{x:.1f}",
            y1=str(top + _LANES["user"]),
            y2=f"{y - 8:.1f}",
            stroke="#c03030",
        ).set("stroke-dasharray", "2 2")
        at, anchor = (x + 2, "start") if fits else (x - 2, "end")
        write(svg, at, y, mark.text, fill="#c03030", size=10, anchor=anchor)


def _x(at: float, start: float) -> float:
    return _LEFT + (at - start) * _SCALE


def write(
    parent: ET.Element,
    x: float,
    y: float,
    words: str,
    *,
    size: int = 12,
    fill: str = "#222222",
    weight: str = "normal",
    anchor: str = "start",
) -> None:
    """Write ``words``; their base line begins, or has its ``anchor``, at ``x``, ``y``."""
    node = ET.SubElement(parent, "text", x=f"{x:.1f}", y=f"{y:.1f}", fill=fill)
    node.set("font-size", str(size))
    node.set("font-weight", weight)
    node.set("text-anchor", anchor)
    node.text = words
