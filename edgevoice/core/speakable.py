"""What of written text can be spoken: words without markup, emoji and brackets.

No word of the text is lost and none changes its place.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

PIECE_LIMIT = 300
"""Characters that are spoken in one piece at most."""


@dataclass(frozen=True, slots=True)
class RawWord:
    """A word as it was written, with what is known of its surroundings."""

    text: str
    opens_line: bool
    closes_line: bool
    following: str
    """First character of the next word; empty at the end of the text."""


class RawWords:
    """Gives each word once the next one begins, wherever the stream is cut.

    A word of ``limit`` or more characters, which is none, comes in parts.
    """

    def __init__(self, limit: int = PIECE_LIMIT) -> None:
        self._limit = limit
        self._text = ""
        self._opens_line = True
        self._gap = ""

    @property
    def begun(self) -> str:
        """What there is of the word that was not given yet."""
        return self._text

    def feed(self, token: str) -> Iterator[RawWord]:
        """Take more text."""
        for character in token:
            if character.isspace():
                self._gap += character
                continue
            if self._text and (self._gap or len(self._text) >= self._limit - 1):
                yield self._word(character)
            self._text += character
            self._gap = ""

    def finish(self) -> Iterator[RawWord]:
        """The last word."""
        if self._text:
            self._gap = "\n"
            yield self._word("")

    def _word(self, following: str) -> RawWord:
        closes = "\n" in self._gap
        word = RawWord(self._text, self._opens_line, closes, following)
        self._text = self._gap = ""
        self._opens_line = closes
        return word


def speakable(text: str, limit: int = PIECE_LIMIT) -> str:
    """What of ``text`` is spoken."""
    raw = RawWords(limit)
    return " ".join(filter(None, map(cleaned, (*raw.feed(text), *raw.finish()))))


_TAG = re.compile(
    r"</?(?:b|i|em|strong|u|s|br|p|code|pre|[uo]l|li|h[1-6]|su[bp])/?>|<\|\w+\|>", re.I
)
_LINK_TARGET = re.compile(r"(?<=\])\([^()\s]*\)")
_URL = re.compile(r"https?://(?:www\.)?([^\s/?#()\[\]<>]+)(?:[^\s()\[\]<>]*[\w/#=&])?", re.I)
_LIST_NUMBER = re.compile(r"(\d{1,2})[.)]")
_STARS = re.compile(r"(?<!\d)\*+|\*+(?!\d)")
_DASH = re.compile(r"(?<=\w)\s*(?:—|–(?!\d)|--+)\s*")
_SPAN = re.compile(r"(?<=\d)–(?=\d)")
_INNER_UNDERSCORE = re.compile(r"(?<=[^\W_])_+(?=[^\W_])")
_MARKS = str.maketrans("", "", "`~|#_[](){}\\")
_SYMBOLS = frozenset("+=&×÷%€$£°<>")


def cleaned(raw: RawWord) -> str:
    """The word as it is spoken, empty when nothing of it can be.

    A web address becomes its host name, a dash a comma, and "1." at the
    beginning of a line, which may be an item's number or an answer, "1,".
    """
    if raw.text.startswith("```") and raw.opens_line and raw.closes_line:
        return ""  # a code fence, perhaps with the name of a language
    if raw.opens_line and raw.text in ("-", "–", "—", "+", ">"):
        return ""  # an item of a list, a quotation
    if raw.opens_line and not raw.closes_line and (number := _LIST_NUMBER.fullmatch(raw.text)):
        return f"{number[1]},"
    if raw.text == "-":
        return "-" if raw.following.isdigit() else ""
    text = _without_markup(raw.text)
    if not any(c.isalnum() or c in _SYMBOLS for c in text):
        return ""
    return f"{text}," if raw.following in ("–", "—") and text[-1].isalnum() else text


def _without_markup(text: str) -> str:
    text = _TAG.sub("", text)
    text = _URL.sub(r"\1", _LINK_TARGET.sub("", text))
    text = _INNER_UNDERSCORE.sub(" ", _STARS.sub("", text)).translate(_MARKS)
    text = "".join(filter(_is_spoken, text))
    text = _DASH.sub(", ", _SPAN.sub("-", text)).lstrip("–—")
    return " ".join(text.split())


def _is_spoken(character: str) -> bool:
    """Letters, digits, punctuation and the common symbols; no emoji, nothing invisible."""
    if character in _SYMBOLS:
        return True
    if "\ufe00" <= character <= "\ufe0f":
        return False  # chooses between text and emoji
    category = unicodedata.category(character)
    return category[0] in "LNPZ" or category in ("Mn", "Mc", "Sc", "Sm")
