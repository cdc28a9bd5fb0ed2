"""The engine stages of the house: how each is made, and made again.

The stages are wired to whatever stage is at work next to them now, not to the
one that was there at the start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from edgevoice.core.commands import Message
from edgevoice.engines import Engines, Workshop
from edgevoice.errors import EngineError
from edgevoice.ports import (
    EndOfTurn,
    LanguageModel,
    Offer,
    Recogniser,
    Resampler,
    SpeechDetector,
    Synthesiser,
    WakeWord,
)
from edgevoice.runtime.stage import Post
from edgevoice.runtime.supervisor import Part
from edgevoice.settings.schema import Settings
from edgevoice.settings.schema import WakeWord as WakeSettings
from edgevoice.stages.echo import EchoControl
from edgevoice.stages.judge_end import JudgeEndStage
from edgevoice.stages.listen import Listen, WakeGate
from edgevoice.stages.play import Play
from edgevoice.stages.recognise import RecogniseStage, Sound
from edgevoice.stages.speak import Speak
from edgevoice.stages.think import Think


class Parts:
    """The stages with engines; each may be replaced while the device runs."""

    def __init__(
        self,
        settings: Settings,
        engines: Engines,
        post: Post,
        play: Play,
        resampler: Callable[[int, int], Resampler],
        offers: Callable[[], Sequence[Offer]] = tuple,
    ) -> None:
        self.settings = settings
        self._post = post
        self._play = play
        self._resampler = resampler
        self._offers = offers
        """The tools of the moment, for a language model that is trusted with them."""
        self.recognise = Part(
            self._recognising(engines.recogniser),
            lambda: self._recognising(self._workshop.recogniser()),
        )
        self.judge_end = Part(
            self._judging(engines.end_of_turn),
            lambda: self._judging(self._workshop.end_of_turn()),
            lambda _reason: self._judging(None),
        )
        self.listen = Part(
            self._listening(engines.echo, engines.detector, engines.wake),
            lambda: self._listening(
                self._workshop.echo(), self._workshop.detector(), self._workshop.wake()
            ),
        )
        self.think = Part(
            self._thinking(engines.model, engines.model_uses_tools),
            lambda: self._thinking(
                self._workshop.language_model(), self._workshop.model_uses_tools
            ),
            lambda reason: self._thinking(NoModel(reason), False),
        )
        self.speak = Part(
            self._speaking(engines.synthesiser),
            lambda: self._speaking(self._workshop.synthesiser()),
            lambda reason: self._speaking(NoVoice(reason, play.rate)),
        )

    @property
    def by_name(self) -> Mapping[str, Part[Any]]:
        """The parts by the names of their stages, in the order in which they start."""
        parts: Sequence[Part[Any]] = (
            self.speak,
            self.think,
            self.judge_end,
            self.recognise,
            self.listen,
        )
        return {part.stage.name: part for part in parts}

    def set_wake_word(self, wake: WakeSettings) -> None:
        """Other thresholds, from the next score on."""
        self.listen.stage.gate = wake_gate(wake)

    @property
    def _workshop(self) -> Workshop:
        """Of the settings as they are now."""
        return Workshop(self.settings)

    def _recognising(self, recogniser: Recogniser) -> RecogniseStage:
        return RecogniseStage(self._post, recogniser)

    def _listening(self, echo: EchoControl, detector: SpeechDetector, wake: WakeWord) -> Listen:
        gate = wake_gate(self.settings.wake_word)
        return Listen(self._post, echo, detector, wake, gate, self._heard)

    def _heard(self, sound: Sound) -> None:
        """The cancelled sound, for whoever makes something of it (the thread of `listen`)."""
        self.recognise.stage.hear(sound)
        self.judge_end.stage.keep(sound)

    def _judging(self, judge: EndOfTurn | None) -> JudgeEndStage:
        return JudgeEndStage(self._post, judge)

    def _thinking(self, model: LanguageModel, uses_tools: bool) -> Think:
        if uses_tools:
            model.tools = self._offers()
        return Think(self._post, model)

    def _speaking(self, synthesiser: Synthesiser) -> Speak:
        play = self._play
        return Speak(self._post, synthesiser, lambda: play.rate, self._resampler, play.post)


def wake_gate(wake: WakeSettings) -> WakeGate:
    """When a score of the wake engine counts, by the settings."""
    return WakeGate(wake.threshold, wake.threshold_while_speaking, wake.patience)


class NoModel:
    """Stands in for a language model that cannot be loaded: all it can say is why.

    The core asks again, excuses itself, and has the model built anew the next time.
    """

    tools: Sequence[Offer] = ()

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def reply(self, messages: Sequence[Message], cancelled: Callable[[], bool]) -> Iterator[str]:
        """Raises `EngineError`."""
        raise EngineError(self._reason)

    def prefill(self, messages: Sequence[Message], cancelled: Callable[[], bool]) -> None:
        """There is nothing to read ahead with; the reply tells."""

    def anticipate(
        self, messages: Sequence[Message], tokens: int, cancelled: Callable[[], bool]
    ) -> Iterator[None]:
        """Nor to guess with."""
        return iter(())

    def whole(self, messages: Sequence[Message], cancelled: Callable[[], bool]) -> None:
        """Nobody can tell."""

    def count_tokens(self, text: str) -> int:
        """Nobody will read it."""
        return 0


class NoVoice:
    """Stands in for a voice that cannot be loaded: the light and an earcon must do."""

    def __init__(self, reason: str, rate: int) -> None:
        self._reason = reason
        self.rate = rate

    def speak(self, text: str, cancelled: Callable[[], bool]) -> Iterator[Any]:
        """Raises `EngineError`."""
        raise EngineError(self._reason)
