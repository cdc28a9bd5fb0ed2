"""``edgevoice demo``: a conversation in a simulated room, on the real engines."""

from __future__ import annotations

import argparse
from pathlib import Path


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser("demo", help="hold a conversation in a simulated room")
    parser.add_argument(
        "--out", metavar="DIR", default="demo", help="where to leave it (default: demo)"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--say",
        metavar="LINE",
        action="append",
        default=[],
        help="what the talker says, one line after each answer (repeatable); the wake word "
        "comes before the first",
    )
    which.add_argument("--scene", metavar="FILE", help="a scene of your own (YAML)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Hold it; the exit status."""
    from edgevoice.demo.play import play
    from edgevoice.settings.loader import load

    scene = Path(args.scene) if args.scene else None
    return play(load(args.config).settings, Path(args.out), args.say, scene)
