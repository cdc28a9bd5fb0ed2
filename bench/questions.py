"""Questions asked one after the other, in paced time: how long each waits for its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

from bench.lockstep import RATE, STEP_S, Ears, Step, Voice
from bench.paced import PacedDevice
from edgevoice.adapters.scene import Scene
from edgevoice.adapters.scene_file import load_scene
from edgevoice.adapters.talker import Utterance, rehearse, voice
from edgevoice.core import commands as cmd
from edgevoice.demo.play import voice_maker
from edgevoice.engines import Workshop
from edgevoice.ports import LanguageModel, Synthesiser
from edgevoice.settings.loader import load_file
from edgevoice.settings.schema import Settings, tuning
from edgevoice.trace import Recorder

AUDIBLE = 300
"""Of 32768: −41 dB, above the room and below speech."""
_PAUSE_S = 0.8
_PATIENCE_S = 20.0


@dataclass
class Held:
    """A conversation that was held."""

    waits_ms: list[float] = field(default_factory=list)
    """From the end of each question to the first audible sample of its answer."""
    turns: list[cmd.TurnRecord] = field(default_factory=list)
    cut_off: int = 0
    """Questions that were answered before they were over."""
    unanswered: int = 0
    starved: int = 0
    """Blocks in which the voice ran dry."""
    trace: Path = field(default_factory=lambda: Path(mkdtemp(prefix="edgevoice-")) / "events.jsonl")


class House:
    """The engines, loaded once, and the talker, who has rehearsed a scene once.

    ``settings`` name the model's threads, for its time is shared out among them.
    """

    def __init__(self, scene: Path, settings: Settings) -> None:
        self.scene: Scene = load_scene(scene)
        self._workshop = Workshop(settings)
        self._settings = settings

    @cached_property
    def lines(self) -> list[Utterance]:
        """What the talker will say."""
        speak = voice(self.scene.voice, voice_maker(self._settings))
        return rehearse(self.scene.lines, speak, RATE)

    @cached_property
    def ears(self) -> Ears:
        """Echo control, detector, wake word, recogniser."""
        shop = self._workshop
        return Ears(shop.echo, shop.detector, shop.wake(), shop.recogniser())

    @cached_property
    def model(self) -> LanguageModel:
        """The language model."""
        return self._workshop.language_model()

    @cached_property
    def synthesiser(self) -> Synthesiser:
        """The voice."""
        return self._workshop.synthesiser()

    def hold(self, configuration: str, rounds: int = 1) -> Held:
        """Ask every question of the scene, of a device with the text of a configuration.

        Of a new one in each of ``rounds``; the trace is that of the last.
        """
        held = Held()
        for _ in range(rounds):
            self._hold(configuration, held)
        return held

    def device(
        self,
        settings: Settings,
        utterances: Sequence[Utterance],
        observe: Callable[[Step], None],
    ) -> PacedDevice:
        """A new device with these settings, in the scene's room with ``utterances``."""
        return PacedDevice(
            acoustics=self.scene.acoustics,
            utterances=utterances,
            ears=self.ears,
            voice=Voice(self.synthesiser, RATE),
            texts=(),
            tuning=tuning(settings),
            observe=observe,
            model=self.model,
            synthesiser=self.synthesiser,
            threads=self._settings.llm.threads,
            end_of_turn=Workshop(settings).end_of_turn(),
        )

    def _hold(self, configuration: str, held: Held) -> None:
        file = held.trace.with_name("edgevoice.yaml")
        file.write_text(configuration)
        with held.trace.open("w") as trace:
            settings = load_file(file).settings
            recorder = Recorder(trace, tuning(settings), 0.0)
            device = self.device(settings, self.lines, lambda step: _watch(step, recorder, held))
            for number in range(len(self.lines)):
                _ask(device, number, held)
        held.starved += device.play.starved


def _watch(step: Step, recorder: Recorder, held: Held) -> None:
    recorder(step.event, step.commands)
    held.turns += [c for c in step.commands if isinstance(c, cmd.TurnRecord)]


def _ask(device: PacedDevice, number: int, held: Held) -> None:
    """One question, and its answer to the end."""
    device.run(_PAUSE_S)
    _, end = device.speak(number, 0.0)
    answers = len(held.turns)
    held.cut_off += _until(device, lambda: device.core.answer is not None, end / RATE)
    device.run(end / RATE - device.now)
    if not _until(device, lambda: device.speaking, device.now + _PATIENCE_S):
        held.unanswered += 1
        return
    began = device.steps - 1
    _until(device, lambda: len(held.turns) > answers, device.now + _PATIENCE_S)
    held.waits_ms.append(_first_sound_ms(device, began) - 1000 * end / RATE)


def _until(device: PacedDevice, reached: Callable[[], bool], deadline: float) -> bool:
    """Let time pass until it is so, or the simulated ``deadline``; whether it is so."""
    while not reached() and device.now < deadline:
        device.step()
    return reached()


def _first_sound_ms(device: PacedDevice, step: int) -> float:
    """When the loudspeaker is first to be heard from ``step`` on."""
    sound = np.concatenate(device.played[step:])
    return 1000 * (step * STEP_S + int(np.argmax(np.abs(sound.astype(np.int32)) > AUDIBLE)) / RATE)
