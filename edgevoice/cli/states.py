"""``edgevoice states``: the state machine, from the table that runs it."""

from __future__ import annotations

import argparse


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser("states", help="print the state machine")
    parser.add_argument(
        "--format", choices=("table", "mermaid", "svg"), default="table", help="default: table"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print it; the exit status."""
    from edgevoice import diagram

    print(
        {"table": diagram.table, "mermaid": diagram.mermaid, "svg": diagram.svg}[args.format](),
        end="",
    )
    return 0
