"""A stream of tokens in, speakable pieces out.

The first piece is a clause, so that the voice begins early; the others are
whole sentences, because prosody needs them.  When somebody waits, or the
loudspeaker would run dry, a piece ends at the next natural place.  Text is cleaned word by word
(`edgevoice.core.speakable`), so what is spoken never depends on how the model
cut its tokens: the pieces, joined with spaces, are exactly `speakable` of the
whole text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from edgevoice.core.lexicon import Lexicon
from edgevoice.core.speakable import PIECE_LIMIT, RawWord, RawWords, cleaned

_FIRST_CLAUSE_WORDS = 3
"""The first piece may end at a comma after so many words."""

_FIRST_PHRASE_WORDS = 5
"""The first piece may end before a conjunction after so many words."""

_HURRIED_WORDS = 3
"""In a hurry a piece may end between two phrases after so many words."""

_HURRIED_LIMIT = 7
"""In a hurry a piece ends after so many words at the latest, but for an article or the like."""

_SHORT = 20
"""A later sentence of fewer characters is spoken together with the next one."""


class Splitter:
    """Cuts one answer into pieces of at most ``limit`` characters as it comes."""

    def __init__(self, lexicon: Lexicon, limit: int = PIECE_LIMIT) -> None:
        self._lexicon = lexicon
        self._limit = limit
        self._raw = RawWords(limit)
        self._pending: list[_Word] = []
        self._first = True
        self._in_a_hurry = False

    def feed(self, token: str, *, in_a_hurry: bool = False) -> list[str]:
        """Take more text; the pieces that are now complete, in order.

        A word is judged when the next one begins, so a piece comes with the
        token after its last one; models put the space there anyway.
        ``in_a_hurry``, a piece is complete as soon as it can be said by itself, and what
        there is of the next word is taken for all of it, as it mostly is.
        """
        self._in_a_hurry = in_a_hurry
        pieces = [piece for raw in self._raw.feed(token) for piece in self._take(raw)]
        if self._in_a_hurry and self._raw.begun:
            pieces += self._cut(self._hurried_cut(self._raw.begun))
        return pieces

    def finish(self) -> list[str]:
        """The rest; the text ends here."""
        pieces = [piece for raw in self._raw.finish() for piece in self._take(raw)]
        return pieces + self._cut(len(self._pending))

    def _take(self, raw: RawWord) -> list[str]:
        pieces: list[str] = []
        for text in cleaned(raw).split():
            pieces.extend(self._make_room(text))
            self._pending.append(_Word(text))
        if self._pending:
            # What cannot be said, like an emoji, may still carry the full stop.
            end = self._pending[-1].end = _ending(raw, self._lexicon)
            if self._ends_piece(end):
                pieces.extend(self._cut(len(self._pending)))
        return pieces

    def _make_room(self, text: str) -> Iterator[str]:
        if (
            self._first
            and len(self._pending) >= _FIRST_PHRASE_WORDS
            and text.lower() in self._lexicon.conjunctions
        ):
            yield from self._cut(len(self._pending))
        if self._in_a_hurry:
            yield from self._cut(self._hurried_cut(text))
        while self._length() + len(text) > self._limit:
            yield from self._cut(self._best_cut())

    def _hurried_cut(self, text: str) -> int:
        """Words up to the last place where a pause does no harm; 0 when there is none yet.

        That is before an article, a preposition and their like, but never after one.
        """
        spoken = [*(word.text.lower() for word in self._pending), text.lower()]
        opens = [word in self._lexicon.open_endings for word in spoken]
        cuts = [n for n in range(_HURRIED_WORDS, len(spoken)) if not opens[n - 1]]
        between = [n for n in cuts if opens[n]]
        if between or len(self._pending) < _HURRIED_LIMIT:
            return max(between, default=0)
        return max(cuts, default=0)

    def _best_cut(self) -> int:
        """Words up to the last clause in the second half of what is pending, or all."""
        clauses = [i for i, word in enumerate(self._pending, 1) if word.end > _End.NONE]
        return max((i for i in clauses if 2 * i > len(self._pending)), default=len(self._pending))

    def _ends_piece(self, end: _End) -> bool:
        soon = self._first or self._in_a_hurry
        if soon and end is _End.CLAUSE:
            return len(self._pending) >= _FIRST_CLAUSE_WORDS
        return end is _End.SENTENCE and (soon or self._length() >= _SHORT)

    def _cut(self, count: int) -> list[str]:
        """The first ``count`` pending words as a piece; none of none."""
        piece = " ".join(word.text for word in self._pending[:count])
        del self._pending[:count]
        if not piece:
            return []
        self._first = self._in_a_hurry = False  # with this one there is something to hear
        return [piece]

    def _length(self) -> int:
        """Characters of the pending words, each with the space after it."""
        return sum(len(word.text) + 1 for word in self._pending)


class _End(IntEnum):
    """What ends with a word."""

    NONE = 0
    CLAUSE = 1
    SENTENCE = 2


@dataclass(slots=True)
class _Word:
    text: str
    end: _End = _End.NONE


_CLOSERS = "\"'”’»)]}*_`~"
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_NUMBER = re.compile(r"\d{1,2}")


def _ending(raw: RawWord, lexicon: Lexicon) -> _End:
    """What ends with this word, by its punctuation and what follows it."""
    tail = raw.text.rstrip(_CLOSERS)
    if raw.closes_line or tail.endswith(("!", "?", "。", "！", "？")):
        return _End.SENTENCE
    if tail.endswith(("…", "..")):
        return _End.CLAUSE if raw.following.islower() else _End.SENTENCE
    if tail.endswith("."):
        return _full_stop(tail[:-1].lstrip("\"'“‘«([{*_").lower(), raw, lexicon)
    if tail.endswith((",", ";", ":", "–", "—")):
        return _End.CLAUSE
    return _End.NONE


def _full_stop(word: str, raw: RawWord, lexicon: Lexicon) -> _End:
    """Whether the full stop after ``word`` ends a sentence or belongs to the word."""
    if word in lexicon.abbreviations or (len(word) == 1 and word.isalpha()):
        return _End.NONE
    if word in lexicon.final_abbreviations or _INITIALS.fullmatch(word):
        return _End.SENTENCE if raw.following.isupper() else _End.NONE
    if _NUMBER.fullmatch(word) and (raw.opens_line or lexicon.ordinal_dot):
        return _End.NONE
    return _End.SENTENCE
