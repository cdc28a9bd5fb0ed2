from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevoice.core.lexicon import lexicon, words
from edgevoice.core.sentences import Splitter
from edgevoice.core.speakable import PIECE_LIMIT, RawWords, speakable


def split(text: str, language: str = "en") -> list[str]:
    """The pieces when the text comes as a model's tokens do, space first."""
    splitter = Splitter(lexicon(language))
    tokens = re.findall(r"\s*\S{1,4}|\s+", text)
    return [piece for token in tokens for piece in splitter.feed(token)] + splitter.finish()


_LONG = "This beginning is long enough to be spoken on its own:"

# -- where it is cut ------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Yes. It will rain all day long.", ["Yes.", "It will rain all day long."]),
        ("In the morning, it will rain.", ["In the morning,", "it will rain."]),
        ("Well, it will rain.", ["Well, it will rain."]),
        (
            "The sun will shine today and tomorrow.",
            ["The sun will shine today", "and tomorrow."],
        ),
        ("The large old house is very cold.", ["The large old house is very cold."]),
        ("Salt and pepper and oil.", ["Salt and pepper and oil."]),
        ("One moment please: done.", ["One moment please:", "done."]),
        ("It is warm — go out.", ["It is warm,", "go out."]),
        ("Really?! I did not know that.", ["Really?!", "I did not know that."]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("Milk\nBread and some butter\nEggs", ["Milk", "Bread and some butter", "Eggs"]),
        ("好。 再见吧", ["好。", "再见吧"]),
    ],
)
def test_the_first_piece_is_a_clause(text: str, pieces: list[str]) -> None:
    assert split(text) == pieces


def test_later_pieces_are_whole_sentences() -> None:
    assert split("Hello. First this, and then that, because of it. Then the next one here.") == [
        "Hello.",
        "First this, and then that, because of it.",
        "Then the next one here.",
    ]


def test_very_short_sentences_are_joined_to_the_next() -> None:
    assert split("Hello. Yes. No. Well. That is it for today.") == [
        "Hello.",
        "Yes. No. Well. That is it for today.",
    ]


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "Hello there Dr. Smith of St. Paul."),
        ("en", "Bring fruit e.g. apples today."),
        ("en", "It costs 3.5 dollars at 10:30 a.m. today."),
        ("en", "Ask J. R. Smith about it."),
        ("en", "Well... maybe it is so."),
        ("en", "See example.com today."),
        ("en", "The U.S. is large."),
        ("en", "The Y.M.C.A. is open."),
        ("de", "Am 3. Mai kommt Herr Dr. Meier z.B. zu uns."),
        ("de", "Das gilt z. B. hier usw. und dort."),
    ],
)
def test_a_full_stop_is_not_always_an_end(language: str, sentence: str) -> None:
    long = f"{_LONG} {sentence}"
    assert split(f"So. {long}", language)[1:] == [long]


@pytest.mark.parametrize(
    "text",
    ["He came at 5 p.m. Then he left us.", "I live in the U.S. It is large.",
     "The answer is 42. It is known.", "Wait for it... There it is now."],
)  # fmt: skip
def test_and_sometimes_it_is(text: str) -> None:
    long = f"{_LONG} {text}"
    assert len(split(f"So. {long}")) == 3


def test_a_number_opens_a_line_and_does_not_end_it() -> None:
    assert split("So. This is what you do now.\n1. Boil the water first.")[2:] == [
        "1, Boil the water first."
    ]


def test_a_sentence_end_behind_an_emoji_counts() -> None:
    assert split("Great 😀. Go on now please.") == ["Great", "Go on now please."]


def test_runaway_text_is_cut_at_a_clause_if_there_is_one() -> None:
    text = "So. " + "word " * 40 + "here, " + "word " * 40
    pieces = split(text)
    assert pieces[1].endswith("here,")
    assert all(len(piece) <= PIECE_LIMIT for piece in pieces)
    plain = split("So. " + "word " * 200)
    assert [len(piece) for piece in plain[1:-1]] == [299] * (len(plain) - 2)


