"""``edgevoice run``: the daemon, with the sound card, until it is told to stop."""

from __future__ import annotations

import argparse
from pathlib import Path


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser("run", help="listen and talk, through the sound card")
    parser.add_argument(
        "--or-demo",
        metavar="DIR",
        help="without a capture device hold the demo conversation, and leave it in DIR",
    )
    parser.add_argument(
        "--trace", metavar="FILE", help="record events and commands (holds what is said)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Until a signal or a fatal fault; the exit status."""
    from edgevoice.adapters.alsa import has_capture_device
    from edgevoice.settings.loader import load

    loaded = load(args.config)
    if args.or_demo and not has_capture_device():
        from edgevoice.demo.play import play

        print("no capture device here: holding the demo conversation in a simulated room")
        return play(loaded.settings, Path(args.or_demo), say=(), scene_file=None)

    from edgevoice.daemon import serve

    trace = Path(args.trace) if args.trace else None
    return serve(loaded.settings, trace, lambda: load(args.config).settings)
