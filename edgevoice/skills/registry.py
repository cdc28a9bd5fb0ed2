"""The one registry of tools."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from edgevoice.errors import ConfigError
from edgevoice.ports import Offer, Outcome, Task

log = logging.getLogger(__name__)

Arguments: TypeAlias = Mapping[str, Any]
Check: TypeAlias = Callable[[Any], Any]


def parameters(required: tuple[str, ...] = (), /, **properties: Mapping[str, Any]) -> Arguments:
    """A JSON schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


@dataclass(frozen=True)
class Tool:
    """Something that can be asked for by name."""

    name: str
    description: str
    """For the language model: one sentence in English."""
    run: Callable[[Arguments, Task], Outcome]
    """Does it, with arguments that fit ``parameters``; may block, and may raise."""
    parameters: Arguments = field(default_factory=parameters)
    """JSON schema (draft 7) of the arguments, an object."""
    long_running: bool = False
    """A task: its progress is spoken, and it may take minutes."""

    @property
    def offer(self) -> Offer:
        """As the language model gets to know it."""
        return Offer(self.name, self.description, self.parameters, self.long_running)


class Registry:
    """Tools by name.  Any thread may run them."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}
        self._checks: dict[str, Check] = {}

    def add(self, *tools: Tool) -> None:
        """Add tools; raises `ConfigError` when a name is taken or a schema is none."""
        for tool in tools:
            if tool.name in self._tools:
                raise ConfigError(f"tool {tool.name}: there is one of that name already")
            self._checks[tool.name] = _compiled(tool)
            self._tools[tool.name] = tool

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def accepts(self, name: str, arguments: Arguments) -> bool:
        """Whether there is such a tool and the arguments fit its schema."""
        return name in self._tools and not self._complaint(name, arguments)

    def run(self, name: str, arguments: str, task: Task) -> Outcome:
        """Run ``name`` with ``arguments``, a JSON object; never raises.

        Whatever goes wrong is an outcome with an error, as the model gets to see it.
        """
        if name not in self._tools:
            return failure(f"there is no tool named {name}")
        try:
            values = json.loads(arguments)
        except (ValueError, RecursionError):
            return failure("the arguments are not JSON")
        if complaint := self._complaint(name, values):
            return failure(complaint)
        try:
            return self._tools[name].run(values, task)
        except Exception as error:  # a tool may raise anything
            # Not its text, which may quote the arguments, and so what somebody said.
            log.warning("tool %s failed: %s", name, type(error).__name__)
            return failure(f"{type(error).__name__}: {error}")

    def _complaint(self, name: str, values: Any) -> str:
        """What is wrong with the arguments; empty when they fit."""
        from fastjsonschema import JsonSchemaValueException

        try:
            self._checks[name](values)
        except JsonSchemaValueException as error:
            return str(error.message)
        return ""


def failure(reason: str) -> Outcome:
    """An outcome that is an error."""
    return Outcome(json.dumps({"error": reason}, ensure_ascii=False))


def _compiled(tool: Tool) -> Check:
    import fastjsonschema

    try:
        # Defaults would be written into what the caller passed; a format would need a regex.
        check: Check = fastjsonschema.compile(
            {"$schema": "http://json-schema.org/draft-07/schema#", **tool.parameters},
            use_default=False,
        )
    except Exception as error:  # whatever it finds in a schema that is none
        raise ConfigError(
            f"tool {tool.name}: its parameters are no JSON schema ({error})",
            "see docs/skills.md",
        ) from None
    return check
