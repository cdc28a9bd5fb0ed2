"""Sounds over the voice of a device that talks on, in lockstep: what became of each.

The device is the product whole but for its language model (`bench.lockstep`).
Whether it is silent is taken from the tape of its loudspeaker.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from bench import material
from bench.lockstep import RATE, STEP_S, Device, Step
from bench.material import Kind, Sound
from bench.words import heard_at_the_end, words_wrong
from edgevoice.adapters.scene import Acoustics
from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.table import Place
from edgevoice.core.tuning import Tuning

_WARM_S = 6.0
"""Of the device's own voice, before the first sound."""
_PAUSE_S = (1.5, 4.0)
_LEFT_S = 6.0
"""The answer must have as much left, or it might end by itself."""
_AFTER_S, _ANSWER_S = 3.0, 8.0
"""A verdict comes within this of the sound's end, and the next answer within that."""
_TAPE_S = 12.0
"""What the recogniser hears of an answer that was cut."""
_AUDIBLE = 30
"""Of 32768: -61 dB."""


@dataclass
class Outcome:
    """What became of one sound.  Times in seconds from its onset at the microphone."""

    kind: Kind
    text: str
    level_db: float
    length_s: float
    holds: list[float] = field(default_factory=list)
    fades: list[float] = field(default_factory=list)
    """From each hold to the last audible sample."""
    commit: float | None = None
    listening: float | None = None
    """LISTENING after the commit."""
    asked: float | None = None
    """The question that interrupted goes to the language model."""
    question: str = ""
    repeated: list[int] = field(default_factory=list)
    """Words that were heard whole before a hold and again after it."""
    lost: list[int] = field(default_factory=list)
    history_wrong: int | None = None
    """Words that the history has too many or too few after the cut."""
    why: str = ""


@dataclass(frozen=True)
class Session:
    """What is tried in one sitting."""

    acoustics: Acoustics
    sounds: Sequence[Sound]
    seed: int = 1
    tuning: Tuning = field(default_factory=Tuning)


def hold_session(session: Session) -> list[Outcome]:
    """Let every sound be heard once."""
    return _Stage(session).outcomes()


