"""Finds the configuration file and makes `Settings` of it, or tells all that is wrong."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from edgevoice.errors import ConfigError
from edgevoice.settings.checks import check
from edgevoice.settings.document import MAX_BYTES, BrokenDocument, Problem, compose, decode
from edgevoice.settings.keys import KEYS, Value, build
from edgevoice.settings.reading import Tree, read
from edgevoice.settings.schema import PROFILES, Settings
from edgevoice.settings.tools import read_tools

MAX_TOLD = 200
"""Errors that are told at once: more than there are keys, so the file is no configuration."""

MAX_LENGTH = 400
"""Characters of one message: the parser quotes names from the file in full."""

SYSTEM_FILE = Path("/etc/edgevoice/edgevoice.yaml")


@dataclass(frozen=True)
class Loaded:
    """The settings and where each of them came from."""

    settings: Settings
    path: Path | None = None
    """The file that was read; None when there is none and the defaults hold."""
    lines: Mapping[str, int] = field(default_factory=dict)
    """The line of each key that the file sets, by dotted name."""

    def origin(self, name: str) -> str:
        """Where the value of the key ``name`` (dotted) came from."""
        if name in self.lines:
            return f"{self.path}:{self.lines[name]}"
        if name in PROFILES[self.settings.profile]:
            return f"profile {self.settings.profile}"
        return "default"


def load(named: str | os.PathLike[str] | None = None) -> Loaded:
    """The configuration of this machine.

    ``named`` is the file of ``--config``; without it `find` looks where
    configurations are.  Raises `edgevoice.errors.ConfigError`, whose text has
    a line for each thing that is wrong.
    """
    path = find(named)
    return load_file(path) if path else Loaded(Settings())


def find(named: str | os.PathLike[str] | None = None) -> Path | None:
    """The file to read: a named one whether it exists or not, else the first that exists."""
    chosen = named or os.environ.get("EDGEVOICE_CONFIG")
    if chosen:
        return Path(chosen)
    # A dangling link is there, too: somebody meant it to be read.
    return next((path for path in (SYSTEM_FILE, user_file()) if os.path.lexists(path)), None)


def user_file() -> Path:
    """The configuration of the user, which need not exist."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    # The XDG specification has relative paths ignored.
    directory = base if os.path.isabs(base) else os.path.expanduser("~/.config")
    return Path(directory, "edgevoice", "edgevoice.yaml")


def load_file(path: Path) -> Loaded:
    """The configuration in ``path``; errors as in `load`."""
    tree = parse(_read(path), path)
    return Loaded(build(_effective(tree), tree.tools), path, tree.lines)


def parse(data: bytes, path: Path) -> Tree:
    """What the bytes of ``path`` say, checked; errors as in `load`."""
    problems: list[Problem] = []
    try:
        tree = read(compose(decode(data), problems))
    except BrokenDocument as broken:
        raise _error(path, [*problems, broken.problem]) from None
    if tree.tools_node is not None:
        read_tools(tree, tree.tools_node)
    problems += tree.problems
    problems += check(build(_effective(tree)), tree.lines, tree.lines.keys() - tree.values.keys())
    if problems:
        raise _error(path, problems)
    return tree


def _effective(tree: Tree) -> dict[str, Value]:
    """What the file sets, over what the profile sets; the rest are defaults."""
    profile = tree.values.get("profile", KEYS["profile"].default)
    return {**PROFILES[str(profile)], **tree.values}


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file", "edgevoice config schema prints one") from None
    except IsADirectoryError:
        raise ConfigError(f"{path}: is a directory", "name the file in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{path}: cannot be read: {reason}", "see its owner and mode") from None
    if len(data) > MAX_BYTES:
        raise ConfigError(
            f"{path}: larger than {MAX_BYTES // 1024} KiB", "this is no configuration of edgevoice"
        )
    return data


def _error(path: Path, problems: list[Problem]) -> ConfigError:
    ordered = sorted(problems, key=lambda problem: problem.line)
    told = [f"{_place(path, line)}: {text[:MAX_LENGTH]}" for line, text in ordered[:MAX_TOLD]]
    if len(ordered) > MAX_TOLD:
        told.append(f"{path}: {len(ordered) - MAX_TOLD} more errors are not shown")
    return ConfigError("\n".join(told))


def _place(path: Path, line: int) -> str:
    return f"{path}:{line}" if line else str(path)
