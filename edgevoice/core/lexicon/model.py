"""The shape of a lexicon, and how text is compared with it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from edgevoice.core.table import Place

_WORD = re.compile(r"\d+(?:[.,:]\d+)*[^\W_]*|[^\W_]+(?:'[^\W_]+)*")
_APOSTROPHES = str.maketrans("’‘ʼ`", "''''")


def words(text: str) -> list[str]:
    """The words of ``text``, lower case and bare of punctuation.

    An apostrophe stays inside a word (``don't``) and a number stays whole
    (``3.5``, ``10:30``, ``4k``).  A hyphen separates, because recognisers
    write "twenty three" for what the device itself spells "twenty-three";
    "uh-huh" is thus the two-word phrase ``uh huh`` in every list.
    """
    plain = unicodedata.normalize("NFKC", text.translate(_APOSTROPHES)).lower()
    return _WORD.findall(plain)


def phrase_set(lines: str) -> frozenset[str]:
    """The phrases of a text in which commas and line ends separate them."""
    return frozenset(entry.strip() for entry in lines.replace("\n", ",").split(",")) - {""}


def find_phrase(spoken: Sequence[str], phrases: Collection[str]) -> str | None:
    """The first of ``phrases`` that occurs in ``spoken``, word for word and in a row.

    ``phrases`` are written as `words` leaves them, joined with single spaces.
    """
    for start in range(len(spoken)):
        if length := _match(spoken, start, phrases):
            return " ".join(spoken[start : start + length])
    return None


_LONGEST_PHRASE = 5


def _match(spoken: Sequence[str], start: int, phrases: Collection[str]) -> int:
    """Words of the longest phrase that begins at ``start``; 0 when there is none."""
    for length in range(min(_LONGEST_PHRASE, len(spoken) - start), 0, -1):
        if " ".join(spoken[start : start + length]) in phrases:
            return length
    return 0


def _without(spoken: Sequence[str], phrases: Collection[str]) -> list[str]:
    """``spoken`` with every phrase taken out; of several at one place the longest."""
    left = []
    at = 0
    while at < len(spoken):
        length = _match(spoken, at, phrases)
        if not length:
            left.append(spoken[at])
        at += length or 1
    return left


@dataclass(frozen=True)
class Lexicon:
    """One language.  Entries of the lists are phrases as `words` leaves them."""

    language: str
    soft_acks: frozenset[str]
    """Said while listening; they ask for nothing ("yeah", "uh huh", "i see")."""
    clear_acks: frozenset[str]
    """Those of them that sound like no order, to be listened for apart."""
    fillers: frozenset[str]
    """Said while thinking ("um")."""
    hard_words: frozenset[str]
    """Each stops the device at once, by default ("stop")."""
    short_answers: frozenset[str]
    """Complete utterances however short they are ("yes", "why")."""
    number_words: frozenset[str]
    strays: frozenset[str]
    """What the recogniser makes of the end of the wake phrase, in front of what is said next."""
    stop_phrases: frozenset[str]
    """Each as a whole utterance ends what the device is busy with ("cancel that")."""
    silencers: frozenset[str]
    """Each as a whole utterance stops a timer or an alarm that rings ("turn it off")."""
    closings: frozenset[str]
    """They end the conversation ("thank you", "never mind")."""
    open_endings: frozenset[str]
    """An utterance that ends in one of these promises more ("and", "of the")."""
    closed_endings: frozenset[str]
    """Endings that are complete although their last word is an open one."""
    strandable: frozenset[str]
    """Open endings that end a question well after a pronoun ("what is it for")."""
    final_verbs: frozenset[str]
    """Open endings that end an indirect question well ("tell me how old it is")."""
    interrogatives: frozenset[str]
    pronouns: frozenset[str]
    subjects: frozenset[str]
    """Pronouns, and what stands like one, that can be the subject of a sentence."""
    determiners: frozenset[str]
    """A noun follows each of them, at once or after an attribute ("the", "my")."""
    attributes: frozenset[str]
    """After a determiner these promise a noun ("the new", "the difference of")."""
    object_verbs: frozenset[str]
    """Orders and verbs that are nothing without an object ("play")."""
    auxiliaries: frozenset[str]
    """Verbs that a question puts before its subject, and that promise another ("does")."""
    nominatives: frozenset[str]
    """Pronouns that are always subjects, so a verb follows them or was a form of "be"."""
    relatives: frozenset[str]
    """Within an utterance they begin another clause ("explain to me how")."""
    particles: frozenset[str]
    """Prepositions that may also belong to a verb: "turn the lamp on"."""
    particle_verbs: frozenset[str]
    """And those verbs."""
    openings: frozenset[str]
    """As a whole utterance each is only the beginning of one ("is there")."""
    subordinators: frozenset[str]
    """A sentence that begins with one of these and a subject has another clause to come."""
    orders: frozenset[str]
    """Verbs that people give the device orders with."""
    conjunctions: frozenset[str]
    """Written text may be cut before one of these."""
    abbreviations: frozenset[str]
    """Their full stop never ends a sentence; written without the last one."""
    final_abbreviations: frozenset[str]
    """Their full stop ends a sentence when a capital follows."""
    ordinal_dot: bool
    """Whether "3." is an ordinal, as in German, more often than a sentence's end."""
    check_ins: tuple[str, ...]
    """Questions into dead air, in this order."""
    progress: tuple[str, ...]
    """While a long task runs: at once, after 5 s, after 15 to 30 s."""
    phrases: Mapping[str, str]
    """What else the device says of its own accord: ``no_answer`` is the apology,
    ``unavailable`` stands for an answer while the language model cannot be had,
    ``tool_failed`` for one that a tool should have given,
    ``summary`` goes above the condensed part of a conversation in the prompt."""
    labels: Mapping[Place, str]
    """What a display shows for each place."""

    @cached_property
    def _noise(self) -> frozenset[str]:
        return self.soft_acks | self.fillers

    @cached_property
    def _answers(self) -> frozenset[str]:
        return self.short_answers | self.number_words

    def without_acks(self, spoken: Sequence[str]) -> list[str]:
        """The `words` that are neither soft-ack nor filler."""
        return _without(spoken, self._noise)

    def closes(self, spoken: Sequence[str]) -> bool:
        """Whether the whole utterance says goodbye ("okay thank you bye")."""
        return _made_of(spoken, self.closings, self._noise)

    def stops(self, text: str) -> bool:
        """Whether the whole utterance calls off what the device is busy with."""
        return _made_of(words(text), self.stop_phrases, self._noise)

    def silences(self, text: str) -> bool:
        """Whether the whole utterance is meant for an alarm that rings."""
        return _made_of(
            words(text), self.silencers | self.stop_phrases | self.closings, self._noise
        )

    def is_short_answer(self, text: str) -> bool:
        """Whether it is complete as it stands: yes, no, a number, a one-word order."""
        spoken = words(text)
        spelled = [word for word in spoken if not word[0].isdigit()]
        if spoken and not spelled:
            return True
        return _made_of(spelled, self._answers, self.fillers)


def _made_of(spoken: Sequence[str], kind: frozenset[str], besides: frozenset[str]) -> bool:
    """Whether there is something of ``kind`` in it, and nothing but that and ``besides``."""
    return find_phrase(spoken, kind) is not None and not _without(spoken, kind | besides)
