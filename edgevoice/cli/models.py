"""``edgevoice models``: list, fetch and verify."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edgevoice.models.catalogue import Entry


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser("models", help="list, fetch and verify models")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    actions.add_parser("list", help="what there is, under which licence, and what is here")
    fetch = actions.add_parser("fetch", help="fetch what is not intact; harmless to repeat")
    fetch.add_argument("names", nargs="*", metavar="NAME", help="default: the starter set")
    verify = actions.add_parser("verify", help="read every byte and compare with the catalogue")
    verify.add_argument("names", nargs="*", metavar="NAME", help="default: all that are here")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Do what ``args.action`` names; the exit status."""
    from edgevoice.models.paths import models_directory

    directory = models_directory()
    if args.action == "list":
        return _list(directory)
    if args.action == "fetch":
        return _fetch(args.names, directory)
    return _verify(args.names, directory)


def _list(directory: Path) -> int:
    from edgevoice.models.catalogue import catalogue
    from edgevoice.models.verify import state_of

    print(f"models in {directory}")
    for entry in catalogue().values():
        size = f"{entry.size / 1e6:.1f} MB"
        state = state_of(entry, directory)
        print(f"{entry.name:28} {entry.role:14} {size:>9}  {state:10}  {entry.licence}")
    print("The configuration may also name the path of any GGUF file, Piper voice, Vosk directory")
    print("or openWakeWord ONNX file.")
    return 0


def _fetch(names: list[str], directory: Path) -> int:
    from edgevoice.models.catalogue import find, starter_set
    from edgevoice.models.fetch import fetch_all

    entries = [find(name) for name in names] or starter_set()
    count = fetch_all(entries, directory, lambda line: print(line, flush=True))
    print(f"{len(entries)} models are ready in {directory}, {count} fetched now")
    return 0


def _verify(names: list[str], directory: Path) -> int:
    from edgevoice.errors import ModelError
    from edgevoice.models.catalogue import find

    entries = [find(name) for name in names] or _present(directory)
    if not entries:
        raise ModelError(f"there is no model in {directory}", "run 'edgevoice models fetch'")
    broken = [entry.name for entry in entries if not _is_intact(entry, directory)]
    if broken:
        raise ModelError(
            f"{len(broken)} of {len(entries)} models are broken",
            f"run 'edgevoice models fetch {' '.join(broken)}'",
        )
    return 0


def _present(directory: Path) -> list[Entry]:
    from edgevoice.models.catalogue import catalogue
    from edgevoice.models.verify import State, state_of

    entries: Iterable[Entry] = catalogue().values()
    return [entry for entry in entries if state_of(entry, directory) is not State.MISSING]


def _is_intact(entry: Entry, directory: Path) -> bool:
    from tqdm import tqdm

    from edgevoice.models.verify import verify

    bar = tqdm(total=entry.size, unit="B", unit_scale=True, disable=None, desc=entry.name)
    with bar:
        wrong = verify(entry, directory, bar.update)
    for line in wrong or ["intact"]:
        print(f"{entry.name}: {line}")
    return not wrong
