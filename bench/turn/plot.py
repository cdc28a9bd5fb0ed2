"""The curve: for each policy its wait, from the median to the 95th percentile, and its cut-offs."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from typing import Protocol

import numpy as np

_WIDTH, _HEIGHT = 960, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 224, 48, 56
_LINE = 15
"""Between two names, which stand in a column beside the curve."""
_MAX_MS, _MAX_PERCENT = 2000, 100
_COLOURS = {
    "silence": "#8a8a8a",
    "easyturn": "#1f77b4",
    "smart_turn": "#2ca02c",
    "easyturn+smart_turn": "#d62728",
}


class Measured(Protocol):
    """What is drawn of an outcome."""

    @property
    def name(self) -> str:
        """``POLICY, PROFILE`` or ``silence MS ms``."""

    @property
    def waits_ms(self) -> tuple[float, ...]:
        """From the end of speech to the decision."""

    def share(self) -> float:
        """Cut-offs in percent."""


def render(outcomes: Iterable[Measured]) -> str:
    """The picture as an SVG document."""
    svg = ET.Element(
        "svg",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        width=str(_WIDTH),
        height=str(_HEIGHT),
        **{"font-family": "sans-serif", "font-size": "12"},
    )
    ET.SubElement(svg, "rect", width="100%", height="100%", fill="white")
    _text(svg, _LEFT, 24, "Cut off in a pause, and waited for: each turn policy on the same sound")
    _axes(svg)
    name_y = 0.0
    for outcome in sorted(outcomes, key=lambda outcome: -outcome.share()):
        name_y = max(name_y + _LINE, _y(outcome.share()))
        _point(svg, outcome, name_y)
    ET.indent(svg)
    return ET.tostring(svg, "unicode") + "\n"


def _axes(svg: ET.Element) -> None:
    for ms in range(0, _MAX_MS + 1, 250):
        _line(svg, _x(ms), _y(0), _x(ms), _y(_MAX_PERCENT), "#eeeeee")
        _text(svg, _x(ms), _y(0) + 18, str(ms), "middle")
    for percent in range(0, _MAX_PERCENT + 1, 20):
        _line(svg, _x(0), _y(percent), _x(_MAX_MS), _y(percent), "#eeeeee")
        _text(svg, _x(0) - 8, _y(percent) + 4, f"{percent} %", "end")
    label = "end of speech to decision, ms: point at the median, line to the 95th percentile"
    _text(svg, _x(_MAX_MS / 2), _y(0) + 40, label, "middle")


def _point(svg: ET.Element, outcome: Measured, name_y: float) -> None:
    median, late = np.percentile(outcome.waits_ms, (50, 95))
    x, y, colour = _x(median), _y(outcome.share()), _COLOURS[_policy(outcome.name)]
    late_x, column = _x(min(late, _MAX_MS)), _x(_MAX_MS) + 8
    _line(svg, x, y, late_x, y, colour)
    _line(svg, late_x, y, column, name_y, colour).set("stroke-dasharray", "1 4")
    ET.SubElement(svg, "circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="5", fill=colour)
    _text(svg, column + 4, name_y + 4, outcome.name, fill=colour)


def _policy(name: str) -> str:
    return name.partition(",")[0].partition(" ")[0]


def _x(ms: float) -> float:
    return float(_LEFT + ms / _MAX_MS * (_WIDTH - _LEFT - _RIGHT))


def _y(percent: float) -> float:
    return _HEIGHT - _BOTTOM - percent / _MAX_PERCENT * (_HEIGHT - _TOP - _BOTTOM)


def _line(svg: ET.Element, x1: float, y1: float, x2: float, y2: float, colour: str) -> ET.Element:
    ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    return ET.SubElement(svg, "line", {k: f"{v:.1f}" for k, v in ends.items()} | {"stroke": colour})


def _text(
    svg: ET.Element, x: float, y: float, text: str, anchor: str = "start", fill: str = "#222222"
) -> None:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor, "fill": fill}
    ET.SubElement(svg, "text", place).text = text
