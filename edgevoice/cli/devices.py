"""``edgevoice devices``: the microphones and speakers, by the names the configuration takes."""

from __future__ import annotations

import argparse


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser("devices", help="list microphones and speakers")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print them; the exit status."""
    from edgevoice.adapters.alsa import devices

    found = devices()
    for kind, key in (("microphone", "audio.input"), ("speaker", "audio.output")):
        names = [d for d in found if (d.inputs if kind == "microphone" else d.outputs)]
        print(f"{kind}s ({key}):" if names else f"no {kind} found")
        for device in names:
            rates = ", ".join(str(rate) for rate in device.rates)
            print(f"  {device.name}  [{rates} Hz]")
    return 0