class _Stage:
    def __init__(self, session: Session) -> None:
        self._sounds = session.sounds
        self._random = random.Random(session.seed)
        self._steps: list[Step] = []
        self.device = Device(
            session.acoustics,
            [sound.utterance for sound in session.sounds],
            material.ears(),
            material.own_voice(),
            [material.TEXT],
            session.tuning,
            session.seed,
            observe=self._steps.append,
        )
        self._waits = _WARM_S
        self._playing = 0.0
        self._position = self._began = 0
        self.device.run(0.5)

    def outcomes(self) -> list[Outcome]:
        """One after the other."""
        return [self._try(number) for number in range(len(self._sounds))]

    def _try(self, number: int) -> Outcome:
        sound = self._sounds[number]
        while not self._is_time():
            self._step()
        onset, end = self.device.speak(number, sound.level_db)
        utterance = sound.utterance
        result = Outcome(sound.kind, utterance.text, sound.level_db, (end - onset) / RATE)
        while not self._is_over(result, end / RATE):
            for step in self._step():
                self._note(result, step, onset / RATE)
        result.fades = [self._silent_after(onset / RATE + each) for each in result.holds]
        self._playing = 0.0
        self._waits = self._random.uniform(*_PAUSE_S)
        return result

    def _step(self) -> list[Step]:
        self._steps.clear()
        device = self.device
        device.step()
        if any(isinstance(each, cmd.StartPlayback) for each in _commands(self._steps)):
            self._began = device.steps
        playing = device.core.place is Place.PLAYING
        self._playing = self._playing + STEP_S if playing else 0.0
        if device.idles:
            device.post(ev.Ask(device.now, "go on"))
        return list(self._steps)

    def _is_time(self) -> bool:
        return self._playing >= self._waits and self.device.left_s > _LEFT_S

    def _is_over(self, result: Outcome, end: float) -> bool:
        passed = self.device.now - end
        if passed < _AFTER_S:
            return False
        if result.commit is None:
            return self.device.core.place is not Place.HELD
        return result.asked is not None or passed > _ANSWER_S

    # -- what the steps tell --------------------------------------------------------------

    def _note(self, result: Outcome, step: Step, onset: float) -> None:
        now = self.device.now - onset
        if isinstance(step.event, ev.PlaybackHeld):
            self._position = step.event.position
        for command in step.commands:
            match command:
                case cmd.HoldPlayback():
                    result.holds.append(now)
                    result.why = step.why
                case cmd.ResumePlayback():
                    repeated, lost = self._gap(command.position)
                    result.repeated.append(repeated)
                    result.lost.append(lost)
                    result.why = step.why
                case cmd.Transition():
                    self._move(result, command, now, step.why)
                case cmd.Generate() if result.commit is not None:
                    result.asked = now
                    result.question = command.messages[-1].text
                case cmd.TurnRecord() if command.interrupted:
                    result.history_wrong = self._wrong(command.played)

    def _move(self, result: Outcome, move: cmd.Transition, now: float, why: str) -> None:
        if move.target is Place.INTERRUPTED:
            result.commit, result.why = now, why
        elif move.source is Place.INTERRUPTED:
            result.listening = now

    def _silent_after(self, at: float) -> float:
        """Seconds from ``at`` to the last audible sample that left the loudspeaker."""
        first = round(at / STEP_S)
        tape = np.concatenate(self.device.played[first : first + 20])
        loud = np.flatnonzero(np.abs(tape.astype(np.int32)) > _AUDIBLE)
        return float(loud[-1] + 1) / RATE if len(loud) else 0.0

    def _gap(self, position: int) -> tuple[int, int]:
        """Words heard twice and words not heard when it goes on from ``position``."""
        answer = self.device.core.answer
        words = [] if answer is None else answer.spoken
        twice = sum(position <= word.start and word.end <= self._position for word in words)
        never = sum(self._position <= word.start and word.end <= position for word in words)
        return twice, never

    def _wrong(self, played: str) -> int:
        first = max(self._began, len(self.device.played) - round(_TAPE_S / STEP_S))
        tape = np.concatenate(self.device.played[first:])
        return words_wrong(played, heard_at_the_end(tape, material.recogniser()))


# -- the device alone ------------------------------------------------------------------------------


@dataclass
class Monologue:
    """How a device fared with nobody else in the room."""

    acoustics: Acoustics
    played_s: float = 0.0
    holds: list[float] = field(default_factory=list)
    commits: list[float] = field(default_factory=list)
    wakes: int = 0
    left_db: float = 0.0
    delay_ms: float = 0.0
    drift_ppm: float | None = None


def talk_alone(acoustics: Acoustics, seconds: float, seed: int = 1) -> Monologue:
    """Let the device read out for so long, from a cold start."""
    steps: list[Step] = []
    device = Device(
        acoustics,
        (),
        material.ears(),
        material.own_voice(),
        [material.TEXT],
        seed=seed,
        observe=steps.append,
    )
    result = Monologue(acoustics)
    device.run(0.5)
    while device.now < seconds:
        steps.clear()
        device.step()
        result.played_s += STEP_S * (device.core.place is Place.PLAYING)
        _note_alone(result, steps, device.now)
        if device.idles:
            device.post(ev.Ask(device.now, "go on"))
    result.left_db, result.delay_ms = device.echo.left_db, device.echo.delay_ms
    result.drift_ppm = device.capture.drift.ppm
    return result


def _note_alone(result: Monologue, steps: Sequence[Step], now: float) -> None:
    result.wakes += sum(isinstance(step.event, ev.WakeHeard) for step in steps)
    for command in _commands(steps):
        if isinstance(command, cmd.HoldPlayback):
            result.holds.append(now)
        elif isinstance(command, cmd.Transition) and command.target is Place.INTERRUPTED:
            result.commits.append(now)


def _commands(steps: Sequence[Step]) -> Iterator[cmd.Command]:
    for step in steps:
        yield from step.commands
