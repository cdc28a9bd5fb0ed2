"""The skills that the settings name, built and joined: tools, intents, timers."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from edgevoice.core import events as ev
from edgevoice.core.commands import RingOver
from edgevoice.errors import ConfigError
from edgevoice.ports import Device
from edgevoice.settings.schema import Parameter, Settings, UserTool
from edgevoice.skills.basics import Basics
from edgevoice.skills.intents import TemplateIntents
from edgevoice.skills.language import Language
from edgevoice.skills.registry import Registry, parameters
from edgevoice.skills.store import Entry, Store, state_directory
from edgevoice.skills.timer_tools import TimerTools
from edgevoice.skills.timers import Timers
from edgevoice.skills.user import CommandTool, installed_tools

log = logging.getLogger(__name__)


class Skills:
    """All that the device can do without its language model.

    ``state`` is where timers are kept (None: the daemon's own directory).
    Raises `edgevoice.errors.ConfigError` when a tool of the settings is broken.
    """

    def __init__(
        self,
        settings: Settings,
        device: Device,
        post: Callable[[ev.Event], object],
        state: Path | None = None,
    ) -> None:
        from edgevoice.adapters.hassil import HassilSentences

        language = Language(settings.language)
        directory = state_directory() if state is None else state
        self._post = post
        self._timers = Timers(Store(directory / "timers.json"), self._ring)
        self._timer_tools = TimerTools(self._timers, language)
        self.tools = Registry()
        self.tools.add(*Basics(device, language).tools(), *self._timer_tools.tools())
        self.tools.add(*(_command(tool).tool() for tool in settings.tools))
        self._add_installed()
        templates = with_sentences(language.sentences, settings.tools)
        self.intents = TemplateIntents(HassilSentences(templates), self.tools, language)
        self.examples = language.examples

    def _add_installed(self) -> None:
        for tool in installed_tools():
            try:
                self.tools.add(tool)
            except ConfigError as error:  # another's package must not keep the device from starting
                log.warning("%s; left out", error)

    def start(self) -> None:
        """Let the timers run; those that were missed are announced."""
        for entry in self._timers.start():
            self._post(ev.Say(time.monotonic(), self._timer_tools.missed(entry)))

    def stop(self) -> None:
        """Let them rest."""
        self._timers.stop()

    def ring_over(self, command: RingOver) -> None:
        """A timer was heard, or given up (the driver's thread, which must not wait for a disk)."""
        threading.Thread(target=self._timers.over, args=(command.ring,), name="kept").start()

    def _ring(self, entry: Entry) -> None:
        self._post(ev.Rings(time.monotonic(), entry.id, self._timer_tools.rings(entry)))


def _command(tool: UserTool) -> CommandTool:
    """A tool of the settings, as it is run."""
    properties = {name: _schema(parameter) for name, parameter in tool.parameters.items()}
    required = tuple(name for name, parameter in tool.parameters.items() if parameter.required)
    return CommandTool(
        name=tool.name,
        description=tool.description,
        command=tool.command,
        parameters=parameters(required, **properties),
        timeout_s=tool.timeout_s,
        directory=tool.directory,
        environment=tool.environment,
        is_json=tool.output == "json",
        say=tool.say,
        long_running=tool.long_running,
    )


def _schema(parameter: Parameter) -> dict[str, Any]:
    """The JSON schema of one value."""
    schema: dict[str, Any] = {"type": parameter.type}
    if parameter.description:
        schema["description"] = parameter.description
    if parameter.type in ("integer", "number"):
        return schema | {"minimum": parameter.min, "maximum": parameter.max}
    if parameter.choices:
        return schema | {"enum": list(parameter.choices)}
    return schema | {"maxLength": 200} if parameter.type == "string" else schema


def with_sentences(templates: Mapping[str, Any], tools: Sequence[UserTool]) -> dict[str, Any]:
    """A language's templates and those of the owner's tools."""
    more = {
        tool.name: {"data": [{"sentences": list(tool.sentences), "lists": _lists(tool)}]}
        for tool in tools
        if tool.sentences
    }
    return {**templates, "intents": {**templates["intents"], **more}}


def _lists(tool: UserTool) -> dict[str, Any]:
    """What may stand for each parameter: its choices, a number, or any words."""
    return {name: _list(parameter) for name, parameter in tool.parameters.items()}


def _list(parameter: Parameter) -> dict[str, Any]:
    if parameter.type in ("integer", "number"):
        least, most = max(parameter.min, -1000), min(parameter.max, 1000)
        return {"range": {"from": int(least), "to": int(most)}}
    if parameter.choices:
        return {"values": list(parameter.choices)}
    return {"wildcard": True}
