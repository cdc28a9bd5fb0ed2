"""``edgevoice devices``: microphones and speakers, by the names and ids the configuration takes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edgevoice.adapters.alsa import Device


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "devices", help="list microphones and speakers, and who uses them"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print them; the exit status."""
    from edgevoice.adapters.alsa import devices

    found = devices()
    for kind, key in (("microphone", "audio.input"), ("speaker", "audio.output")):
        able = [(d, _channels(d, kind)) for d in found if _channels(d, kind)]
        print(f"{kind}s ({key}):" if able else f"no {kind} found")
        for device, channels in able:
            print(f"  {device.name}")
            print(f"      {', '.join(_facts(device, channels))}")
    return 0


def _channels(device: Device, kind: str) -> int:
    return device.inputs if kind == "microphone" else device.outputs


def _facts(device: Device, channels: int) -> Iterator[str]:
    """Its stable id first, for that is what one wants to copy."""
    if device.key:
        yield f"id {device.key}"
    if device.index >= 0:
        yield "mono" if channels == 1 else f"up to {channels} channels"
        yield f"{'/'.join(str(rate) for rate in device.rates) or 'no usable rate of'} Hz"
    for holder in device.holders:
        yield f"in use by {holder}"
