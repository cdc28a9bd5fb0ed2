"""Every example of docs/control.md is what the daemon does."""

import json
import re
from pathlib import Path

from tests.system.house import Wire

DOCUMENT = Path(__file__).parents[2] / "docs" / "control.md"
_VARIES = {"since", "sessionId", "durationMs", "elapsedMs", "uptimeMs", "latenciesMs", "stale"}
"""What is another time another."""


def examples():
    blocks = re.findall(r"^```control\n(.*?)^```", DOCUMENT.read_text(), re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines()]


def alike(documented, found, name=""):
    """Same shape everywhere, same value where it does not vary; of a list the first items."""
    if name in _VARIES:
        return type(documented) is type(found) or None in (documented, found)
    if isinstance(documented, dict):
        return documented.keys() == found.keys() and all(
            alike(documented[key], found[key], key) for key in documented
        )
    if isinstance(documented, list):
        return all(alike(d, f) for d, f in zip(documented, found, strict=False))
    return documented == found


def test_the_examples_are_true(house):
    wire, spoken = Wire(house.path), 0
    hello, *lines = examples()
    assert json.loads(hello[2:]) == wire.hello
    for line in lines:
        if line.startswith("> "):
            wire.send(line[2:].encode())
            continue
        spoken += 1
        documented = json.loads(line[2:])
        found = wire.receive()
        while found["type"] in ("state", "turn") and not alike(documented, found):
            found = wire.receive()
        assert alike(documented, found), (documented, found)
    assert spoken > 10


def test_every_command_error_and_event_is_documented():
    from edgevoice.system.protocol import COMMANDS, EVENTS

    text = DOCUMENT.read_text()
    source = "".join(
        (DOCUMENT.parents[1] / "edgevoice" / "system" / f"{name}.py").read_text()
        for name in ("protocol", "control", "desk")
    )
    codes = set(re.findall(r'ProtocolError\(\s*"(\w+)"', source))
    assert len(codes) >= 8
    for word in {*COMMANDS, *EVENTS, *codes}:
        assert f"`{word}`" in text, word
