"""The way from the sound to the end of the turn, in time counted in samples.

The real stages, engines and core, called one after the other on one thread: no clock is
read, so the figures do not depend on what else the machine does.  What an engine's work
takes is a constant, taken from its slow end.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from edgevoice.adapters.aec import NoEchoFilter, Passthrough, WebRtcHighPass
from edgevoice.adapters.vad import SileroDetector
from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.commands import Message
from edgevoice.core.conversation import Conversation
from edgevoice.core.events import RATE
from edgevoice.core.table import Place, State
from edgevoice.core.tuning import Tuning
from edgevoice.ports import FRAME, EndOfTurn, Hypothesis, Recogniser, Samples
from edgevoice.stages.capture import Heard
from edgevoice.stages.echo import EchoControl
from edgevoice.stages.judge_end import JudgeEndStage
from edgevoice.stages.listen import Listen, WakeGate
from edgevoice.stages.recognise import RecogniseStage, Sound

FLUSH_S = 0.1
"""A final result takes 6 to 110 ms."""
VERDICT_S = 0.1
"""Smart Turn takes 42 ms where nothing else runs."""
WORDS_S = 0.1
"""The language model takes 40 ms for the words that it has not read ahead and its opening."""

JudgeWords = Callable[[tuple[Message, ...]], float | None]
"""The language model's verdict, by the messages of `edgevoice.core.commands.JudgeWords`."""


class _NoWakeWord:
    lag_ms = 0
    chunk = RATE

    def score(self, audio: Samples) -> tuple[str, float]:
        return "", 0.0

    def reset(self) -> None:
        pass


@dataclass(frozen=True)
class Heeded:
    """One utterance as the ear passes it on: each block of sound, and the event about it."""

    blocks: tuple[tuple[Sound, ev.SoundFrame], ...]


def heed(audio: Samples) -> Heeded:
    """Through the detector, which no policy can influence: once is enough."""
    sounds: list[Sound] = []
    events: list[ev.Event] = []
    gate = WakeGate(1.0, 1.0, 1)
    echo = EchoControl(Passthrough(), NoEchoFilter(), WebRtcHighPass())
    ear = Listen(events.append, echo, SileroDetector(), _NoWakeWord(), gate, sounds.append)
    silence = np.zeros(FRAME, np.int16)
    for end in range(FRAME, len(audio) + 1, FRAME):
        ear.handle(Heard(audio[end - FRAME : end], silence, end, end / RATE))
    told = [event for event in events if isinstance(event, ev.SoundFrame)]
    return Heeded(tuple(zip(sounds, told, strict=True)))


class Remembered:
    """A recogniser that is asked the same twice answers from memory.

    Policies differ in when they decide, seldom in what they ask of the recogniser.  What
    it is asked is a path from `begin` on; the real one follows when the path is new.
    """

    def __init__(self, make: Callable[[], Recogniser], memory: dict[bytes, Hypothesis]) -> None:
        self._make = make
        self._real: Recogniser | None = None
        self._memory = memory
        self._path: list[Samples | None] = []
        self._followed = 0
        self._key = b""
        self._apart: tuple[str, ...] = ()

    def begin(self, apart: Sequence[str] = ()) -> None:
        """Forget everything; a new utterance starts."""
        self._path.clear()
        self._apart = tuple(apart)
        self._followed, self._key = 0, " ".join(apart).encode()
        if self._real is not None:
            self._real.begin(apart)

    def accept(self, audio: Samples) -> Hypothesis:
        """Take more audio."""
        return self._ask(audio)

    def flush(self) -> Hypothesis:
        """The final result of all audio so far."""
        return self._ask(None)

    def _ask(self, audio: Samples | None) -> Hypothesis:
        self._path.append(audio)
        said = b"flush" if audio is None else audio.tobytes()
        self._key = hashlib.blake2b(self._key + said, digest_size=16).digest()
        if self._key not in self._memory:
            self._memory[self._key] = self._follow()
        return self._memory[self._key]

    def _follow(self) -> Hypothesis:
        if self._real is None:
            self._real = self._make()
            self._real.begin(self._apart)
        todo, self._followed = self._path[self._followed :], len(self._path)
        answers = [self._real.flush() if a is None else self._real.accept(a) for a in todo]
        return answers[-1]


class Verdicts:
    """A judge of pauses that remembers, as `Remembered` does."""

    def __init__(self, judge: EndOfTurn) -> None:
        self._judge = judge
        self._memory: dict[bytes, float] = {}
        self.window = judge.window

    def probability(self, audio: Samples) -> float:
        """Probability that who spoke has finished."""
        key = hashlib.blake2b(audio.tobytes(), digest_size=16).digest()
        if key not in self._memory:
            self._memory[key] = self._judge.probability(audio)
        return self._memory[key]


class House:
    """One conversation that hears one utterance."""

    def __init__(
        self, tuning: Tuning, recogniser: Recogniser, judge: EndOfTurn, whole: JudgeWords
    ) -> None:
        self._whole = whole
        self._core = Conversation(tuning)
        self._recognise = RecogniseStage(self._comes, recogniser)
        self._judge_end = JudgeEndStage(self._comes, judge)
        self._due: list[tuple[float, int, ev.Event]] = []
        self._order = count()
        self._now = 0.0
        self._decided: list[int] = []

    def hear(self, heeded: Heeded) -> list[int]:
        """The samples at which it took the turn."""
        self._handle(ev.Ready(0.0))
        self._handle(ev.StartConversation(0.0))
        for sound, frame in heeded.blocks:
            self._now = sound.end / RATE
            self._recognise.handle(sound)
            self._judge_end.keep(sound)
            for event in self._arrived():
                self._handle(event)
            self._handle(frame)
        return self._decided

    def _comes(self, event: ev.Event) -> None:
        """A stage has an answer; its work takes time."""
        match event:
            case ev.Transcript(final=True):
                at = self._now + FLUSH_S
            case ev.TurnVerdict():
                at = self._now + VERDICT_S
            case ev.WordsVerdict():
                at = self._now + WORDS_S
            case _:
                at = self._now
        heapq.heappush(self._due, (at, next(self._order), replace(event, at=at)))

    def _arrived(self) -> Iterator[ev.Event]:
        while self._due and self._due[0][0] <= self._now:
            yield heapq.heappop(self._due)[2]
        deadline = self._core.deadline
        if deadline is not None and deadline <= self._now:
            yield ev.Tick(self._now)

    def _handle(self, event: ev.Event) -> None:
        thought = self._core.place is Place.WAITING_FOR_LLM
        for command in self._core.handle(event):
            match command:
                case cmd.Recognise() | cmd.FlushRecogniser() | cmd.StopRecognising():
                    self._recognise.handle(command)
                case cmd.JudgeEnd():
                    self._judge_end.handle(command)
                case cmd.JudgeWords():
                    whole = self._whole(command.messages)
                    if whole is not None:
                        self._comes(ev.WordsVerdict(0.0, command.turn, whole, command.until))
                case cmd.Transition(source=source) if source.state is State.LISTENING:
                    self._decided.append(self._core.heard_until)
                case cmd.Generate() if thought:  # words came late: asked again
                    self._decided.append(self._core.heard_until)
                case _:
                    pass
