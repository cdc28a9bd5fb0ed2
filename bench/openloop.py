"""The device's voice goes on whatever is said over it: what the cancellers make of that.

For figures that need no conversation, and for strategies that are not the product's: all
of them hear the same sound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.lockstep import RATE, TIME_ERROR_S
from edgevoice.adapters.follower import ClockFollower
from edgevoice.adapters.resample import SoxrResampler
from edgevoice.adapters.room_air import Air
from edgevoice.adapters.room_path import FULL_SCALE
from edgevoice.adapters.scene import Acoustics
from edgevoice.adapters.talker import Utterance
from edgevoice.ports import FRAME, Deliver, Samples
from edgevoice.stages.capture import Capture, Heard, Reference
from edgevoice.stages.echo import EchoControl

_AHEAD = 2
"""Blocks that a sound card asks for ahead."""


@dataclass(frozen=True)
class Said:
    """An utterance that begins at ``at`` seconds, ``level_db`` against the device's voice."""

    utterance: Utterance
    at: float
    level_db: float = 0.0


@dataclass(frozen=True)
class Overheard:
    """Of one length, int16 at 16 kHz, on the clock of the microphone."""

    near: Samples
    """What the microphone heard."""
    far: Samples
    """What was played with it."""
    detected: Samples
    """What the echo control has speech detected in."""
    believed: Samples
    """What it gives to the recogniser."""
    suppressed: Samples
    """What AEC3 alone leaves."""
    leak: np.ndarray
    """RMS that the rest of the echo may reach, a block."""
    block: int


class _Plug:
    rate = RATE
    xruns = 0

    def start(self, deliver: Deliver, failed: object) -> None:
        self.deliver = deliver

    def stop(self) -> None:
        pass


def propagate(
    acoustics: Acoustics,
    playback: Samples,
    said: Sequence[Said] = (),
    seed: int = 1,
    jump: tuple[float, float] | None = None,
) -> list[Heard]:
    """Play ``playback`` into a room where ``said`` is said; as `Capture` hands it on.

    ``jump`` (at, for) are seconds: from then on the echo comes so much later, as when a
    card has lost a block.
    """  # fmt: skip
    heard: list[Heard] = []
    plug, reference = _Plug(), Reference()
    now = 0.0
    capture = Capture(
        lambda event: None, plug, reference, SoxrResampler.live, heard.extend,
        lambda: now, ClockFollower(),
    )  # fmt: skip
    capture.open()
    air = Air(acoustics, [each.utterance for each in said], seed, RATE, RATE)
    errors = np.random.default_rng(seed)
    waiting = sorted(enumerate(said), key=lambda each: each[1].at)
    due = step = 0
    while due + FRAME <= len(playback):
        while due < (step + _AHEAD) * FRAME * air.speaker_rate / RATE:
            block = playback[due : due + FRAME]
            block = np.pad(block, (0, FRAME - len(block)))
            at = due / air.speaker_rate + errors.uniform(-TIME_ERROR_S, TIME_ERROR_S)
            reference.write(block, at)
            if jump and jump[0] <= now < jump[0] + 0.01:
                air.play(np.zeros(round(jump[1] * RATE), np.int16))
            air.play(block)
            due += FRAME
        if waiting and step * FRAME >= waiting[0][1].at * RATE:
            number, each = waiting.pop(0)
            onset = step * FRAME + each.utterance.onset
            air.speak(number, onset, each.utterance.onset, each.level_db)
        leaving = air.propagate()
        sound = air.heard(bool(np.abs(leaving).max() > 0.003))
        step += 1
        now = step * 0.01
        plug.deliver(_digital(sound), now + errors.uniform(-TIME_ERROR_S, TIME_ERROR_S))
        capture.idle()
    return heard


def cancel(heard: Sequence[Heard], control: EchoControl) -> Overheard:
    """What an echo control makes of it."""
    frames = control.block // FRAME
    near, far, detected, believed, suppressed, leaks = [], [], [], [], [], []
    for i in range(0, len(heard) // frames * frames, frames):
        near.append(np.concatenate([frame.near for frame in heard[i : i + frames]]))
        far.append(np.concatenate([frame.far for frame in heard[i : i + frames]]))
        result, rest = control.process(near[-1], far[-1])
        detected.append(result.samples)
        believed.append(result.clean)
        suppressed.append(rest)
        leaks.append(result.leak)
    joined = (np.concatenate(each) for each in (near, far, detected, believed, suppressed))
    return Overheard(*joined, np.array(leaks), control.block)


def paired(near: Samples, far: Samples) -> list[Heard]:
    """Two recordings that were made together."""
    length = min(len(near), len(far)) // FRAME * FRAME
    return [
        Heard(near[i : i + FRAME], far[i : i + FRAME], i + FRAME, (i + FRAME) / RATE)
        for i in range(0, length, FRAME)
    ]


def _digital(signal: np.ndarray) -> Samples:
    full = np.clip(np.rint(signal * FULL_SCALE), -FULL_SCALE, FULL_SCALE - 1)
    return np.asarray(full, np.int16)
