"""Finds which phonemes of a sentence belong to which of its words.

The phonemizer reads whole sentences and keeps no trace of the words: "42" comes
out as two groups of phonemes, "of the" as one, "Dr." depends on what follows.  So
each word is also phonemized alone, and the two readings are laid side by side:

1. Groups that read the same, stress aside, are anchors; their words are exact.
2. Between two anchors one word takes all there is, exactly.
3. Several words between two anchors share it by the cheapest edits that turn the
   one reading into the other: exact where they read alike ("of the" → "ʌvðə"),
   otherwise in proportion to how long the words are alone.

A writing without spaces is one word to this file.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

Sentence = Sequence[str]
"""Phonemes, spaces and punctuation, one string each."""

_STRESS = "ˈˌ"
_BREAK = " "
_SPLIT_GROUP = 2  # cost of a space against a phoneme: as dear as leaving out both


@dataclass(frozen=True, slots=True)
class _Sound:
    """A phoneme, or the break between two groups, and the place it came from."""

    phoneme: str
    place: int


_Group = tuple[_Sound, ...]


def word_spans(
    words: Sequence[str],
    sentences: Sequence[Sentence],
    say: Callable[[str], Sequence[Sentence]],
) -> list[tuple[int, int]]:
    """First and one past the last phoneme of each word.

    Positions count through all ``sentences``; spans are in order and never overlap.
    ``say`` phonemizes a text of one word.  A word that is not spoken has an empty span
    at the end of the one before.
    """
    alone = [group for i, word in enumerate(words) for group in _groups(say(word), word=i)]
    spoken = list(_groups(sentences))
    phonemes = [phoneme for sentence in sentences for phoneme in sentence]
    found: dict[int, list[int]] = {}
    for word, place in _match(alone, spoken):
        found.setdefault(word, []).append(place)
    spans: list[tuple[int, int]] = []
    for i in range(len(words)):
        end = spans[-1][1] if spans else 0
        spans.append(
            (_onset(phonemes, found[i][0]), found[i][-1] + 1) if i in found else (end, end)
        )
    return spans


def has_sound(sentence: Sentence) -> bool:
    """Whether there is more in it than spaces and punctuation."""
    return any(map(_is_spoken, sentence))


def _onset(phonemes: Sequence[str], place: int) -> int:
    """A mark of stress stands before its phoneme and has a duration of its own."""
    while place and phonemes[place - 1] in _STRESS:
        place -= 1
    return place


def _groups(sentences: Sequence[Sentence], word: int | None = None) -> Iterator[_Group]:
    """The runs of phonemes between spaces, punctuation and ends of sentences."""
    group: list[_Sound] = []
    place = -1
    for sentence in sentences:
        for phoneme in (*sentence, None):
            place += phoneme is not None
            if phoneme is not None and _is_spoken(phoneme):
                group.append(_Sound(phoneme, place if word is None else word))
            elif phoneme is None or phoneme not in _STRESS:
                if group:
                    yield tuple(group)
                group = []


def _is_spoken(phoneme: str) -> bool:
    return phoneme not in _STRESS and unicodedata.category(phoneme[0])[0] in "LMN"


def _match(alone: list[_Group], spoken: list[_Group]) -> Iterator[tuple[int, int]]:
    """Pairs of a word and a place of the sentence, both rising."""
    blocks = SequenceMatcher(
        None, _reading(alone), _reading(spoken), autojunk=False
    ).get_matching_blocks()
    a = b = 0
    for block in blocks:
        yield from _share(alone[a : block.a], spoken[b : block.b])
        a, b = block.a + block.size, block.b + block.size
        for left, right in zip(alone[block.a : a], spoken[block.b : b], strict=True):
            yield from ((left[0].place, sound.place) for sound in right)


def _reading(groups: list[_Group]) -> list[tuple[str, ...]]:
    return [tuple(sound.phoneme for sound in group) for group in groups]


def _share(alone: list[_Group], spoken: list[_Group]) -> Iterator[tuple[int, int]]:
    """Share the groups between two anchors among the words between them."""
    words = {sound.place for group in alone for sound in group}
    if len(words) == 1:
        (word,) = words
        yield from ((word, sound.place) for group in spoken for sound in group)
    elif words:
        left, right = _flat(alone), _flat(spoken)
        for i, j in _cheapest([s.phoneme for s in left], [s.phoneme for s in right]):
            if right[j].phoneme != _BREAK:
                yield left[i].place, right[j].place


def _flat(groups: list[_Group]) -> list[_Sound]:
    """All sounds, a break before each group but the first; it counts to its group."""
    flat: list[_Sound] = []
    for group in groups:
        flat += [_Sound(_BREAK, group[0].place)] if flat else []
        flat += group
    return flat


def _cheapest(left: list[str], right: list[str]) -> list[tuple[int, int]]:
    """For each item of ``right`` the item of ``left`` it stands for, by edit distance."""
    cost = [list(range(len(right) + 1))]
    for i, a in enumerate(left):
        row = [i + 1]
        for j, b in enumerate(right):
            row.append(min(cost[i][j] + _swap(a, b), cost[i][j + 1] + 1, row[j] + 1))
        cost.append(row)
    return _trace(cost, left, right)


def _trace(cost: list[list[int]], left: list[str], right: list[str]) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    i, j = len(left), len(right)
    while j:
        if i and cost[i][j] == cost[i - 1][j - 1] + _swap(left[i - 1], right[j - 1]):
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif i and cost[i][j] == cost[i - 1][j] + 1:
            i -= 1
        else:  # said but not in the words: counts to the word before, if there is one
            j -= 1
            pairs.append((max(i - 1, 0), j))
    return pairs[::-1]


def _swap(a: str, b: str) -> int:
    if a == b:
        return 0
    return _SPLIT_GROUP if _BREAK in (a, b) else 1