def test_a_clause_near_the_front_is_no_place_to_cut_runaway_text() -> None:
    assert len(split("So. Well, " + "word " * 80)[1]) > 250


def test_a_piece_comes_as_soon_as_the_next_word_begins() -> None:
    splitter = Splitter(lexicon("en"))
    assert splitter.feed("It is three") == []
    assert splitter.feed(" o'clock.") == []
    assert splitter.feed(" A") == ["It is three o'clock."]
    assert splitter.finish() == ["A"]
    assert splitter.finish() == []


# -- what is spoken -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("**Bold**, _soft_ and ~~gone~~ `code`", "Bold, soft and gone code"),
        ("# Title\nText", "Title Text"),
        ("- one\n- two\n* three\n+ four\n• five", "one two three four five"),
        ("1. Boil it\n2) Drink it", "1, Boil it 2, Drink it"),
        ("7.", "7."),
        ("```python\nprint\n```", "print"),
        ("```a``` is\nnot ```b```", "a is not b"),
        ("see [the docs](https://x.org/y) (now)", "see the docs now"),
        ("go to https://www.example.com/a?b=c#d.", "go to example.com."),
        ("<b>Hi</b><|im_end|>", "Hi"),
        ("> quoted\n5 > 3", "quoted 5 > 3"),
        ("Good 👍🏽 job 🎉!", "Good job"),
        ("1️⃣ first", "1 first"),
        ("25°C costs 5€ or $6", "25°C costs 5€ or $6"),
        ("2*3 and 5 - 3 = 2", "2*3 and 5 - 3 = 2"),
        ("this - that", "this that"),
        ("a—b and c–d, 10–20", "a, b and c, d, 10-20"),
        ("yes, — no", "yes, no"),
        (" - 3 eggs\n\n  - 4 hens", "3 eggs 4 hens"),
        ("snake_case *** --- | x |", "snake case x"),
        ("zero\u200bwidth", "zerowidth"),
        ("é e\u0301", "é e\u0301"),
        ("“Quoted” it's", "“Quoted” it's"),
        ("😀 … —", ""),
    ],
)
def test_speakable(text: str, spoken: str) -> None:
    assert speakable(text) == spoken


def test_there_is_no_word_in_nothing() -> None:
    raw = RawWords()
    assert [*raw.feed(" \n"), *raw.finish()] == []


# -- properties ------------------------------------------------------------------------

markup = st.lists(
    st.sampled_from(
        ["word", "Dr.", "end.", "3.5", "42.", "and", "so,", "**b**", "_i_", "😀.", "—", "-", "\n",
         "\n\n", "- ", "1. ", "```", "(x)", "[y](http://z.org/a)", " ", "...", "x" * 350, "!",
         "—" * 9]
    ).flatmap(lambda part: st.sampled_from([part, part + " "])),
    max_size=60,
).map("".join)  # fmt: skip


@given(st.one_of(st.text(), markup), st.data())
def test_pieces_joined_are_the_cleaned_text_however_it_comes(
    text: str, data: st.DataObject
) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=20).map(sorted))
    splitter = Splitter(lexicon("en"))
    pieces = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        pieces += splitter.feed(text[start:end])
    pieces += splitter.finish()
    assert " ".join(pieces) == speakable(text)
    assert all(0 < len(piece) <= PIECE_LIMIT for piece in pieces)


@given(st.lists(st.from_regex(r"[a-z]{1,9}[.,;:!?]?", fullmatch=True), max_size=80))
def test_no_word_is_lost_and_none_changes_its_place(sentence: list[str]) -> None:
    text = " ".join(sentence)
    assert " ".join(split(text)) == text
    assert words(" ".join(split(f"**{text}**"))) == words(text)


@pytest.mark.parametrize(("before", "after"), [(27, 26), (25, 26), (17, 34)])
def test_the_second_half_of_runaway_text_begins_behind_its_middle(before: int, after: int) -> None:
    text = "So. " + "words " * (before - 1) + "here, " + "words " * (after + 20)
    first = split(text)[1]
    assert first.endswith("here,") is (before > 25)


