"""``edgevoice replay``: feed a recorded trace to a fresh core and compare."""

from __future__ import annotations

import argparse
import json
from pathlib import Path


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "replay", help="feed a trace to a fresh core; it must give the same commands"
    )
    parser.add_argument("trace", metavar="TRACE", help="events.jsonl of a demo or of run --trace")
    parser.add_argument("--until", metavar="LINE", type=int, help="stop after this line")
    parser.add_argument(
        "--explain", action="store_true", help="say why the core did what it did, line by line"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0 when every line gave what was recorded; `DataError` for the first that did not."""
    from edgevoice.errors import DataError
    from edgevoice.trace import replay

    path = Path(args.trace)
    events = commands = 0
    for step, core, difference in replay(path):
        if args.until is not None and step.line > args.until:
            break
        events += 1
        commands += len(step.commands)
        if difference is not None:
            raise DataError(
                f"{path}:{difference.line}: the replay gives "
                f"{json.dumps(difference.replayed)} instead of {json.dumps(difference.recorded)}",
                "the trace is from another version, or was edited",
            )
        if args.explain and (core.why or step.commands):
            names = ", ".join(c["is"] for c in step.commands) or "nothing"
            why = f"  because {core.why}" if core.why else ""
            print(f"{step.line}: {core.place.value}: {type(step.event).__name__} -> {names}{why}")
    print(f"{path}: {events} events gave the same {commands} commands")
    return 0
