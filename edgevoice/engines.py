"""The engines that the settings name, built behind their ports.

Each is imported when it is built, so that nothing is loaded that is not used.
Every method raises `edgevoice.errors.ModelError` when its model is missing or
broken.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from edgevoice.ports import (
    EchoCanceller,
    EndOfTurn,
    LanguageModel,
    Recogniser,
    SpeechDetector,
    Synthesiser,
    WakeWord,
)
from edgevoice.settings.schema import Settings
from edgevoice.stages.alignment import Alignment
from edgevoice.stages.echo import EchoControl

TRUSTED_BYTES = 600_000_000
"""A file of a model with about a billion parameters, at 4 bits each.

The starter model, at 98 MB, is no help: see `bench.intents`.
"""

TOOLS_TOKENS = 2048
"""Room for the list of tools, besides the conversation's; the device's own take 1,300."""
_END_OF_TURN = ("smart-turn-v3.2", "end-of-turn")


@dataclass
class Engines:
    """One of each that is needed."""

    echo: EchoControl
    detector: SpeechDetector
    wake: WakeWord
    recogniser: Recogniser
    model: LanguageModel
    synthesiser: Synthesiser
    model_uses_tools: bool = False
    """Whether the language model is to know of the tools."""
    end_of_turn: EndOfTurn | None = None
    """None where ``turn.policy`` has no use for one."""


class Workshop:
    """Builds engines, and builds one again when it has failed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def all(self) -> Engines:
        """All of them, side by side: most of loading is reading and waiting."""
        with ThreadPoolExecutor(4) as pool:
            recogniser = pool.submit(self.recogniser)
            model = pool.submit(self.language_model)
            voice = pool.submit(self.synthesiser)
            wake = pool.submit(self.wake)
            end_of_turn = pool.submit(self.end_of_turn)
            return Engines(
                echo=self.echo(),
                detector=self.detector(),
                wake=wake.result(),
                recogniser=recogniser.result(),
                model=model.result(),
                synthesiser=voice.result(),
                model_uses_tools=self.model_uses_tools,
                end_of_turn=end_of_turn.result(),
            )

    def require(self, parts: Sequence[str]) -> None:
        """Look whether the models of these stages are there, without loading any."""
        settings = self._settings
        named = {
            "listen": (settings.wake_word.model, "wake"),
            "recognise": (settings.recogniser.model, "asr"),
            "think": (settings.llm.model, "llm"),
            "speak": (settings.tts.voice, "tts"),
        }
        if settings.turn.judges_sound:
            named["judge_end"] = _END_OF_TURN
        for part in parts:
            if part in named:
                self._path(*named[part])

    def echo(self) -> EchoControl:
        """Echo cancellation, or none."""
        from edgevoice.adapters import aec
        from edgevoice.adapters.kalman import KalmanEchoFilter

        audio, high_pass = self._settings.audio, aec.WebRtcHighPass()
        if audio.echo == "none":
            return EchoControl(aec.Passthrough(), aec.NoEchoFilter(), high_pass)
        canceller: EchoCanceller
        if audio.echo == "livekit":
            canceller = aec.LivekitEchoCanceller(audio.delay_ms)
        else:
            canceller = aec.WebRtcEchoCanceller(audio.delay_ms)
        return EchoControl(canceller, KalmanEchoFilter(), high_pass, Alignment())

    def detector(self) -> SpeechDetector:
        """Speech detection."""
        from edgevoice.adapters.vad import SileroDetector

        return SileroDetector()

    def wake(self) -> WakeWord:
        """The wake word."""
        from edgevoice.adapters.wakeword import OpenWakeWord

        phrase = self._path(self._settings.wake_word.model, "wake")
        return OpenWakeWord([phrase], self._path("openwakeword", "wake-features"))

    def recogniser(self) -> Recogniser:
        """Speech recognition."""
        from edgevoice.adapters.vosk import VoskRecogniser

        return VoskRecogniser(self._path(self._settings.recogniser.model, "asr"))

    def end_of_turn(self) -> EndOfTurn | None:
        """The judge of pauses, if the turn policy wants one."""
        if not self._settings.turn.judges_sound:
            return None
        from edgevoice.adapters.smart_turn import SmartTurn

        return SmartTurn(self._path(*_END_OF_TURN))

    def language_model(self) -> LanguageModel:
        """The language model."""
        from edgevoice.adapters.llama import LlamaModel

        llm = self._settings.llm
        cores = os.cpu_count() or 1
        # With cores to spare the recogniser and the audio keep one for themselves.
        threads = llm.threads or (cores - 1 if cores > 2 else cores)
        return LlamaModel(
            self._path(llm.model, "llm"),
            context_tokens=self._settings.history.context_tokens
            + (TOOLS_TOKENS if self.model_uses_tools else 0),
            threads=threads,
            # While the user speaks they do so in any case.
            threads_ahead=max(1, min(threads, cores - 1)),
            max_tokens=llm.max_tokens,
            temperature=llm.temperature,
            repeat_penalty=llm.repeat_penalty,
        )

    @property
    def model_uses_tools(self) -> bool:
        """Whether the language model is trusted with the tools."""
        llm = self._settings.llm
        if llm.tools != "auto":
            return llm.tools == "on"
        return self._path(llm.model, "llm").stat().st_size >= TRUSTED_BYTES

    def synthesiser(self) -> Synthesiser:
        """The voice."""
        from edgevoice.adapters.piper import PiperSynthesiser

        tts = self._settings.tts
        return PiperSynthesiser(
            self._path(tts.voice, "tts"),
            self._directory / "prepared",
            length_scale=tts.length_scale,
            threads=tts.threads,
        )

    @property
    def _directory(self) -> Path:
        from edgevoice.models.paths import models_directory

        named = self._settings.models.directory
        return Path(named).expanduser() if named else models_directory()

    def _path(self, name: str, role: str) -> Path:
        from edgevoice.models.paths import resolve

        return resolve(name, role, self._directory)
