"""The front of the command line: finds the command, runs it, reports what went wrong.

A command is a module of this package with two functions:
``register(subparsers)`` adds its parser, under the module's name, and
``run(args)`` does the work and returns the exit status.  Every command has
``args.config``, the value of ``--config`` or None.  Modules are imported for
every ``--help``, so they import what is heavy inside `run`.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Protocol, cast

from edgevoice import __version__
from edgevoice.cli import crash
from edgevoice.cli.parser import Parser, add_config_option
from edgevoice.errors import EdgeVoiceError

COMMANDS = ("run", "demo", "replay", "devices", "models", "tune", "states", "config")

INTERRUPTED = 130
"""128 + SIGINT, as shells count."""

READER_GONE = 141
"""128 + SIGPIPE, as shells count."""


class Command(Protocol):
    """A module of this package that is a command."""

    def register(self, subparsers: argparse._SubParsersAction[Parser]) -> None:
        """Add the parser of the command."""

    def run(self, args: argparse.Namespace) -> int:
        """Do the work; the exit status comes back."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit status (one of sysexits.h) comes back."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # file names need not be text
    try:
        status = _run(argv)
        print(end="", flush=True)  # here, where a reader that is gone is caught
        return status
    except EdgeVoiceError as error:
        for line in str(error).splitlines():
            print(f"edgevoice: {line}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # What is still buffered would be written, and fail once more, at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE
    except Exception as error:
        return crash.report(error)


def _run(argv: Sequence[str] | None) -> int:
    parser, commands = _parser()
    try:
        args = parser.parse_args(argv)
    except SystemExit as done:  # --help and --version
        return int(done.code or 0)
    return commands[args.command].run(args)


def _parser() -> tuple[Parser, dict[str, Command]]:
    parser = Parser(prog="edgevoice", description="A fully local, full-duplex voice assistant.")
    parser.add_argument("--version", action="version", version=f"edgevoice {__version__}")
    add_config_option(parser, default=None)
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    commands = {name: _load(name) for name in COMMANDS}
    for command in commands.values():
        command.register(subparsers)
    for name, subparser in subparsers.choices.items():
        if name in commands:
            add_config_option(subparser)
    return parser, commands


def _load(name: str) -> Command:
    return cast(Command, importlib.import_module(f"edgevoice.cli.{name}"))
