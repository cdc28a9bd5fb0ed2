"""The device in lockstep with a room: real engines, simulated time.

Everything between the microphone and the loudspeaker is the product's own:
capture, listen (AEC3, Silero, openWakeWord), recognise (Vosk), play and the
conversation core.  They are driven one 10 ms step after the other on one
thread, so that an hour of conversation takes minutes, is the same every time,
and does not mind what else the machine is doing.  Two things are not there:
the time that computing takes, which `bench.conversation` measures, and the
language model, in whose place a text that never ends is read out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import numpy as np

from edgevoice.adapters.follower import ClockFollower
from edgevoice.adapters.resample import SoxrResampler
from edgevoice.adapters.room_air import Air
from edgevoice.adapters.room_path import FULL_SCALE
from edgevoice.adapters.scene import Acoustics
from edgevoice.adapters.talker import Utterance
from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.conversation import Conversation
from edgevoice.core.table import Place, State
from edgevoice.core.tuning import Tuning
from edgevoice.parts import wake_gate
from edgevoice.ports import (
    Deliver,
    Fill,
    Recogniser,
    Samples,
    Speech,
    SpeechDetector,
    Synthesiser,
    WakeWord,
)
from edgevoice.settings.schema import WakeWord as WakeSettings
from edgevoice.stages.capture import Capture, Heard, Reference
from edgevoice.stages.echo import EchoControl
from edgevoice.stages.listen import Listen
from edgevoice.stages.play import Chunk, End, Play
from edgevoice.stages.recognise import RecogniseStage
from edgevoice.stages.speak import placed

STEP_S = 0.01
RATE = 16_000
_STEP = RATE // 100
TIME_ERROR_S = 0.001
"""A USB card counts frames of 1 ms."""


class Voice:
    """A synthesiser that remembers what it has said, at the loudspeaker's rate."""

    def __init__(self, synthesiser: Synthesiser, rate: int) -> None:
        self._synthesiser = synthesiser
        self._rate = rate
        self._said: dict[str, list[Speech]] = {}

    def say(self, text: str) -> list[Speech]:
        """``text`` in chunks."""
        if text not in self._said:
            self._said[text] = list(self._speak(text))
        return self._said[text]

    def _speak(self, text: str) -> Iterable[Speech]:
        own = self._synthesiser.rate
        resampler = SoxrResampler(own, self._rate)
        before = 0
        for speech in self._synthesiser.speak(text, lambda: False):
            words = placed(speech, before, self._rate / own)
            yield Speech(resampler.process(speech.samples), words)
            before += len(speech.samples)
        yield Speech(resampler.finish(), ())


@dataclass
class Ears:
    """The engines that hear; shared by the devices of one process, one after the other."""

    echo: Callable[[], EchoControl]
    detector: Callable[[], SpeechDetector]
    wake: WakeWord
    recogniser: Recogniser


class _Plug:
    """A microphone or speaker whose callback the lockstep calls itself."""

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self.callback: Callable[[Samples, float], None] = lambda block, at: None

    def start(self, callback: Deliver | Fill, failed: Callable[[str], None]) -> None:
        """Remember the callback."""
        self.callback = callback

    def stop(self) -> None:
        """Forget it."""
        self.callback = lambda block, at: None


@dataclass(frozen=True, slots=True)
class Step:
    """One event that entered the core and what came out of it."""

    event: ev.Event
    commands: Sequence[cmd.Command]
    why: str


