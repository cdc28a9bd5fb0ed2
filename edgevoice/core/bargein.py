"""Barge-in: is somebody talking over the answer, and do they mean it?

`Evidence` decides when to hold playback and `Judge` decides what becomes of
the hold.  Every partial, final, frame, button press and wake word that could
stop an answer ends in `Judge.verdict`; there is no second place.

While playback is held nothing comes out of the loudspeaker, so speech that
goes on in a hold is not an echo; only words from before it can be.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum

from edgevoice.core.events import RATE, SoundFrame, SpokenWord, Transcript, Word
from edgevoice.core.lexicon import Lexicon, find_phrase, words
from edgevoice.core.tuning import BargeIn

_NEXT_PARTIAL_MS = 400
"""A word shows up 420 ms after its end at the 95th percentile (Vosk, small model)."""

_MIN_WORD_CONFIDENCE = 0.5
"""A final word below this is noise that the recogniser put words to."""


_MIN_ORDER_CONFIDENCE = 0.3
"""Who says "stop" is not asked twice; over a distorting loudspeaker it has 0.4."""

_MIN_CONFIDENCE_APART = 0.5
"""Of a phrase heard apart.  Of 212 orders into the device's voice 203 have it, and none of 262
soft-acks comes up as an order."""

_WORDS_OF_AN_ORDER, _WORDS_OF_ACKS = 2, 3
"""At most so many stand for an order that was misheard ("the nerve", of "enough") and for
soft-acks ("and then them", of "mm-hmm"); more are a sentence."""

_MIN_SPEECH_CONFIDENCE = 0.7
"""Mean of a final's words; those made of "uh-huh" have 0.6, of "go back" 0.8."""

_PAUSE_MS = 40
"""Silence after which the speech may be over; one within a word only makes the verdict wait."""


_ORDER = "hard_word"


