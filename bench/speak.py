"""How soon and how fast the device speaks, against `PiperVoice.synthesize`.

Both say the same sentences by turns in one process, so that whatever else the machine
does weighs on both alike.  A sentence is said whole by both, and by the device as it says
the first one while somebody waits: cut at the first natural place.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import numpy as np

from bench.rows import Row, row
from edgevoice.adapters.piper import PiperSynthesiser
from edgevoice.core.lexicon import lexicon
from edgevoice.core.sentences import Splitter
from edgevoice.models.catalogue import Role
from edgevoice.models.paths import resolve

VOICE = "en_US-joe-medium"
RUNS = 12
TEXT = (
    "The weather tomorrow will be sunny with a high of twenty degrees and a light wind from "
    "the west and in the evening clouds will come over the hills so that you may want to take "
    "a warm coat when you go"
)
LENGTHS = (5, 10, 20, 40)
TARGETS = {20: 4.0}
"""Words of a sentence, and how many times sooner than Piper it must begin."""

Speaker: TypeAlias = Callable[[str], Iterator[int]]
"""Says a text; yields the samples of each chunk as it comes."""


def rows() -> list[Row]:
    """The figures of the suite; takes about a minute."""
    logging.getLogger("piper").setLevel(logging.ERROR)
    voice = resolve(VOICE, Role.TTS)
    with TemporaryDirectory() as cache:
        ours, rate = _ours(voice, Path(cache))
        piper = _pipers(voice)
        return [row for words in LENGTHS for row in _compare(ours, piper, rate, words)]


def _compare(ours: Speaker, piper: Speaker, rate: int, words: int) -> list[Row]:
    text = " ".join(TEXT.split()[:words]) + "."
    speakers = (ours, _in_pieces(ours), piper)
    for warm_up in speakers:
        sum(warm_up(text))
    all_three = [[_timed(speaker, text, rate) for speaker in speakers] for _ in range(RUNS)]
    whole, cut, theirs = np.array(all_three).transpose(1, 2, 0)
    baseline, sooner = float(np.median(theirs[0])), TARGETS.get(words)
    return [
        row(
            "speak",
            f"first audio, {words} words, the first clause first",
            "ms",
            1000 * cut[0],
            baseline=1000 * baseline,
            target=f">= {sooner:g} times sooner" if sooner else "",
            holds=bool(baseline >= sooner * np.median(cut[0])) if sooner else None,
        ),
        row(
            "speak",
            f"first audio, {words} words in one piece",
            "ms",
            1000 * whole[0],
            baseline=1000 * baseline,
        ),
        row(
            "speak",
            f"real-time factor, {words} words",
            "",
            whole[1],
            baseline=float(np.median(theirs[1])),
        ),
    ]


def _in_pieces(speaker: Speaker) -> Speaker:
    """As the device says a sentence that somebody waits for; the words come at once."""

    def speak(text: str) -> Iterator[int]:
        splitter, first = Splitter(lexicon("en")), True
        for word in text.split():
            for piece in splitter.feed(f"{word} ", in_a_hurry=first):
                yield from speaker(piece)
                first = False
        for piece in splitter.finish():
            yield from speaker(piece)

    return speak


def _timed(speaker: Speaker, text: str, rate: int) -> tuple[float, float]:
    """Seconds to the first chunk, and seconds of work per second of speech."""
    started = time.perf_counter()
    chunks = speaker(text)
    samples = next(chunks)
    first = time.perf_counter() - started
    samples += sum(chunks)
    return first, (time.perf_counter() - started) * rate / samples


def _ours(voice: Path, cache: Path) -> tuple[Speaker, int]:
    synthesiser = PiperSynthesiser(voice, cache)

    def speak(text: str) -> Iterator[int]:
        return (len(speech.samples) for speech in synthesiser.speak(text, lambda: False))

    return speak, synthesiser.rate


def _pipers(voice: Path) -> Speaker:
    from piper import PiperVoice

    loaded = PiperVoice.load(voice)

    def speak(text: str) -> Iterator[int]:
        return (len(chunk.audio_int16_array) for chunk in loaded.synthesize(text))

    return speak
