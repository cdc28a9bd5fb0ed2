"""The drawings are what the script draws, and what the defaults say."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from edgevoice.core.events import FaultKind
from edgevoice.core.lamps import BLINKS
from edgevoice.core.tuning import ButtonTuning
from edgevoice.settings.schema import Gpio

HARDWARE = Path(__file__).parent.parent / "hardware"
README = (HARDWARE / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(HARDWARE / "drawings.py"))


def test_the_drawings_are_up_to_date(script: dict[str, Any]) -> None:
    for file, (title, boxes) in script["DRAWINGS"].items():
        drawn = (HARDWARE / file).read_text(encoding="utf-8")
        assert drawn == script["drawing"](title, boxes), f"run hardware/drawings.py for {file}"


def test_the_pins_that_are_drawn_are_the_defaults(script: dict[str, Any]) -> None:
    def gpio(box: str) -> list[int]:
        names = [script["PINS"][wire.pin - 1] for wire in script[box].wires]
        return [int(name.removeprefix("GPIO")) for name in names if name.startswith("GPIO")]

    assert gpio("BUTTON") == [Gpio().button_pin]
    assert gpio("RGB") == Gpio().led_pins


def test_no_pin_is_used_for_two_things(script: dict[str, Any]) -> None:
    boxes = [script[name] for name in ("BUTTON", "RGB", "PIXELS", "AMPLIFIER")]
    signals = [w.pin for box in boxes for w in box.wires if script["PINS"][w.pin - 1][:1] == "G"]
    signals = [pin for pin in signals if script["PINS"][pin - 1] != "GND"]
    assert len(signals) == len(set(signals))


def test_what_the_page_links_to_is_there() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (HARDWARE / target).exists(), target


def test_the_blink_codes_are_those_of_the_lamp() -> None:
    rows = re.findall(r"^\| (\d) \| (.*?) \|$", README, re.MULTILINE)
    assert [int(number) for number, _ in rows] == sorted(BLINKS.values())
    told = dict(rows)
    for kind, word in ((FaultKind.DEVICE, "microphone"), (FaultKind.LLM, "language model")):
        assert word in told[str(BLINKS[kind])]


def test_the_long_hold_is_the_default() -> None:
    assert f"held for {ButtonTuning().long_hold_ms // 1000} s" in README
