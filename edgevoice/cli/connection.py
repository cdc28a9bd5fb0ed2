"""The connection of the owner's commands to the daemon."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edgevoice.system.client import Client


def connect(args: argparse.Namespace) -> Client:
    """Connect to the daemon; raises `edgevoice.errors.DaemonError` when it is not there."""
    from edgevoice.system.client import Client

    return Client(_socket(args.config))


def _socket(config: str | None) -> str:
    """The key ``control.socket``; a broken configuration must not keep anybody from muting."""
    from edgevoice.errors import ConfigError
    from edgevoice.settings.loader import load

    try:
        return load(config).settings.control.socket
    except ConfigError:
        return ""
