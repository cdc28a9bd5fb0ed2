"""The tools that need nothing but the clock and the device itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

from edgevoice.core.events import Mute
from edgevoice.ports import Device, Outcome, Task
from edgevoice.skills.language import Language
from edgevoice.skills.registry import Arguments, Tool, parameters

VOLUME_STEP = 15
"""Of 100: three steps are clearly heard, and seven lead from one end to the other."""


class Basics:
    """Time, volume, and the conversation itself, in one language."""

    def __init__(
        self, device: Device, language: Language, now: Callable[[], datetime] = datetime.now
    ) -> None:
        self._device = device
        self._language = language
        self._now = now

    def tools(self) -> tuple[Tool, ...]:
        """All of them."""
        percent = {"type": "integer", "minimum": 0, "maximum": 100}
        direction = {"enum": ["up", "down"]}
        return (
            Tool("time", "Tell the time of day.", self.tell_time),
            Tool("date", "Tell today's date and weekday.", self.tell_date),
            Tool(
                "volume_set",
                "Set how loud the voice is, in percent.",
                self.set_volume,
                parameters(("percent",), percent=percent),
            ),
            Tool(
                "volume_change",
                "Make the voice louder or quieter.",
                self.change_volume,
                parameters(("direction",), direction=direction),
            ),
            Tool("volume_get", "Tell how loud the voice is.", self.tell_volume),
            Tool("mute", "Close the microphone until the button is pressed.", self.mute),
            Tool("repeat", "Say the last answer again.", self.repeat),
            Tool("help", "Tell what the device can do.", self.help),
            Tool("stop", "End the conversation.", lambda arguments, task: Outcome()),
        )

    def tell_time(self, arguments: Arguments, task: Task) -> Outcome:
        """The time."""
        now = self._now()
        return Outcome(
            f"{now:%H:%M}", self._language.say("time", time=self._language.clock(now.time()))
        )

    def tell_date(self, arguments: Arguments, task: Task) -> Outcome:
        """The date."""
        today = self._now().date()
        return Outcome(
            f"{today:%A} {today}", self._language.say("date", date=self._language.date(today))
        )

    def set_volume(self, arguments: Arguments, task: Task) -> Outcome:
        """Set the volume."""
        self._device.volume = arguments["percent"]
        return self.tell_volume(arguments, task)

    def change_volume(self, arguments: Arguments, task: Task) -> Outcome:
        """One step up or down."""
        step = VOLUME_STEP if arguments["direction"] == "up" else -VOLUME_STEP
        wanted = self._device.volume + step
        self._device.volume = max(0, min(100, wanted))
        at_end = wanted != self._device.volume
        return self._volume("volume_limit" if at_end else "volume")

    def tell_volume(self, arguments: Arguments, task: Task) -> Outcome:
        """How loud it is."""
        return self._volume("volume")

    def _volume(self, key: str) -> Outcome:
        percent = self._device.volume
        said = self._language.say(key, percent=self._language.number(percent))
        return Outcome(f"{percent} percent", said)

    def mute(self, arguments: Arguments, task: Task) -> Outcome:
        """Close the microphone: the sound and the light of the mute say so, not words."""
        return Outcome(then=Mute(time.monotonic()))

    def repeat(self, arguments: Arguments, task: Task) -> Outcome:
        """The last answer again."""
        said = self._device.last_answer or self._language.say("nothing_said")
        return Outcome(said, said)

    def help(self, arguments: Arguments, task: Task) -> Outcome:
        """What one can say."""
        said = self._language.say("help")
        return Outcome(said, said)