@dataclass
class Device:
    """A device that reads ``texts`` out for ever, in a room with ``utterances``."""

    acoustics: Acoustics
    utterances: Sequence[Utterance]
    ears: Ears
    voice: Voice
    texts: Sequence[str]
    tuning: Tuning = field(default_factory=Tuning)
    seed: int = 1
    observe: Callable[[Step], None] = lambda step: None
    core_type: type[Conversation] = Conversation
    wake_settings: WakeSettings = field(default_factory=WakeSettings)

    def __post_init__(self) -> None:
        self.now = 0.0
        self.steps = 0
        self.played: list[Samples] = []
        """What left the loudspeaker, a block of 160 samples a step."""
        self.heard: list[Samples] = []
        """What the microphone heard."""
        self.cancelled: list[Samples] = []
        """What the echo canceller made of it."""
        self.core = self.core_type(self.tuning)
        self._texts = cycle(self.texts)
        self._queue: list[ev.Event] = []
        self._mic, self._speaker = _Plug(RATE), _Plug(RATE)
        self._build()
        self._air = Air(self.acoustics, self.utterances, self.seed, RATE, RATE)
        self._speaker_due = 0
        self._random = np.random.default_rng(self.seed)
        self._post(ev.Ready(0.0))

    def _build(self) -> None:
        ears, post = self.ears, self._post
        reference = Reference()
        self.play = Play(post, self._speaker, reference, 0.8, self._clock)
        self.recognise = RecogniseStage(post, ears.recogniser, self._clock)
        gate = wake_gate(self.wake_settings)
        self.echo = ears.echo()
        self.listen = Listen(post, self.echo, ears.detector(), ears.wake, gate, self._cancelled)
        self.capture = Capture(
            post,
            self._mic,
            reference,
            SoxrResampler.live,
            self._listen_to,
            self._clock,
            ClockFollower(),
        )
        ears.wake.reset()
        self.play.open()
        self.capture.open()

    def _listen_to(self, pairs: Sequence[Heard]) -> None:
        for pair in pairs:
            self.listen.handle(pair)

    # -- for whoever stages it ------------------------------------------------------

    def post(self, event: ev.Event) -> None:
        """Tell the core something now."""
        self._post(event)

    def speak(self, number: int, level_db: float, delay_s: float = 0.0) -> tuple[int, int]:
        """Let an utterance begin; first and last audible sample of it at the microphone."""
        utterance = self.utterances[number]
        onset = self.steps * _STEP + round(delay_s * RATE) + utterance.onset
        self._air.speak(number, onset, utterance.onset, level_db)
        return onset, onset + utterance.end - utterance.onset

    def run(self, seconds: float) -> None:
        """Let time pass."""
        for _ in range(round(seconds / STEP_S)):
            self.step()

    def step(self) -> None:
        """10 ms."""
        self._let_play()
        leaving = self._air.propagate()
        heard = _digital(self._air.heard(bool(np.abs(leaving).max() > 0.003)))
        self.steps += 1
        self.now = self.steps * STEP_S
        self.played.append(_digital(leaving))
        self.heard.append(heard)
        self._hear(heard)
        self.play.idle()
        self._drive()

    def _hear(self, block: Samples) -> None:
        self._mic.callback(block, self.now + self._error())
        self.capture.idle()

    @property
    def speaking(self) -> bool:
        """Whether the device is in SPEAKING."""
        return self.core.place.state is State.SPEAKING

    @property
    def left_s(self) -> float:
        """Seconds of the answer that have not been played yet."""
        answer = self.core.answer
        track = None if answer is None else self.play.track(answer.turn)
        return 0.0 if answer is None or track is None else (answer.end - track.position) / RATE

    @property
    def idles(self) -> bool:
        """Whether it waits for somebody who has said nothing so far."""
        core = self.core
        if core.place is Place.IDLE:
            return True
        silent = core.answer is None and core.hearing is not None and not core.hearing.text
        return core.place is Place.LISTENING and silent and self.now - core.since > 1.0

    # -- one step -------------------------------------------------------------------

    def _clock(self) -> float:
        return self.now

    def _post(self, event: ev.Event) -> None:
        self._queue.append(event)

    def _let_play(self) -> None:
        rate = self._air.speaker_rate
        while self._speaker_due < (self.steps + 2) * STEP_S * rate:  # a sound card asks ahead
            block = np.zeros(_STEP, np.int16)
            self._speaker.callback(block, self._speaker_due / rate + self._error())
            self._air.play(block)
            self._speaker_due += _STEP

    def _error(self) -> float:
        """What a sound card's time is wrong by."""
        return float(self._random.uniform(-TIME_ERROR_S, TIME_ERROR_S))

    def _cancelled(self, sound: Any) -> None:
        self.cancelled.append(sound.samples)
        self.recognise.handle(sound)

    def _drive(self) -> None:
        while True:
            deadline = self.core.deadline
            if deadline is not None and deadline <= self.now:
                self._handle(ev.Tick(self.now))
            elif self._queue:
                self._handle(self._queue.pop(0))
            else:
                return

    def _handle(self, event: ev.Event) -> None:
        commands = self.core.handle(event)
        self.observe(Step(event, commands, self.core.why))
        for command in commands:
            self._carry_out(command)

    def _carry_out(self, command: cmd.Command) -> None:
        play = self.play
        match command:
            case cmd.Recognise() | cmd.FlushRecogniser() | cmd.StopRecognising():
                self.recognise.handle(command)
            case cmd.Generate():
                self._post(ev.Token(self.now, command.turn, next(self._texts)))
                self._post(ev.ReplyDone(self.now, command.turn))
            case cmd.Synthesise():
                for speech in self.voice.say(command.text):
                    chunk = (command.turn, command.piece, speech.samples, speech.words, RATE)
                    play.handle(Chunk(*chunk))
            case cmd.EndSpeech():
                play.handle(End(command.turn))
            case cmd.StartPlayback():
                play.let_out(command.turn)
            case cmd.HoldPlayback():
                play.hold(command.turn)
            case cmd.ResumePlayback():
                play.resume(command.turn, command.position)
            case cmd.DropPlayback():
                play.drop(command.turn)
            case cmd.PlayEarcon():
                play.chime(command.name)
            case cmd.Transition():
                self.listen.device_speaks = command.target.state is State.SPEAKING


def _digital(signal: Any) -> Samples:
    return np.clip(np.rint(signal * FULL_SCALE), -FULL_SCALE, FULL_SCALE - 1).astype(np.int16)
