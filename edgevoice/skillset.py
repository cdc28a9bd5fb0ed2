"""The skills that the settings name, built and joined: tools, intents, timers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from edgevoice.core import events as ev
from edgevoice.core.commands import RingOver
from edgevoice.ports import Device
from edgevoice.settings.schema import Settings
from edgevoice.skills.basics import Basics
from edgevoice.skills.intents import TemplateIntents
from edgevoice.skills.language import Language
from edgevoice.skills.registry import Registry
from edgevoice.skills.store import Entry, Store, state_directory
from edgevoice.skills.timer_tools import TimerTools
from edgevoice.skills.timers import Timers


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
        self.intents = TemplateIntents(HassilSentences(language.sentences), self.tools)
        self.examples = language.examples

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
