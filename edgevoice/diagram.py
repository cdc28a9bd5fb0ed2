"""The state machine as a table, as Mermaid and as a picture, all drawn from the one table.

The documentation holds what this makes, and a test compares the two.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

from edgevoice.core.lamps import pattern
from edgevoice.core.lexicon import lexicon
from edgevoice.core.table import ANYWHERE, MOVES, TABLE, TIMEOUTS, Place, State
from edgevoice.core.tuning import Timeouts

_POSITIONS: dict[State, tuple[int, int]] = {
    State.PREPARING: (105, 80),
    State.IDLE: (200, 240),
    State.LISTENING: (440, 240),
    State.PROCESSING: (690, 140),
    State.SPEAKING: (690, 340),
    State.INTERRUPTED: (440, 400),
    State.FAULTED: (105, 520),
    State.RECOVERING: (300, 520),
    State.SUSPENDED: (495, 520),
    State.TERMINATING: (690, 520),
}
_GO_BACK = frozenset({State.SUSPENDED, State.RECOVERING})
"""Their ways back would cover the picture; a line of text tells of them."""
_WIDTH, _HEIGHT = 150, 64


def table() -> str:
    """Every place with its timeout, and every event it takes, with rule and destinations."""
    lines = []
    for place, rows in TABLE.items():
        timeout = TIMEOUTS[place]
        limit = "stays" if timeout is None else f"{getattr(Timeouts(), timeout.setting):g} s"
        lines.append(f"{place.value}  ({limit})")
        for event, row in sorted(rows.items(), key=lambda item: item[0].__name__):
            to = ", ".join(sorted(target.value for target in row.to - {place})) or "·"
            lines.append(f"    {event.__name__:20} {row.rule:28} {to}")
        lines.append("")
    return "\n".join(lines)


def mermaid() -> str:
    """The moves between states as a Mermaid state diagram."""
    lines = ["stateDiagram-v2", "    [*] --> PREPARING"]
    for source, targets in MOVES.items():
        names = sorted(target.name for target in targets)
        lines += [f"    {source.name} --> {name}" for name in names]
    for state in State:
        phases = [p for p in Place if p.state is state]
        if len(phases) > 1:
            inner = "\n".join(f"        {p.name}" for p in phases)
            lines.append(f"    state {state.name} {{\n{inner}\n    }}")
    anywhere = ", ".join(sorted(state.name for state in ANYWHERE))
    lines.append(f"    note right of PREPARING : every state may also go to {anywhere}")
    return "\n".join(lines) + "\n"


def svg() -> str:
    """The same as a picture; each state in the colour of its lamp."""
    root = ET.Element(
        "svg", xmlns="http://www.w3.org/2000/svg", width="820", height="620", viewBox="0 0 820 620"
    )
    root.set("font-family", "system-ui, sans-serif")
    marker = ET.SubElement(ET.SubElement(root, "defs"), "marker", id="tip", orient="auto")
    for name, value in (("markerWidth", "9"), ("markerHeight", "8"), ("refX", "8"), ("refY", "4")):
        marker.set(name, value)
    ET.SubElement(marker, "path", d="M0,0 L9,4 L0,8 z", fill="#555555")
    ET.SubElement(root, "rect", width="820", height="620", fill="white")
    for source in [state for state in State if state not in _GO_BACK]:
        for target in sorted(MOVES[source] - ANYWHERE, key=lambda s: s.name):
            _arrow(root, source, target)
    ET.SubElement(
        root, "rect", x="30", y="470", width="750", height="100", rx="10", fill="none"
    ).attrib.update({"stroke": "#aaaaaa", "stroke-dasharray": "5 4"})
    _label(
        root,
        405,
        592,
        "reached from every state; SUSPENDED and RECOVERING go back where they came from",
        12,
    )
    for state in State:
        _state(root, state)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def _state(root: ET.Element, state: State) -> None:
    x, y = _POSITIONS[state]
    phases = [p for p in Place if p.state is state]
    ET.SubElement(
        root,
        "rect",
        x=str(x - _WIDTH // 2),
        y=str(y - _HEIGHT // 2),
        width=str(_WIDTH),
        height=str(_HEIGHT),
        rx="12",
        fill=_tint(phases[0]),
        stroke="#555555",
    )
    _label(root, x, y - 6, state.name, 13, "bold")
    names = [p.value.partition(".")[2].replace("_", " ") for p in phases]
    if len(phases) > 1:
        for i, name in enumerate(names):
            step = 11 if len(names) == 3 else 13
            _label(root, x, y + 6 + step * i, name, 9)
    else:
        _label(root, x, y + 14, lexicon("en").labels[phases[0]], 11)


def _tint(place: Place) -> str:
    """The colour of the place's lamp, pale; grey for a lamp that is out."""
    light = pattern(place).colour
    if not any(light):
        return "#eeeeee"
    return "#" + "".join(f"{round(145 + 110 * part):02x}" for part in light)


def _arrow(root: ET.Element, source: State, target: State) -> None:
    """From edge to edge, a little to the left of the straight line so that pairs part."""
    (x1, y1), (x2, y2) = _POSITIONS[source], _POSITIONS[target]
    length = math.hypot(x2 - x1, y2 - y1)
    left = (8 * (y2 - y1) / length, -8 * (x2 - x1) / length)
    start = _edge(x1, y1, x2, y2)
    end = _edge(x2, y2, x1, y1)
    ET.SubElement(
        root,
        "line",
        x1=f"{start[0] + left[0]:.0f}",
        y1=f"{start[1] + left[1]:.0f}",
        x2=f"{end[0] + left[0]:.0f}",
        y2=f"{end[1] + left[1]:.0f}",
        stroke="#555555",
    ).set("marker-end", "url(#tip)")


def _edge(x1: float, y1: float, x2: float, y2: float) -> tuple[float, float]:
    """Where the line from the middle of one box leaves it."""
    dx, dy = x2 - x1, y2 - y1
    scale = min(
        (_WIDTH / 2) / abs(dx) if dx else math.inf, (_HEIGHT / 2) / abs(dy) if dy else math.inf
    )
    return x1 + dx * scale, y1 + dy * scale


def _label(
    root: ET.Element, x: float, y: float, text: str, size: int, weight: str = "normal"
) -> None:
    node = ET.SubElement(root, "text", x=str(x), y=str(y), fill="#222222")
    node.set("text-anchor", "middle")
    node.set("font-size", str(size))
    node.set("font-weight", weight)
    node.text = text
