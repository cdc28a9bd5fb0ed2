"""The Synthesiser port on piper-tts: speech that begins before it is finished.

Piper speaks a sentence at a time and gives it out whole.  Here the text becomes
phonemes as Piper does it, and `piper_voice` makes their sound window by window.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from edgevoice.adapters.piper_voice import Audio, Scales, Utterance, open_voice
from edgevoice.adapters.piper_words import Sentence, has_sound, word_spans
from edgevoice.core.events import SpokenWord
from edgevoice.errors import EngineError, ModelError
from edgevoice.ports import Samples, Speech

_FULL_SCALE = 32767
_PEAK = 0.6
"""Peak of `_LEVEL_TEXT`.  Piper stretches each sentence to full scale, which needs all of it;
one gain for all keeps them alike, and 4 dB remain for what is louder than counting."""
_LEVEL_TEXT = "1 2 3 4 5"
"""Sounds in any language; said once on opening, to set the gain and to warm up."""
_AUDIBLE = 0.005 * _FULL_SCALE
"""-46 dB: what is softer before the first word is silence."""
_SILENCE_KEPT_S = 0.010
_WORDS_REMEMBERED = 2048

_Spans: TypeAlias = list[tuple[str, int, int]]
"""Words of a sentence, each with its first and one past its last phoneme."""


class PiperSynthesiser:
    """A Piper voice as `edgevoice.ports.Synthesiser`; speaks one text at a time.

    ``voice`` is the ``.onnx`` file; its description lies beside it with ``.json`` added.
    On first use the voice is cut into parts, kept below ``cache``; that takes some
    seconds.  ``length_scale`` (> 1 is slower) replaces the description's; ``threads`` of 0
    are as many as cores.

    Raises `edgevoice.errors.ModelError` when a file is missing or broken.
    """

    def __init__(
        self, voice: Path, cache: Path, *, length_scale: float | None = None, threads: int = 0
    ) -> None:
        from piper import PiperVoice

        self._config = config = _read_description(voice)
        speaker = config.default_speaker_id if config.num_speakers > 1 else None
        self._scales = Scales(
            noise=config.noise_scale,
            length=config.length_scale if length_scale is None else length_scale,
            noise_w=config.noise_w_scale,
        )
        self._reader = PiperVoice(session=None, config=config)  # it only reads, it never speaks
        self._read_word = lru_cache(_WORDS_REMEMBERED)(self._read)
        self._voice = open_voice(voice, cache, speaker=speaker, threads=threads)
        self._gain = self._measure_gain()

    @property
    def rate(self) -> int:
        """Samples per second of what it makes."""
        return int(self._config.sample_rate)

    def speak(self, text: str, cancelled: Callable[[], bool]) -> Iterator[Speech]:
        """Yield the speech of ``text`` as it is made, without the silence before it.

        Joined by spaces the words are ``text`` again.  A word lies in the chunk in which it
        starts, and its end may lie beyond that chunk.  Where words begin and end follows
        from the durations of their phonemes; see `piper_words` for the few that are shared
        out in proportion.  A word that makes no sound, such as a dash, is empty and lies at
        the end of the one before.  A text without anything to speak yields nothing.

        ``cancelled`` is asked before each sentence and each window.  Raises
        `edgevoice.errors.EngineError` when the phonemizer or the voice fails.
        """
        audible = False
        for sentence, spans in self._plan(text):
            if cancelled():
                return
            utterance = self._utter(sentence)
            words = deque(self._timed(spans, sentence, utterance.samples_per_id))
            position = 0
            while not cancelled() and (window := next(utterance.windows, None)) is not None:
                samples = self._to_int16(window)
                silent = 0 if audible else self._silence_before(samples)
                start, position = position + silent, position + len(samples)
                if audible := silent < len(samples):
                    yield Speech(samples[silent:], tuple(_take(words, start, position)))

    def _plan(self, text: str) -> Iterator[tuple[Sentence, _Spans]]:
        words = text.split()
        sentences = [sentence for sentence in self._read(text) if has_sound(sentence)]
        ends = list(accumulate(map(len, sentences)))
        spans: list[_Spans] = [[] for _ in sentences]
        for word, (start, end) in zip(
            words, word_spans(words, sentences, self._read_word), strict=True
        ):
            if sentences:
                i = min(bisect_right(ends, start), len(ends) - 1)
                before = ends[i] - len(sentences[i])
                spans[i].append((word, start - before, min(end, ends[i]) - before))
        return zip(sentences, spans, strict=True)

    def _read(self, text: str) -> Sequence[Sentence]:
        """The phonemes of ``text``, sentence by sentence."""
        try:
            # Piper takes what stands in [[ ]] for phonemes; nobody means that here.
            sentences: Sequence[Sentence] = self._reader.phonemize(text.replace("[[", "[ ["))
        except Exception as error:  # espeak and the readers of other scripts raise what they like
            raise EngineError(f"the text cannot be turned into phonemes: {error}") from error
        return sentences

    def _utter(self, sentence: Sentence) -> Utterance:
        return self._voice.utter(self._reader.phonemes_to_ids(list(sentence)), self._scales)

    def _timed(
        self, spans: _Spans, sentence: Sentence, samples_per_id: Sequence[int]
    ) -> Iterator[SpokenWord]:
        """The words in samples from the start of the sentence."""
        edges = [0, *accumulate(samples_per_id)]
        firsts = self._first_ids(sentence, len(samples_per_id))
        for word, start, end in spans:
            begin = min(edges[firsts[start]], edges[-1] - 1)
            yield SpokenWord(word, begin, max(begin, edges[firsts[end]]))

    def _first_ids(self, sentence: Sentence, count: int) -> list[int]:
        """Where the ids of each phoneme begin, and last where those of the end begin.

        Each phoneme's ids are followed by a pad; one the voice does not know has none.
        Where the voice counts otherwise, the ``count`` ids are shared out evenly.
        """
        ids = self._config.phoneme_id_map
        pad = len(ids["_"])
        sizes = [len(ids[phoneme]) + pad if phoneme in ids else 0 for phoneme in sentence]
        firsts = list(accumulate(sizes, initial=len(ids["^"]) + pad))
        if firsts[-1] + len(ids["$"]) == count:
            return firsts
        return [i * count // len(sizes) for i in range(len(sizes) + 1)]

    def _to_int16(self, audio: Audio) -> Samples:
        loud = audio * (self._gain * _FULL_SCALE)
        samples: Samples = np.clip(loud, -_FULL_SCALE, _FULL_SCALE).astype(np.int16)
        return samples

    def _silence_before(self, samples: Samples) -> int:
        """Samples that may be left out in front; all when none is audible."""
        audible = np.flatnonzero(np.abs(samples) > _AUDIBLE)
        if not audible.size:
            return len(samples)
        return max(0, int(audible[0]) - round(_SILENCE_KEPT_S * self.rate))

    def _measure_gain(self) -> float:
        peaks = [
            float(np.abs(window).max())
            for sentence, _ in self._plan(_LEVEL_TEXT)
            for window in self._utter(sentence).windows
        ]
        return _PEAK / max(peaks) if any(peaks) else 1.0


def _take(words: deque[SpokenWord], start: int, end: int) -> Iterator[SpokenWord]:
    """The words that begin before ``end``, counted from ``start`` on."""
    while words and words[0].start < end:
        word = words.popleft()
        begin = max(0, word.start - start)
        yield SpokenWord(word.text, begin, max(begin, word.end - start))


def _read_description(voice: Path) -> Any:
    """The voice's `piper.PiperConfig`."""
    from piper import PiperConfig

    path = voice.with_name(voice.name + ".json")
    for file in (voice, path):
        if not file.is_file():
            raise ModelError(f"{file} is missing", "fetch the voice")
    try:
        config = PiperConfig.from_dict(json.loads(path.read_text("utf-8")))
        for symbol in "_^$":
            len(config.phoneme_id_map[symbol])
        if not isinstance(config.sample_rate, int):
            raise TypeError("its sample rate is not a whole number")
    except KeyError as error:
        raise ModelError(f"{path} lacks the field {error}", "fetch the voice again") from error
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise ModelError(f"{path} is no voice description: {error}", "fetch the voice again") from (
            error
        )
    return config
