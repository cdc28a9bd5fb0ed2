"""``edgevoice tune``: measure this machine, and propose a configuration for it."""

from __future__ import annotations

import argparse
import difflib
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edgevoice.settings.schema import Settings
    from edgevoice.tune.advise import Advice, Model
    from edgevoice.tune.measure import Machine


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "tune", help="measure this machine and propose threads, models and buffers"
    )
    parser.add_argument("--write", action="store_true", help="change the configuration file")
    parser.add_argument(
        "--estimate",
        choices=("pi4", "pi5"),
        metavar="BOARD",
        help="also guess what a Raspberry Pi would do: pi4 or pi5",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Measure, tell, and write if that is wanted; the exit status."""
    from edgevoice.adapters.alsa import AlsaMicrophone, Lines
    from edgevoice.settings.loader import load, user_file
    from edgevoice.tune.advise import advise
    from edgevoice.tune.measure import measure

    loaded = load(args.config)
    settings, path = loaded.settings, loaded.path or user_file()
    audio = settings.audio
    lines = Lines(audio.period_ms, audio.duplex)
    microphone = AlsaMicrophone(audio.input, audio.input_rate, lines, audio.input_channel)
    machine = measure(settings, os.cpu_count() or 1, microphone, _progress)
    current, others = _models(settings)
    for figure in machine.figures:
        print(figure)
    if args.estimate:
        _tell_estimate(machine, current, args.estimate)
    advice = advise(machine, settings, current, others)
    for hint in advice.hints:
        print(hint)
    _propose(advice, path, write=args.write)
    return 0


def _progress(what: str) -> None:
    print(f"measuring {what} …", file=sys.stderr, flush=True)


def _models(settings: Settings) -> tuple[Model | None, list[Model]]:
    """The language model in use, and all that the catalogue has."""
    from edgevoice.models.catalogue import Role, catalogue
    from edgevoice.models.paths import models_directory, wrong_sizes
    from edgevoice.tune.advise import Model

    named = settings.models.directory
    directory = Path(named).expanduser() if named else models_directory()
    known = [
        Model(entry.name, entry.size, not wrong_sizes(entry, directory))
        for entry in catalogue().values()
        if entry.role is Role.LLM
    ]
    return next((model for model in known if model.name == settings.llm.model), None), known


def _tell_estimate(machine: Machine, current: Model | None, board: str) -> None:
    from edgevoice.tune.estimate import estimate

    print(f"ESTIMATE for a {board}, from this machine's figures and published ones:")
    for line in estimate(machine, current.size / 1e9 if current else None, board):
        print(f"  {line}")


def _propose(advice: Advice, path: Path, *, write: bool) -> None:
    """Print the changes as a diff; apply them if that is wanted."""
    if not advice.changes:
        print(f"{path}: nothing to change")
        return
    for change in advice.changes:
        print(f"{change.key}: {change.value}  ({change.why})")
    before = path.read_text("utf-8") if path.exists() else ""
    after = _changed(before, advice, path)
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        str(path) if before else "/dev/null",
        str(path),
    )
    sys.stdout.writelines(lines)
    if write:
        _write(path, after)
    else:
        print("edgevoice tune --write makes these changes")


def _changed(before: str, advice: Advice, path: Path) -> str:
    from edgevoice.settings.edit import changed
    from edgevoice.settings.loader import parse

    after = changed(before, {change.key: change.value for change in advice.changes})
    parse(after.encode(), path)  # what is proposed must be a configuration
    return after


def _write(path: Path, text: str) -> None:
    """Replace the file in one step and keep the old one beside it; a link stays one."""
    from edgevoice.errors import OutputError

    path = path.resolve()
    backup = path.with_name(path.name + ".bak")
    fresh = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(text, "utf-8")
        if path.exists():
            shutil.copystat(path, fresh)
            shutil.copy2(path, backup)
            print(f"{backup}: the configuration as it was")
        fresh.replace(path)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink()
        raise OutputError(f"{path}: {error.strerror}", "run it as the owner of the file") from None
    print(f"{path}: written; restart edgevoice to use it")
