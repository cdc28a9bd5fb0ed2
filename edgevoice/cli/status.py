"""``edgevoice status``: what the daemon does, what it did, and how well."""

from __future__ import annotations

import argparse
import json

from edgevoice.cli.connection import connect


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser("status", help="what it does, what it did, and how well")
    parser.add_argument("--json", action="store_true", help="for programs; see docs/control.md")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print it; the exit status."""
    from edgevoice.system.view import status_lines

    with connect(args) as daemon:
        status = daemon.request("status")
    print(json.dumps(status, indent=2) if args.json else "\n".join(status_lines(status)))
    return 0
