"""Tools of the owner's: commands of the configuration, and Python entry points."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from tempfile import TemporaryDirectory
from typing import Any

from edgevoice.core.speakable import speakable
from edgevoice.ports import Outcome, Task
from edgevoice.skills.commands import CommandError, Limits, run
from edgevoice.skills.registry import Arguments, Tool, failure

log = logging.getLogger(__name__)

GROUP = "edgevoice.tools"
"""Entry points of this group are a `Tool`, or a callable that returns tools."""


@dataclass(frozen=True)
class CommandTool:
    """A command that is run for a tool."""

    name: str
    description: str
    command: Sequence[str]
    """Program and arguments; ``{parameter}`` stands for a value."""
    parameters: Arguments
    """JSON schema of the values."""
    timeout_s: float = 10.0
    directory: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    is_json: bool = False
    """It prints an object with ``result`` and ``say``, not text."""
    say: str = ""
    long_running: bool = False

    def tool(self) -> Tool:
        """As the registry takes it."""
        return Tool(self.name, self.description, self.run, self.parameters, self.long_running)

    def run(self, arguments: Arguments, task: Task) -> Outcome:
        """Run the command and read what it has to tell."""
        for name, value in arguments.items():
            if isinstance(value, str) and value.startswith("-"):
                return failure(f"{self.name}: {name} must not begin with -")
        values = {name: _text(arguments.get(name, "")) for name in self.parameters["properties"]}
        # A value is one argument, whole or in part: it can bring no other argument and no shell.
        command = [argument.format_map(values) for argument in self.command]
        with TemporaryDirectory(prefix="edgevoice-tool-") as own:
            limits = Limits(self.timeout_s, self.directory or own, self.environment)
            try:
                printed = run(command, limits, task.cancelled, task.beat)
            except CommandError as error:
                return failure(f"{self.name}: {error}")
        return self._outcome_of_json(printed) if self.is_json else self._told(printed.strip())

    def _outcome_of_json(self, printed: str) -> Outcome:
        try:
            data = json.loads(printed)
        except (ValueError, RecursionError):
            return failure(f"{self.name}: it printed no JSON")
        if not isinstance(data, dict):
            return failure(f"{self.name}: it printed no JSON object")
        if "error" in data:
            return failure(str(data["error"]))
        return self._told(_text(data.get("result", "")), _text(data.get("say", "")))

    def _told(self, result: str, said: str = "") -> Outcome:
        return Outcome(result or "done", speakable(said or self.say))


def _text(value: Any) -> str:
    """A JSON value as a word on a command line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.replace("\0", "")


def installed_tools() -> Iterator[Tool]:
    """The tools of every installed package that has some; a broken package costs its own only."""
    for point in entry_points(group=GROUP):
        try:
            yield from _tools_of(point)
        except Exception as error:  # another's code may raise anything
            log.warning("tools of %s: %s: %s", point.value, type(error).__name__, error)


def _tools_of(point: EntryPoint) -> list[Tool]:
    found = point.load()
    tools = [found] if isinstance(found, Tool) else [*found()]
    if not all(isinstance(tool, Tool) for tool in tools):
        raise TypeError("not a Tool")
    return tools