@pytest.mark.parametrize("mark", [*"!?.…。！？"])
def test_a_sentence_ends_with_its_mark(mark: str) -> None:
    text = f"Well then. This is a sentence of its own{mark} Here is another one"
    assert split(text)[1] == f"This is a sentence of its own{mark}"


@pytest.mark.parametrize("mark", [*",;:–—"])
def test_the_first_clause_ends_with_its_mark(mark: str) -> None:
    assert len(split(f"One two three{mark} four five")) == 2


@pytest.mark.parametrize("word", ["(Dr.", '"Dr.', "X.", "[e.g."])
def test_an_abbreviation_in_brackets_ends_nothing(word: str) -> None:
    assert len(split(f"Well then. This is what we call {word} Smith in this place")) == 2


def test_a_sentence_of_20_characters_with_its_space_is_long_enough() -> None:
    assert split("So. It is now ten to one. Go on")[1:] == ["It is now ten to one.", "Go on"]
    assert split("So. It is ten to one now. A")[1] == "It is ten to one now."
    assert split("So. It is ten past one. A")[1:] == ["It is ten past one.", "A"]
    assert split("So. It is ten to one. A")[1:] == ["It is ten to one. A"]


def test_a_piece_may_be_as_long_as_the_limit() -> None:
    splitter = Splitter(lexicon("en"), limit=20)
    pieces = [
        p for word in ["aaaa", "bbbb", "cccc", "ddddd", "e"] for p in splitter.feed(word + " ")
    ]
    assert pieces + splitter.finish() == ["aaaa bbbb cccc ddddd", "e"]


@pytest.mark.parametrize(("letters", "parts"), [(9, 1), (10, 2), (18, 2), (19, 3)])
def test_a_word_without_end_comes_in_parts(letters: int, parts: int) -> None:
    raw = RawWords(limit=10)
    assert len([*raw.feed("x" * letters), *raw.finish()]) == parts


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("a\ufe00b", "ab"),
        ("a\ufe0fb", "ab"),
        ("न\u0903", "न\u0903"),
        ("5¥", "5¥"),
        ("5−3≈2", "5−3≈2"),
        ("Xylophone", "Xylophone"),
        ("X—X", "X, X"),
        ("—yes", "yes"),
        ("– one", "one"),
        ("— two", "two"),
        ("yes – no", "yes, no"),
        ("yes — no", "yes, no"),
    ],
)
def test_speakable_one_by_one(text: str, spoken: str) -> None:
    assert speakable(text) == spoken


def hurried(text: str) -> list[str]:
    splitter = Splitter(lexicon("en"))
    return [piece for word in text.split() for piece in splitter.feed(f"{word} ", in_a_hurry=True)]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("water is deep And wide", ["water is deep"]),
        ("water full of The big salty rocks", []),
        (
            "one two three four five six seven eight",
            ["one two three four five six seven"],
        ),
        ("one two three four five six seven", []),
        ("the of the of the of the of the of the", []),
    ],
)
def test_in_a_hurry_a_piece_ends_between_two_phrases(text: str, pieces: list[str]) -> None:
    assert hurried(text) == pieces


def test_in_a_hurry_a_word_that_has_begun_counts_as_known() -> None:
    splitter = Splitter(lexicon("en"))
    tokens = ["The", " E", "iff", "el", " Tower", " is"]
    pieces = [splitter.feed(token, in_a_hurry=True) for token in tokens]
    assert pieces == [[], [], [], [], [], ["The Eiffel Tower"]]
    assert splitter.feed("land", in_a_hurry=True) == []
    assert splitter.finish() == ["island"]


def test_without_hurry_it_does_not() -> None:
    splitter = Splitter(lexicon("en"))
    assert [splitter.feed(token) for token in ("The", " Eiffel", " Tower", " is")] == [[]] * 4
