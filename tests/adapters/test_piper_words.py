"""Words and phonemes, with readings as espeak gives them (American English)."""

from __future__ import annotations

import pytest

from edgevoice.adapters.piper_words import has_sound, word_spans

ALONE = {
    "one": "wˌʌn",
    "of": "ʌv",
    "the": "ðə",
    "42": "fˈɔːɹɾi tˈuː",
    "cats": "kˈæts",
    "cost": "kˈɔst",
    "$5": "dˈɑːlɚ fˈaɪv",
    "end": "ˈɛnd",
    "to": "tuː",
    "a": "ˈeɪ",
    "e.g.": "ˌiːdʒˈiː.",
    "Really?": "ɹˈiəli?",
    "go.": "ɡˈoʊ.",
    "—": "",
}


def said(text: str, *sentences: str) -> list[tuple[str, str]]:
    """Each word of ``text`` with the phonemes it was given."""
    words, phonemes = text.split(), "".join(sentences)
    spans = word_spans(words, [list(s) for s in sentences], lambda word: [list(ALONE[word])])
    return [(word, phonemes[a:b]) for word, (a, b) in zip(words, spans, strict=True)]


def test_words_that_read_as_they_do_alone() -> None:
    assert said("cats cost", "kˈæts kˈɔst.") == [("cats", "kˈæts"), ("cost", "kˈɔst")]


def test_a_number_takes_all_its_groups() -> None:
    assert said("42 cats cost $5", "fˈɔːɹɾi tˈuː kˈæts kˈɔst dˈɑːlɚ fˈaɪv") == [
        ("42", "fˈɔːɹɾi tˈuː"),
        ("cats", "kˈæts"),
        ("cost", "kˈɔst"),
        ("$5", "dˈɑːlɚ fˈaɪv"),
    ]


def test_as_many_groups_as_words_are_no_proof() -> None:
    """Two words in one group and one word in two: the counts agree, the words do not."""
    assert said("of the 42 cats", "ʌvðə fˈɔːɹɾi tˈuː kˈæts") == [
        ("of", "ʌv"),
        ("the", "ðə"),
        ("42", "fˈɔːɹɾi tˈuː"),
        ("cats", "kˈæts"),
    ]


def test_words_that_change_beside_others() -> None:
    assert said("to the end of a cats", "tə ðɪʲ ˈɛnd əvə kˈæts") == [
        ("to", "tə"),
        ("the", "ðɪʲ"),
        ("end", "ˈɛnd"),
        ("of", "əv"),
        ("a", "ə"),
        ("cats", "kˈæts"),
    ]


def test_a_word_read_quite_otherwise_fills_the_place_between_its_neighbours() -> None:
    assert said("cats e.g. cost", "kˈæts fˌɔːɹɛɡzˈæmpəl kˈɔst") == [
        ("cats", "kˈæts"),
        ("e.g.", "fˌɔːɹɛɡzˈæmpəl"),
        ("cost", "kˈɔst"),
    ]


def test_a_dash_is_empty_and_lies_behind_the_word_before() -> None:
    spans = word_spans(
        ["—", "cats", "—", "cost"], [list("kˈæts; kˈɔst")], lambda word: [list(ALONE[word])]
    )
    assert spans == [(0, 0), (0, 5), (5, 5), (7, 12)]


def test_sentences_are_counted_through() -> None:
    assert said("go. Really?", "ɡˈoʊ.", "ɹˈiəli?") == [("go.", "ɡˈoʊ"), ("Really?", "ɹˈiəli")]


def test_groups_of_two_sentences_never_join() -> None:
    assert said("cats cost", "kˈæts", "kˈɔst") == [("cats", "kˈæts"), ("cost", "kˈɔst")]


def test_spans_rise_and_cover_what_has_no_likeness() -> None:
    words, spoken = ["42", "of", "$5", "e.g."], list("blˈa blˈa blˈa blˈa blˈa")
    spans = word_spans(words, [spoken], lambda word: [list(ALONE[word])])
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    assert (edges[0], edges[-1]) == (0, len(spoken))


def test_nothing_said_leaves_all_words_empty() -> None:
    assert word_spans(["—", "—"], [], lambda word: []) == [(0, 0), (0, 0)]


@pytest.mark.parametrize(("phonemes", "sound"), [("ɪts.", True), ("?!, ", False), ("ˈ", False)])
def test_has_sound(phonemes: str, sound: bool) -> None:
    assert has_sound(list(phonemes)) is sound
