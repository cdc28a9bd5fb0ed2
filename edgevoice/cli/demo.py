"""``edgevoice demo``: a conversation in a simulated room, on the real engines."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edgevoice.settings.schema import Settings


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
    from edgevoice.settings.loader import load

    scene = Path(args.scene) if args.scene else None
    return hold(load(args.config).settings, Path(args.out), args.say, scene)


def hold(settings: Settings, out: Path, say: Sequence[str], scene: Path | None) -> int:
    """Hold the conversation of a scene, of lines, or the usual one, and leave it in ``out``."""
    from edgevoice.demo.play import play

    return play(settings, out, say, scene)
