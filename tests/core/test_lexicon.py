from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevoice.core.lexicon import LANGUAGES, Lexicon, find_phrase, lexicon, words
from edgevoice.core.lexicon.model import phrase_set
from edgevoice.core.table import Place
from edgevoice.errors import ConfigError

languages = pytest.mark.parametrize("language", LANGUAGES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't  STOP!", ["don't", "stop"]),
        ("it’s o'clock", ["it's", "o'clock"]),
        ("uh-huh", ["uh", "huh"]),
        ("twenty-three", ["twenty", "three"]),
        ("4K, 3.5 at 10:30.", ["4k", "3.5", "at", "10:30"]),
        ("'cause the dogs' ball", ["cause", "the", "dogs", "ball"]),
        ("Äpfel für die Straße", ["äpfel", "für", "die", "straße"]),
        ("… — !", []),
        ("snake_case", ["snake", "case"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text())
def test_words_of_words_are_the_same(text: str) -> None:
    once = words(text)
    assert words(" ".join(once)) == once


def test_find_phrase() -> None:
    assert find_phrase(["please", "hold", "on"], {"hold on", "stop"}) == "hold on"
    assert find_phrase(["hold", "it", "on"], {"hold on"}) is None
    assert find_phrase([], {"stop"}) is None


OF_SOME_GRAMMARS = {"object_verbs", "nominatives", "particles", "particle_verbs"}


@languages
def test_every_language_is_complete(language: str) -> None:
    known = lexicon(language)
    may_be_empty = {"strays"}  # they were heard in English alone so far
    for field in fields(Lexicon):
        if field.name in may_be_empty | OF_SOME_GRAMMARS:
            continue
        assert getattr(known, field.name) not in (frozenset(), (), {}, ""), field.name
    assert set(known.labels) == set(Place)
    assert len(set(known.labels.values())) == len(Place)
    assert len(known.progress) >= 3
    assert len(known.check_ins) >= 2
    assert set(known.phrases) == {"no_answer", "unavailable", "tool_failed", "summary"}


@languages
def test_entries_are_written_as_words_leaves_them(language: str) -> None:
    known = lexicon(language)
    for field in fields(Lexicon):
        entries = getattr(known, field.name)
        if isinstance(entries, frozenset) and "abbreviations" not in field.name:
            assert [e for e in entries if " ".join(words(e)) != e or len(e.split()) > 5] == []


@languages
def test_no_hard_word_is_a_soft_ack_or_a_filler(language: str) -> None:
    known = lexicon(language)
    assert not known.hard_words & (known.soft_acks | known.fillers)


def test_phrases_of_the_documents() -> None:
    english = lexicon("en")
    assert english.check_ins == ("Are you still there?", "Can you hear me okay?")
    assert english.progress[0] == "Working on that…"
    assert english.labels[Place.LISTENING] == "● Listening"
    assert english.labels[Place.WAITING_FOR_LLM] == "⋯ Thinking"


@pytest.mark.parametrize("code", ["en", "EN", "en-US", "en_GB"])
def test_language_codes(code: str) -> None:
    assert lexicon(code).language == "en"


def test_an_unknown_language_is_one_clear_line() -> None:
    with pytest.raises(ConfigError, match=r"no word lists for 'tlh'; use one of en, de"):
        lexicon("tlh")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("yeah okay uh-huh I see", []),
        ("mm-hmm", []),
        ("mhm", []),
        ("um right sure", []),
        ("okay tell me more", ["tell", "me", "more"]),
        ("stop", ["stop"]),
        ("", []),
    ],
)
def test_without_acks(text: str, left: list[str]) -> None:
    assert lexicon("en").without_acks(words(text)) == left


@pytest.mark.parametrize("ack", ["yeah", "ok", "okay", "hmm", "mm-hmm", "uh-huh", "right", "sure"])
def test_every_soft_ack_of_the_documents_is_one(ack: str) -> None:
    assert lexicon("en").without_acks(words(ack)) == []


@pytest.mark.parametrize(
    ("language", "text", "closing"),
    [
        ("en", "thank you", True),
        ("en", "okay thank you goodbye", True),
        ("en", "um never mind", True),
        ("en", "thank you what about tomorrow", False),
        ("en", "okay", False),
        ("en", "", False),
        ("de", "ja danke tschüss", True),
        ("de", "danke und wie wird das wetter", False),
    ],
)
def test_closes(language: str, text: str, closing: bool) -> None:
    assert lexicon(language).closes(words(text)) is closing


@pytest.mark.parametrize(
    ("text", "stops"),
    [("Stop!", True), ("um please stop", True), ("cancel that", True), ("yeah", False),
     ("stop the timer in ten minutes", False)],
)  # fmt: skip
def test_stops(text: str, stops: bool) -> None:
    assert lexicon("en").stops(text) is stops


@pytest.mark.parametrize(
    "text", ["yes", "no", "Okay.", "4K", "42", "10:30", "ten", "forty two", "um yes", "why", "stop"]
)
def test_short_answers(text: str) -> None:
    assert lexicon("en").is_short_answer(text)


@pytest.mark.parametrize("text", ["", "um", "the", "tea", "yes the", "4 dogs"])
def test_no_short_answers(text: str) -> None:
    assert not lexicon("en").is_short_answer(text)


def test_phrases_are_separated_by_commas_and_line_ends() -> None:
    assert phrase_set("uh huh, I see,\nright\n  sure ,,\n") == {"uh huh", "I see", "right", "sure"}
