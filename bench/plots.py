"""Pictures of figures, as SVG."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edgevoice.demo.timeline import write

_LEFT, _TOP, _WIDTH, _HEIGHT, _KEY = 70, 50, 620, 330, 230
_COLOURS = (
    "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f",
    "#bcbd22", "#17becf", "#000000", "#98df8a", "#ff9896",
)  # fmt: skip
_TICKS = 5


@dataclass(frozen=True)
class Curve:
    """Values at even steps; NaN is a gap."""

    name: str
    values: np.ndarray


@dataclass(frozen=True)
class Point:
    """One place on a chart; ``ours`` are filled."""

    name: str
    x: float
    y: float
    ours: bool = False


@dataclass(frozen=True)
class _Frame:
    """From values to pixels."""

    x: tuple[float, float]
    y: tuple[float, float]

    def place(self, x: float, y: float) -> tuple[float, float]:
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return _LEFT + across * _WIDTH, _TOP + (1 - up) * _HEIGHT


def curves(lines: Sequence[Curve], title: str, x_unit: str, y_unit: str, step: float = 1.0) -> str:
    """Lines over one axis."""
    longest = max(len(line.values) for line in lines)
    highest = max(float(np.nanmax(line.values)) for line in lines)
    frame = _Frame((0.0, longest * step), (0.0, math.ceil(highest / 10) * 10.0))
    svg = _sheet(title, frame, x_unit, y_unit)
    for number, line in enumerate(lines):
        colour = _COLOURS[number % len(_COLOURS)]
        for part in _parts(line.values):
            places = (frame.place((i + 0.5) * step, float(line.values[i])) for i in part)
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            ET.SubElement(svg, "polyline", points=points, fill="none", stroke=colour)
        write(svg, _LEFT + _WIDTH + 20, _TOP + 14 + 18 * number, line.name, fill=colour)
    return _text(svg)


def scatter(points: Sequence[Point], title: str, x_unit: str, y_unit: str, x_end: float) -> str:
    """Points with their names; y in percent."""
    frame = _Frame((0.0, x_end), (0.0, 100.0))
    svg = _sheet(title, frame, x_unit, y_unit)
    for point in points:
        x, y = frame.place(min(point.x, x_end), point.y)
        colour = "#2ca02c" if point.ours else "#888888"
        ET.SubElement(svg, "circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="5", fill=colour)
        write(svg, x + 8, y + 4, point.name, weight="bold" if point.ours else "normal")
    return _text(svg)


def _parts(values: np.ndarray) -> list[list[int]]:
    """Stretches of indices without a gap."""
    parts: list[list[int]] = [[]]
    for i, value in enumerate(values):
        if np.isfinite(value):
            parts[-1].append(i)
        elif parts[-1]:
            parts.append([])
    return [part for part in parts if part]


def _sheet(title: str, frame: _Frame, x_unit: str, y_unit: str) -> ET.Element:
    width, height = _LEFT + _WIDTH + _KEY, _TOP + _HEIGHT + 50
    svg = ET.Element(
        "svg", xmlns="http://www.w3.org/2000/svg", width=str(width), height=str(height),
        viewBox=f"0 0 {width} {height}",
    )  # fmt: skip
    svg.set("font-family", "system-ui, sans-serif")
    ET.SubElement(svg, "rect", width="100%", height="100%", fill="white")
    write(svg, 10, 24, title, size=15, weight="bold")
    for tick in range(_TICKS + 1):
        _grid(svg, frame, tick / _TICKS)
    write(svg, _LEFT + _WIDTH - 30, _TOP + _HEIGHT + 40, x_unit)
    write(svg, 10, _TOP - 8, y_unit)
    return svg


def _grid(svg: ET.Element, frame: _Frame, share: float) -> None:
    x_value = frame.x[0] + share * (frame.x[1] - frame.x[0])
    y_value = frame.y[0] + share * (frame.y[1] - frame.y[0])
    x, bottom = frame.place(x_value, frame.y[0])
    left, y = frame.place(frame.x[0], y_value)
    _line(svg, (x, _TOP), (x, bottom))
    _line(svg, (left, y), (left + _WIDTH, y))
    write(svg, x - 8, bottom + 18, f"{x_value:g}", size=11)
    write(svg, left - 40, y + 4, f"{y_value:g}", size=11)


def _line(svg: ET.Element, begin: tuple[float, float], end: tuple[float, float]) -> None:
    ends = {"x1": begin[0], "y1": begin[1], "x2": end[0], "y2": end[1]}
    ET.SubElement(svg, "line", {k: f"{v:.1f}" for k, v in ends.items()}, stroke="#e8e8e8")


def _text(svg: ET.Element) -> str:
    ET.indent(svg)
    return ET.tostring(svg, encoding="unicode") + "\n"
