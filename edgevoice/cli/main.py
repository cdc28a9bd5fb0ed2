"""The front of the command line: finds the command, runs it, reports what went wrong.

A module of this package adds one or more commands: its ``register(subparsers)``
adds their parsers, whose default ``run`` is the function that takes the parsed
arguments, does the work and returns the exit status.  Every command has
``args.config``, the value of ``--config`` or None.  Modules are imported for
every ``--help``, so they import what is heavy inside that function.
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

MODULES = (
    "run",
    "status",
    "monitor",
    "owner",
    "doctor",
    "trial",
    "tune",
    "devices",
    "models",
    "config",
    "demo",
    "replay",
    "states",
)
"""In the order of ``--help``."""

INTERRUPTED = 130
"""128 + SIGINT, as shells count."""

READER_GONE = 141
"""128 + SIGPIPE, as shells count."""


class Module(Protocol):
    """A module of this package that adds commands."""

    def register(self, subparsers: argparse._SubParsersAction[Parser]) -> None:
        """Add the parsers of its commands."""


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
    try:
        args = _parser().parse_args(argv)
    except SystemExit as done:  # --help and --version
        return int(done.code or 0)
    return int(args.run(args))


def _parser() -> Parser:
    parser = Parser(prog="edgevoice", description="A fully local, full-duplex voice assistant.")
    parser.add_argument("--version", action="version", version=f"edgevoice {__version__}")
    add_config_option(parser, default=None)
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in MODULES:
        _load(name).register(subparsers)
    for subparser in subparsers.choices.values():
        add_config_option(subparser)
    return parser


def _load(name: str) -> Module:
    return cast(Module, importlib.import_module(f"edgevoice.cli.{name}"))
