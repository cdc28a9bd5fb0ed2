"""What other assistants do when somebody speaks over them, on the same sound.

Each listens to what AEC3 leaves while the device talks on, and would stop it once:

- ``first frame``: the first 32 ms in which a speech detector is sure (GLaDOS);
- ``energy``: three frames of 20 ms louder than 0.015 of full scale;
- ``0.5 s of speech``: so much since the detector began to hear speech (LiveKit Agents);
- ``2 words``: as soon as the recogniser has two (pipecat's MinWords).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bench import material
from bench.lockstep import RATE
from bench.material import Kind, Sound
from bench.openloop import Said, cancel, propagate
from edgevoice.adapters.scene import Acoustics
from edgevoice.ports import Samples

SLOT_S = 6.0
"""From one sound to the next."""
_FIRST_S = 8.0
_AFTER_S = 1.0
"""What stops it so long after a sound has ended is counted as its doing."""
_BEFORE_S = 1.0
"""The recogniser begins so long before a sound."""

_SURE = 0.8
_SPEECH = 0.5
_PAUSE_S = 0.55
_LOUD = 0.015
_FRAME = 320

Strategy = Callable[[Samples], Iterator[float]]
"""The seconds at which it would stop the device, in order."""


@dataclass
class Peer:
    """What one strategy did."""

    yields: list[float | None] = field(default_factory=list)
    """Seconds from the onset of each interruption; None where it talked on."""
    ignored: list[bool] = field(default_factory=list)
    """Of each soft-ack and noise."""
    own_voice: int = 0
    """How often it stopped for nobody."""
    alone_s: float = 0.0
    """Time in which nobody spoke."""


def stand_by(acoustics: Acoustics, sounds: Sequence[Sound], seed: int) -> Mapping[str, Peer]:
    """Let every strategy hear the sounds over the device's voice."""
    said = [
        Said(sound.utterance, _FIRST_S + SLOT_S * i, sound.level_db)
        for i, sound in enumerate(sounds)
    ]
    length = round((_FIRST_S + SLOT_S * (len(sounds) + 1)) * RATE)
    playback = np.resize(material.own_speech(), length)
    heard = cancel(propagate(acoustics, playback, said, seed), material.workshop().echo())
    return {
        name: _judged(list(stops(heard.suppressed)), sounds, said, length / RATE)
        for name, stops in STRATEGIES.items()
    }


def _judged(
    stops: Sequence[float], sounds: Sequence[Sound], said: Sequence[Said], length_s: float
) -> Peer:
    peer = Peer()
    explained: set[float] = set()
    for sound, each in zip(sounds, said, strict=True):
        onset = each.at + each.utterance.onset / RATE
        end = each.at + each.utterance.end / RATE + _AFTER_S
        within = [at for at in stops if onset <= at <= end]
        explained.update(at for at in stops if each.at - _BEFORE_S <= at <= end)
        if sound.kind is Kind.INTERRUPTION:
            peer.yields.append(within[0] - onset if within else None)
        else:
            peer.ignored.append(not within)
        length_s -= end - each.at
    alone = [at for at in stops if at not in explained and at > _FIRST_S / 2]
    peer.own_voice, peer.alone_s = len(alone), length_s - _FIRST_S / 2
    return peer


# -- strategies ------------------------------------------------------------------------------------


def _probabilities(sound: Samples) -> tuple[np.ndarray, float]:
    detector = material.workshop().detector()
    size = detector.chunk
    chunks = range(0, len(sound) - size + 1, size)
    return np.array([detector.probability(sound[i : i + size]) for i in chunks]), size / RATE


def first_frame(sound: Samples) -> Iterator[float]:
    """Each time that the detector becomes sure."""
    scores, step = _probabilities(sound)
    sure = scores > _SURE
    yield from (np.flatnonzero(sure[1:] & ~sure[:-1]) + 2) * step


def half_a_second(sound: Samples) -> Iterator[float]:
    """Half a second after speech began that pauses shorter than 0.55 s have not ended."""
    scores, step = _probabilities(sound)
    began = last = None
    told = False
    for number, score in enumerate(scores):
        now = (number + 1) * step
        if score > _SPEECH:
            began, last = now - step if began is None else began, now
        elif last is not None and now - last > _PAUSE_S:
            began, last, told = None, None, False
        if began is not None and score > _SPEECH and now - began >= 0.5 and not told:
            told = True
            yield now


def energy(sound: Samples) -> Iterator[float]:
    """Each time that it has been loud for three frames."""
    frames = sound[: len(sound) // _FRAME * _FRAME].reshape(-1, _FRAME) / 32768
    loud = np.sqrt(np.mean(np.square(frames), axis=1)) > _LOUD
    run = loud[2:] & loud[1:-1] & loud[:-2]
    yield from (np.flatnonzero(run[1:] & ~run[:-1]) + 4) * _FRAME / RATE


def two_words(sound: Samples) -> Iterator[float]:
    """Each time that the recogniser has two words; it begins anew every slot, and then."""
    recogniser = material.recogniser()
    recogniser.begin()
    slot = round((_FIRST_S - _BEFORE_S) % SLOT_S * RATE)
    for start in range(0, len(sound) - 480, 480):
        if (start - slot) % round(SLOT_S * RATE) < 480:
            recogniser.begin()
        if len(recogniser.accept(sound[start : start + 480]).text.split()) >= 2:
            recogniser.begin()
            yield (start + 480) / RATE


STRATEGIES: Mapping[str, Strategy] = {
    "first frame": first_frame,
    "energy": energy,
    "0.5 s of speech": half_a_second,
    "2 words": two_words,
}
