"""Sound with pauses in it: cut at words, laid in a room, measured to the sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from edgevoice.adapters.room_acoustics import Signal, active_level, coloured_noise, gain
from edgevoice.core.events import RATE, SpokenWord
from edgevoice.ports import Samples

PAUSES_S = (0.5, 1.5)
BEFORE_S, AFTER_S = 0.8, 3.5
"""Room before and after an utterance; the longest wait that is measured is shorter."""

_FADE = RATE // 200
_SEARCH = RATE // 50
"""A cut is made where it is quietest within 20 ms of the boundary."""
_AUDIBLE_DB = -35
_BLOCK = RATE // 200


@dataclass(frozen=True, slots=True)
class Pause:
    """A silence in mid-sentence, in samples; ``kind`` says how it came about."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True)
class Spoken:
    """Speech at 16 kHz, without room."""

    text: str
    signal: Signal
    pauses: tuple[Pause, ...] = ()


@dataclass(frozen=True)
class Utterance:
    """Speech in a room; the user has finished at sample ``end``."""

    text: str
    audio: Samples
    pauses: tuple[Pause, ...]
    end: int


def pause_after(
    speech: Signal,
    words: Sequence[SpokenWord],
    places: Sequence[int],
    kind: str,
    random: np.random.Generator,
) -> tuple[Signal, tuple[Pause, ...]]:
    """Silence after each of the words ``places``; what lay between two words counts in."""
    parts, pauses, done, length = [], [], 0, 0
    for place in places:
        cut = _quietest(speech, words[place].end, words[place + 1].start)
        part = _faded(speech[done:cut])
        silence = int(random.uniform(*PAUSES_S) * RATE)
        parts += [part, np.zeros(silence)]
        started = length + audible(part)[1]
        length += len(part) + silence
        pauses.append(Pause(kind, started, length))
        done = cut
    parts.append(_faded(speech[done:]))
    return np.concatenate(parts), tuple(pauses)


def places_apart(words: int, count: int, random: np.random.Generator) -> list[int]:
    """Up to ``count`` words that are not the last, never two in a row."""
    chosen: list[int] = []
    for place in random.permutation(words - 1):
        if len(chosen) < count and all(abs(int(place) - other) > 1 for other in chosen):
            chosen.append(int(place))
    return sorted(chosen)


def gaps(words: Sequence[SpokenWord], kind: str) -> tuple[Pause, ...]:
    """The pauses of `PAUSES_S` between words, whatever else is heard in them."""
    low, high = (int(s * RATE) for s in PAUSES_S)
    return tuple(
        Pause(kind, before.end, after.start)
        for before, after in pairwise(words)
        if low <= after.start - before.end <= high
    )


def audible(signal: Signal) -> tuple[int, int]:
    """First and last sample (exclusive) of what can be heard."""
    loud = _loud(signal)
    return int(loud[0]), int(loud[-1]) + 1


def in_room(
    spoken: Spoken, level_db: float, noise_db: float, random: np.random.Generator
) -> Utterance:
    """Speech at a level against full scale, in pink noise at a level against the speech."""
    before = int(BEFORE_S * RATE)
    total = before + len(spoken.signal) + int(AFTER_S * RATE)
    level = gain(level_db)
    sound = coloured_noise("pink", total, random) * level * gain(noise_db)
    speech = spoken.signal * level / active_level(spoken.signal, RATE)
    sound[before : before + len(speech)] += speech
    audio = np.clip(sound * 32767, -32768, 32767).astype(np.int16)
    pauses = tuple(Pause(p.kind, p.start + before, p.end + before) for p in spoken.pauses)
    return Utterance(spoken.text, audio, pauses, before + audible(spoken.signal)[1])


def _quietest(speech: Signal, before: int, after: int) -> int:
    """Where a cut is heard least, between two words."""
    low = max(0, min(before, after) - _SEARCH)
    high = min(len(speech) - 1, max(before, after) + _SEARCH)
    smooth = np.convolve(speech[low:high] ** 2, np.ones(_FADE), "same")
    return low + int(np.argmin(smooth))


def _loud(signal: Signal) -> npt.NDArray[np.intp]:
    """The samples that can be heard, by blocks of 5 ms."""
    whole = len(signal) // _BLOCK * _BLOCK
    powers = np.mean(signal[:whole].reshape(-1, _BLOCK) ** 2, axis=1)
    # Not against the loudest block: a click is one, too.
    floor = np.quantile(powers, 0.95) * 10 ** (_AUDIBLE_DB / 10)
    return np.flatnonzero(np.repeat(powers > floor, _BLOCK))


def _faded(signal: Signal) -> Signal:
    """Both ends brought to zero: a cut clicks."""
    faded = signal.copy()
    ramp = np.linspace(0, 1, _FADE)
    faded[:_FADE] *= ramp
    faded[-_FADE:] *= ramp[::-1]
    return faded