class Verdict(Enum):
    """What becomes of a hold."""

    WAIT = "wait"
    RESUME = "resume"
    COMMIT = "commit"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with the rule that gave it and the values it looked at."""

    verdict: Verdict
    rule: str
    detail: str = ""

    @property
    def is_order(self) -> bool:
        """Whether a word that always stops the answer gave it."""
        return self.rule == _ORDER


class Evidence:
    """Two of every three frames of speech over the noise, for ``onset_ms``.

    One frame alone is a click or a cup; two of three bridge the gap between
    the syllables' energy and the detector's chunks.
    """

    def __init__(self, tuning: BargeIn) -> None:
        self._tuning = tuning
        self._frames: deque[tuple[int, int, bool]] = deque()

    def reset(self) -> None:
        """Forget the frames so far."""
        self._frames.clear()

    def update(self, frame: SoundFrame, floor: float) -> int | None:
        """Take a frame; the sample at which the speech began once it is evident.

        ``floor`` is the energy that the room's own noise may reach, RMS of full
        scale; what is left of the device's own voice is no evidence either.
        """
        evident = self.is_evident(frame, floor)
        self._frames.append((frame.end - frame.samples, frame.samples, evident))
        window = self._tuning.onset_ms * RATE // 1000
        while sum(n for _, n, _ in self._frames) - self._frames[0][1] >= window:
            self._frames.popleft()
        length = sum(n for _, n, _ in self._frames)
        speech = sum(n for _, n, yes in self._frames if yes)
        if not evident or length < window or 3 * speech < 2 * length:
            return None
        return next(start for start, _, yes in self._frames if yes)

    def is_evident(self, frame: SoundFrame, floor: float) -> bool:
        """Whether the frame is speech, or loud enough that a doubtful one will do.

        A hold costs little, and the judge listens on; what must not happen is
        that the device talks on over somebody.
        """
        threshold = max(self._tuning.interrupt_energy_threshold, floor, frame.leak)
        sure = frame.vad > self._tuning.interrupt_vad_threshold
        likely = frame.vad > self._tuning.interrupt_vad_when_loud
        return (frame.energy > threshold and sure) or (frame.energy > 2 * threshold and likely)


class Judge:
    """Judges one hold; a new one is made for each.

    ``onset`` is the sample at which the speech began.
    """

    def __init__(self, tuning: BargeIn, lexicon: Lexicon, onset: int) -> None:
        self._tuning = tuning
        self._lexicon = lexicon
        self._spoken: list[str] = []
        self._orders = orders(tuning, lexicon)
        self._least_words = tuning.min_words
        self.onset = onset
        self._text = ""
        self._final: tuple[Word, ...] | None = None
        self._heard_until = onset
        self._last_speech = onset
        self._speech = 0
        self._now = onset

    def device_said(self, spoken: Sequence[str]) -> None:
        """What the device said in the seconds before the hold, word by word, oldest first."""
        self._spoken = [word for text in spoken for word in words(text)]

    def expect_rest(self) -> None:
        """The user may be in the middle of a sentence: its rest can be a single word."""
        self._least_words = 1

    @property
    def silence_ms(self) -> float:
        """Silence since the last speech, in milliseconds."""
        return (self._now - self._last_speech) * 1000 / RATE

    @property
    def speech_ms(self) -> float:
        """Speech since the onset, in milliseconds; a dog's pauses do not count."""
        return self._speech * 1000 / RATE

    def frame(self, frame: SoundFrame, speaking: bool) -> Judgement:
        """Take a frame and whether the user speaks in it."""
        self._now = frame.end
        if speaking:
            self._last_speech = frame.end
            self._speech += frame.samples
        return self.verdict()

    def transcript(self, text: str, final: tuple[Word, ...] | None, until: int) -> Judgement:
        """Take a partial, or a final with the confidence of each word."""
        self._text = text
        self._final = final
        self._heard_until = until
        return self.verdict()

    def verdict(self, timed_out: bool = False) -> Judgement:
        """What becomes of the hold, as things stand.

        ``timed_out`` says that the hold may not last any longer.
        """
        if hard := self._hard_word(self._not_echo(self._said(_MIN_ORDER_CONFIDENCE))):
            return Judgement(Verdict.COMMIT, _ORDER, hard)
        heard = self._said()
        said = self._not_echo(heard)
        substance = self._substance(said)
        if self._are_enough(substance) and (timed_out or self._is_sure(substance)):
            return Judgement(Verdict.COMMIT, "words", f"{len(substance)} words")
        if self.speech_ms >= self._patience_ms(said):
            return Judgement(Verdict.COMMIT, "long_speech", f"{self.speech_ms:.0f} ms")
        if self.silence_ms >= self._tuning.resume_silence_ms and self._caught_up():
            own = len(heard) - len(said)
            detail = f"{own} words of the device's own" if own else f"{len(said)} words"
            return Judgement(Verdict.RESUME, "silence", detail)
        if timed_out:
            return Judgement(Verdict.RESUME, "timeout", f"{self.speech_ms:.0f} ms of speech")
        so_far = f"{len(substance)} words, {self.speech_ms:.0f} ms of speech"
        return Judgement(Verdict.WAIT, "undecided", so_far)

    def _said(self, least: float = _MIN_WORD_CONFIDENCE) -> list[str]:
        """The words so far; of a final, those the recogniser is sure of."""
        if self._final is None:
            return words(self._text)
        sure = [w.text for w in self._final if w.confidence >= least]
        return words(" ".join(sure))

    def _are_enough(self, substance: list[str]) -> bool:
        """Whether there are as many words as it takes; the only one must be final."""
        least = self._tuning.min_words if self._final is None else self._least_words
        return len(substance) >= least

    def _is_sure(self, substance: list[str]) -> bool:
        """Whether words that are no order may stop the answer: or are they "of a", of "uh-huh"?

        In a silence the recogniser is asked for its last word, which comes with
        confidences; nothing is heard until it is there.
        """
        if self._final is None:
            return self.silence_ms < _PAUSE_MS
        known = [word.confidence for word in self._final if word.text in substance]
        return not known or sum(known) / len(known) >= _MIN_SPEECH_CONFIDENCE

    def _hard_word(self, said: list[str]) -> str:
        return find_phrase(said, self._orders) or ""

    def _substance(self, said: list[str]) -> list[str]:
        """The words that are neither soft-acks nor fillers."""
        return self._lexicon.without_acks(said)

    def _patience_ms(self, said: list[str]) -> float:
        """How long speech may go on without being an interruption.

        As long as it likes while it is known to be soft-acks and fillers only.
        The last word of a partial is a guess ("yes or", of "yes okay"): when
        all before it is explained, the next partial may explain that as well.
        """
        if said and not self._substance(said):
            return math.inf
        before = said[:-1] if self._final is None else []
        if before and not self._substance(before):
            return self._tuning.commit_ms + _NEXT_PARTIAL_MS
        return self._tuning.commit_ms

    def _caught_up(self) -> bool:
        """Whether the recogniser has had all of the speech and was asked for its last word."""
        return self._final is not None and self._heard_until >= self._last_speech

    def _not_echo(self, said: list[str]) -> list[str]:
        """The words, or none when enough of them were just spoken by the device, in order."""
        is_echo = overlap(said, self._spoken) >= self._tuning.echo_overlap
        return [] if is_echo else said


def orders(tuning: BargeIn, lexicon: Lexicon) -> frozenset[str]:
    """What stops the device, whatever else is said."""
    return frozenset(" ".join(words(phrase)) for phrase in tuning.hard_words or lexicon.hard_words)


def said(heard: Sequence[Word]) -> str:
    """The words as text."""
    return " ".join(word.text for word in heard)


def knows_better(heard: Transcript, orders: Collection[str], lexicon: Lexicon) -> bool:
    """Whether what was heard apart is what was said, and the text a mishearing of it.

    An order must be all that was said, and final: what begins like one may go on.
    """
    apart = said(heard.apart)
    if not apart or min(word.confidence for word in heard.apart) < _MIN_CONFIDENCE_APART:
        return False
    count = len(words(heard.text))
    if heard.final and apart in orders:
        return count <= _WORDS_OF_AN_ORDER
    return count <= _WORDS_OF_ACKS and not lexicon.without_acks(words(apart))


def overlap(said: Sequence[str], spoken: Sequence[str]) -> float:
    """Share of ``said`` that is found in ``spoken`` in order (longest common subsequence)."""
    if not said:
        return 0.0
    row = [0] * (len(spoken) + 1)
    for word in said:
        previous = 0
        for i, other in enumerate(spoken):
            above = row[i + 1]
            row[i + 1] = previous + 1 if word == other else max(above, row[i])
            previous = above
    return row[-1] / len(said)


def just_spoken(
    spoken: Sequence[SpokenWord], position: int, rate: int, window_s: float
) -> list[str]:
    """The words played in the ``window_s`` seconds before sample ``position``."""
    since = position - window_s * rate
    return [word.text for word in spoken if word.end > since and word.start < position]
