"""The parser of the command line, and the option that every command has."""

from __future__ import annotations

import argparse
from typing import NoReturn

from edgevoice.errors import UsageError


class Parser(argparse.ArgumentParser):
    """Reports wrong usage as every other error is reported: one line and its status."""

    def error(self, message: str) -> NoReturn:
        """Raise `UsageError` instead of printing the usage and leaving with status 2."""
        raise UsageError(message, f"see {self.prog} --help")


def add_config_option(
    parser: argparse.ArgumentParser, default: str | None = argparse.SUPPRESS
) -> None:
    """Let ``--config PATH`` stand after a command too, as people write it."""
    parser.add_argument(
        "--config",
        metavar="PATH",
        default=default,
        help="configuration file (default: $EDGEVOICE_CONFIG, /etc/edgevoice/edgevoice.yaml, "
        "~/.config/edgevoice/edgevoice.yaml)",
    )
