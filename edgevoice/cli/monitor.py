"""``edgevoice monitor``: the conversation as it happens."""

from __future__ import annotations

import argparse
import sys

from edgevoice.cli.connection import connect


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser("monitor", help="watch the conversation as it happens")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Until Ctrl-C or the end of the daemon; the exit status."""
    from edgevoice.system.monitor import follow, watch

    with connect(args) as daemon:
        if sys.stdout.isatty():
            watch(daemon, sys.stdout)
        else:
            follow(daemon, lambda line: print(line, flush=True))
    return 0
