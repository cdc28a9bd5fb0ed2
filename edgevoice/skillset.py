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
from edgevoice.ports import Call, Device, Offer, Outcome, Task
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


class Kit:
    """What the settings decide of the skills: the tools, and the sentences that call them.

    Raises `edgevoice.errors.ConfigError` when a tool of the settings is broken.
    """

    def __init__(self, settings: Settings, device: Device, timers: Timers) -> None:
        from edgevoice.adapters.hassil import HassilSentences

        language = Language(settings.language)
        self.timer_tools = TimerTools(timers, language)
        self.tools = Registry()
        self.tools.add(*Basics(device, language).tools(), *self.timer_tools.tools())
        task_s = settings.timeouts.task_s
        self.tools.add(*(_command(tool, task_s).tool() for tool in settings.tools))
        self._add_installed()
        templates = with_sentences(language.sentences, settings.tools)
        self.intents = TemplateIntents(HassilSentences(templates), self.tools, language)
        self._examples = language.examples

    def _add_installed(self) -> None:
        for tool in installed_tools():
            try:
                self.tools.add(tool)
            except ConfigError as error:  # another's package must not keep the device from starting
                log.warning("%s; left out", error)

    def warm_up(self) -> None:
        """The first match in each list of numbers builds it, which takes a tenth of a second."""
        for example in self._examples:
            self.intents.match(example)


class Skills:
    """All that the device can do without its language model: its intents and its toolbox.

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
        directory = state_directory() if state is None else state
        self._post = post
        self._device = device
        self._timers = Timers(Store(directory / "timers.json"), self._ring)
        self._kit = self.kit(settings)

    # -- what they are made of ---------------------------------------------------------

    def kit(self, settings: Settings) -> Kit:
        """What ``settings`` make of the skills, not in force yet; the timers are the same."""
        return Kit(settings, self._device, self._timers)

    def use(self, kit: Kit) -> None:
        """Put it in force; a tool that runs is not disturbed."""
        self._kit = kit

    @property
    def offers(self) -> list[Offer]:
        """The tools as a language model gets to know them."""
        return [tool.offer for tool in self._kit.tools]

    def warm_up(self) -> None:
        """Make the first sentence as fast as the others."""
        self._kit.warm_up()

    def match(self, text: str) -> Call | None:
        """As `edgevoice.ports.Intents`."""
        return self._kit.intents.match(text)

    def run(self, name: str, arguments: str, task: Task) -> Outcome:
        """As `edgevoice.ports.Toolbox`."""
        return self._kit.tools.run(name, arguments, task)

    # -- timers --------------------------------------------------------------------------

    def start(self) -> None:
        """Let the timers run; those that were missed are announced."""
        for entry in self._timers.start():
            self._post(ev.Say(time.monotonic(), self._kit.timer_tools.missed(entry)))

    def stop(self) -> None:
        """Let them rest."""
        self._timers.stop()

    def ring_over(self, command: RingOver) -> None:
        """A timer was heard, or given up (the driver's thread, which must not wait for a disk)."""
        threading.Thread(target=self._timers.over, args=(command.ring,), name="kept").start()

    def _ring(self, entry: Entry) -> None:
        self._post(ev.Rings(time.monotonic(), entry.id, self._kit.timer_tools.rings(entry)))


_SHORT_S = 10.0
"""What a tool may take when nothing is said about it: nobody waits longer for an answer."""


def _command(tool: UserTool, task_s: float) -> CommandTool:
    """A tool of the settings, as it is run."""
    properties = {name: _schema(parameter) for name, parameter in tool.parameters.items()}
    required = tuple(name for name, parameter in tool.parameters.items() if parameter.required)
    return CommandTool(
        name=tool.name,
        description=tool.description,
        command=tool.command,
        parameters=parameters(required, **properties),
        timeout_s=tool.timeout_s or (task_s if tool.long_running else _SHORT_S),
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
