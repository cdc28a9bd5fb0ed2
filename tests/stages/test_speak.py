"""The speak stage: speech with its words in place, and silence after a cancellation."""

import numpy as np
import pytest

from edgevoice.adapters.resample import SoxrResampler
from edgevoice.core.commands import EndSpeech, Synthesise
from edgevoice.core.events import Fault, FaultKind, SpokenWord
from edgevoice.errors import EngineError
from edgevoice.ports import Speech
from edgevoice.stages.play import Chunk, End
from edgevoice.stages.speak import Speak
from tests.patience import until

RATE = 16_000
WORD = 1600


class Scripted:
    """A chunk of a tenth of a second for each word."""

    rate = RATE

    def __init__(self, between=None):
        self.between = between or (lambda word: None)

    def speak(self, text, cancelled):
        for word in text.split():
            self.between(word)
            if cancelled():
                return
            yield Speech(np.full(WORD, 100, np.int16), (SpokenWord(word, 0, WORD),))


def stage(synthesiser=None, speaker_rate=RATE):
    events, passed = [], []
    speak = Speak(
        events.append,
        synthesiser or Scripted(),
        lambda: speaker_rate,
        SoxrResampler,
        passed.append,
    )
    return speak, passed, events


def test_each_chunk_has_its_words_counted_from_the_start_of_the_piece():
    speak, passed, _ = stage()
    speak.handle(Synthesise(7, 2, "one two"))
    speak.handle(EndSpeech(7))
    assert [(c.turn, c.piece, c.rate, len(c.samples)) for c in passed[:2]] == [
        (7, 2, RATE, WORD),
        (7, 2, RATE, WORD),
    ]
    assert [c.words for c in passed[:2]] == [
        (SpokenWord("one", 0, WORD),),
        (SpokenWord("two", WORD, 2 * WORD),),
    ]
    assert passed[2] == End(7)


def test_speech_is_brought_to_the_speakers_rate_and_so_are_its_words():
    speak, passed, _ = stage(speaker_rate=48_000)
    speak.handle(Synthesise(7, 0, "one two three"))
    assert sum(len(chunk.samples) for chunk in passed) == pytest.approx(3 * 3 * WORD, abs=3)
    words = [word for chunk in passed for word in chunk.words]
    assert [(w.start, w.end) for w in words] == [(0, 4800), (4800, 9600), (9600, 14400)]
    assert {chunk.rate for chunk in passed} == {48_000}


def test_a_cancellation_between_chunks_ends_the_piece():
    speak, passed, _ = stage(Scripted(between=lambda w: w == "two" and speak.cancel(7)))
    speak.handle(Synthesise(7, 0, "one two three"))
    speak.handle(Synthesise(7, 1, "four"))
    speak.handle(EndSpeech(7))
    assert [chunk.words[0].text for chunk in passed] == ["one"]


def test_a_cancellation_of_older_turns_leaves_the_present_one_alone():
    speak, passed, _ = stage()
    speak.cancel(6)
    speak.handle(Synthesise(6, 0, "old"))
    speak.handle(Synthesise(7, 0, "new"))
    assert [chunk.words[0].text for chunk in passed] == ["new"]


def test_a_synthesiser_that_fails_is_a_fault_of_that_turn_and_the_next_piece_is_spoken():
    def fail(word):
        if word == "bad":
            raise EngineError("no voice")

    speak, passed, events = stage(Scripted(between=fail))
    speak.start()
    speak.post(Synthesise(7, 0, "good bad"))
    speak.post(Synthesise(8, 0, "fine"))
    until(lambda: len(passed) == 2)
    assert speak.stop()
    (fault,) = events
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.part, fault.turn) == (FaultKind.TTS, "speak", 7)
    assert [c.words[0].text for c in passed if isinstance(c, Chunk)] == ["good", "fine"]
