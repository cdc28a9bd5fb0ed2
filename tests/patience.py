"""Waiting for another thread without a bound on how fast it must be."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(happened: Callable[[], object]) -> None:
    """Wait until it has happened; a test in which it never does is ended by pytest-timeout."""
    while not happened():
        time.sleep(0.001)
