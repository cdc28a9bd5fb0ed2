"""What an answer knows of itself: how fast it is written, and how long it will still be heard."""

from __future__ import annotations

import pytest

from edgevoice.core.events import RATE, SpokenWord
from edgevoice.core.lexicon import lexicon
from edgevoice.core.sentences import Splitter
from edgevoice.core.turn import Answer, Kind


@pytest.fixture
def answer() -> Answer:
    return Answer(1, "how deep is the sea", Kind.REPLY, Splitter(lexicon("en")))


@pytest.mark.parametrize(("tokens", "seconds"), [(1, 2.0), (2, 2.0), (3, 1.0), (5, 0.5)])
def test_a_token_takes_the_time_between_two(answer: Answer, tokens: int, seconds: float) -> None:
    answer.tokens, answer.times.first_token = tokens, 10.0
    assert answer.token_s(12.0) == seconds


def test_before_the_first_token_none_has_taken_any_time(answer: Answer) -> None:
    assert answer.token_s(12.0) == 0.0


def test_what_is_left_of_the_speech_is_what_is_made_and_not_yet_played(answer: Answer) -> None:
    answer.text = ["It is deep."]
    answer.rate = RATE
    assert answer.speech_left(10.0) is None
    answer.times.started = 10.0
    assert answer.speech_left(10.5) is None
    answer.spoken = [SpokenWord(word, 0, 0) for word in ("It", "is", "deep.")]
    answer.end = 2 * RATE
    assert answer.speech_left(10.5) == 1.5
    answer.text.append("And wide.")
    assert answer.speech_left(10.5) is None


def test_nothing_is_left_of_a_voice_that_has_not_come(answer: Answer) -> None:
    answer.times.started = 10.0
    assert answer.speech_left(10.5) is None
