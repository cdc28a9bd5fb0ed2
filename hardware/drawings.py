"""Draws the wiring: ``python hardware/drawings.py`` writes the SVG files beside it.

A drawing is the 40-pin header as one sees it from above, with the USB ports
below, and boxes that wires lead to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

HERE = Path(__file__).parent

PINS = (
    "3V3", "5V",
    "GPIO2", "5V",
    "GPIO3", "GND",
    "GPIO4", "GPIO14",
    "GND", "GPIO15",
    "GPIO17", "GPIO18",
    "GPIO27", "GND",
    "GPIO22", "GPIO23",
    "3V3", "GPIO24",
    "GPIO10", "GND",
    "GPIO9", "GPIO25",
    "GPIO11", "GPIO8",
    "GND", "GPIO7",
    "GPIO0", "GPIO1",
    "GPIO5", "GND",
    "GPIO6", "GPIO12",
    "GPIO13", "GND",
    "GPIO19", "GPIO16",
    "GPIO26", "GPIO20",
    "GND", "GPIO21",
)  # fmt: skip
"""What each pin is; pin 1 is the first."""

WIRE = {"GND": "#222", "3V3": "#c60", "5V": "#b00"}
COLOURS = ("#06c", "#090", "#a0a", "#077", "#850", "#c39", "#55a")

ROW, LEFT, TOP = 24, 150, 70
BOX, LANES, LANE = 590, 300, 18


@dataclass(frozen=True)
class Wire:
    """From a pin of the header to a terminal, through a resistor where it needs one."""

    pin: int
    terminal: str
    resistor: str = ""
    colour: str = ""

    def __str__(self) -> str:
        return f"{self.terminal} to pin {self.pin} ({PINS[self.pin - 1]})"


@dataclass(frozen=True)
class Box:
    """A part."""

    name: str
    wires: tuple[Wire, ...]
    note: str = ""


BUTTON = Box(
    "push button, normally open", (Wire(9, "one side"), Wire(11, "other side", colour="#c80"))
)
RGB = Box(
    "RGB LED, common cathode",
    (
        Wire(14, "cathode"),
        Wire(15, "red", "330 Ω", "#d22"),
        Wire(16, "green", "330 Ω", "#090"),
        Wire(18, "blue", "330 Ω", "#06c"),
    ),
)
PIXELS = Box(
    "pixels, WS2812 or APA102",
    (Wire(2, "5 V"), Wire(6, "ground"), Wire(19, "data in", "330 Ω"), Wire(23, "clock (APA102)")),
    "WS2812 at 5 V: level shifter in the data line",
)
MICROPHONE = Box(
    "I2S microphone (such as INMP441)",
    (
        Wire(1, "VDD"),
        Wire(6, "GND, and L/R"),
        Wire(12, "SCK"),
        Wire(35, "WS"),
        Wire(38, "SD"),
    ),
    "L/R to GND makes it the left channel",
)
AMPLIFIER = Box(
    "I2S amplifier (MAX98357A)",
    (Wire(4, "VIN"), Wire(39, "GND"), Wire(12, "BCLK"), Wire(35, "LRC"), Wire(40, "DIN")),
)

DRAWINGS = {
    "wiring.svg": ("Button and RGB LED", (BUTTON, RGB)),
    "wiring-pixels.svg": ("Button and pixels on SPI", (PIXELS, BUTTON)),
    "wiring-i2s.svg": ("Microphone and amplifier on I2S", (MICROPHONE, AMPLIFIER)),
}


def drawing(title: str, boxes: tuple[Box, ...]) -> str:
    """A drawing as SVG."""
    height = TOP + 20 * ROW + 30
    body = "\n".join((*_header(boxes), *_parts(boxes)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="860" height="{height}" '
        f'viewBox="0 0 860 {height}" font-family="system-ui, sans-serif" font-size="12">\n'
        f"<title>{escape(title)}</title>\n"
        f'<rect width="860" height="{height}" fill="white"/>\n'
        f'<text x="20" y="30" font-size="16" font-weight="bold">{escape(title)}</text>\n'
        f"{body}\n</svg>\n"
    )


def _place(pin: int) -> tuple[int, int]:
    return LEFT + (pin - 1) % 2 * ROW, TOP + (pin - 1) // 2 * ROW


def _header(boxes: tuple[Box, ...]) -> Iterator[str]:
    used = {wire.pin for box in boxes for wire in box.wires}
    x, y = LEFT - 14, TOP - 14
    yield f'<rect x="{x}" y="{y}" width="52" height="{20 * ROW + 4}" rx="4" fill="#333"/>'
    yield f'<text x="{LEFT - 14}" y="{TOP - 22}" fill="#555">header, USB ports below</text>'
    for pin, name in enumerate(PINS, 1):
        px, py = _place(pin)
        fill = WIRE.get(name, "#2a6") if pin in used else "#999"
        yield f'<circle cx="{px}" cy="{py}" r="7" fill="{fill}" stroke="white"/>'
        if pin in used:
            anchor, tx = ("end", LEFT - 22) if pin % 2 else ("start", LEFT + ROW + 22)
            weight = f'font-weight="bold" text-anchor="{anchor}"'
            ty = py + 4 if pin % 2 else py - 3
            yield f'<text x="{tx}" y="{ty}" {weight}>{pin} {name}</text>'


def _parts(boxes: tuple[Box, ...]) -> Iterator[str]:
    y, lane, colours = TOP, LANES, iter(COLOURS)
    signals: dict[int, str] = {}
    for box in boxes:
        height = 30 + ROW * len(box.wires)
        yield (
            f'<rect x="{BOX}" y="{y - 10}" width="250" height="{height}" rx="8" '
            f'fill="#f4f4f4" stroke="#555"/>'
        )
        yield f'<text x="{BOX + 12}" y="{y + 10}" font-weight="bold">{escape(box.name)}</text>'
        for row, wire in enumerate(box.wires):
            end = y + 30 + ROW * row  # never on the height of a row of the header
            name = PINS[wire.pin - 1]
            colour = wire.colour or WIRE.get(name) or signals.get(wire.pin) or next(colours)
            signals[wire.pin] = colour
            yield from _wire(wire, lane, end, colour)
            lane += LANE
        if box.note:
            yield f'<text x="{BOX}" y="{y + height + 6}" font-size="10">{escape(box.note)}</text>'
        y += ROW * (len(box.wires) + 4)


def _wire(wire: Wire, lane: int, end: int, colour: str) -> Iterator[str]:
    """Out of the header between two rows if the pin is in its left column."""
    x, y = _place(wire.pin)
    out = f"L{x + 12} {y + 12} H{lane}" if wire.pin % 2 else f"H{lane}"
    yield (
        f'<path d="M{x} {y} {out} V{end} H{BOX}" fill="none" stroke="{colour}" stroke-width="2"/>'
    )
    yield f'<circle cx="{BOX}" cy="{end}" r="4" fill="{colour}"/>'
    yield f'<text x="{BOX + 12}" y="{end + 4}">{escape(str(wire))}</text>'
    if wire.resistor:
        left = BOX - 70
        yield (
            f'<rect x="{left}" y="{end - 8}" width="50" height="16" fill="#f7ecd8" stroke="#863"/>'
        )
        yield (
            f'<text x="{left + 25}" y="{end + 4}" font-size="10" '
            f'text-anchor="middle">{escape(wire.resistor)}</text>'
        )


if __name__ == "__main__":
    for file, (title, boxes) in DRAWINGS.items():
        (HERE / file).write_text(drawing(title, boxes), encoding="utf-8")
