"""Whether the words that were said are a whole utterance or promise more.

A pause after "set a timer for" is no end, however long it lasts; one after "set a timer for
ten minutes" is.  Each rule here knows one way in which a sentence can be unfinished, by word
lists of its language and without a parser: a rule that is wrong costs a longer wait, a
missing one cuts somebody off.  What no rule recognises counts as whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from edgevoice.core.lexicon import Lexicon, find_phrase, words

_LONGEST_ENDING = 4
"""Words of the longest entry among the endings."""


def promises_more(text: str, lexicon: Lexicon) -> bool:
    """Whether the utterance is unfinished as far as its words tell ("and", "the", "um")."""
    spoken = words(text)
    if not spoken or _ends_in(spoken, lexicon.closed_endings):
        return False
    return any(rule(spoken, lexicon) for rule in _RULES)


def _ends_in_open_word(spoken: Sequence[str], lexicon: Lexicon) -> bool:
    """An article, a preposition, a conjunction, a filler, a request without its object."""
    return _ends_in(spoken, lexicon.open_endings) and not _is_stranded(spoken, lexicon)


def _lacks_object(spoken: Sequence[str], lexicon: Lexicon) -> bool:
    """A verb that needs an object, unless a question asks for it: "what should i buy".

    After an article it is a noun: "give me a call".
    """
    *_, before, last = ("", *spoken)
    return (
        before not in {"", *lexicon.determiners}
        and last in lexicon.object_verbs
        and find_phrase(spoken[:-1], lexicon.interrogatives) is None
    )


def _lacks_noun(spoken: Sequence[str], lexicon: Lexicon) -> bool:
    """An article and an attribute, "the new", or a preposition that belongs to no verb."""
    before, last = ("", *spoken)[-2:]
    if last in lexicon.particles:
        return lexicon.particle_verbs.isdisjoint(spoken)
    return before in lexicon.determiners and last in lexicon.attributes


def _lacks_clause(spoken: Sequence[str], lexicon: Lexicon) -> bool:
    """It ends where a clause has just begun: "explain to me how", "i think that we"."""
    before, last = ("", *spoken)[-2:]
    if last in lexicon.nominatives:
        return before not in lexicon.final_verbs
    return len(spoken) > 1 and last in lexicon.relatives


def _lacks_verb(spoken: Sequence[str], lexicon: Lexicon) -> bool:
    """A question without its verb: "what did", "how do i", "when does the next"."""
    *_, article, last = ("", *spoken)
    subject = 2 if article in lexicon.determiners else 0 if last in lexicon.auxiliaries else 1
    *before, auxiliary = ("", *spoken[: len(spoken) - subject])
    if auxiliary not in lexicon.auxiliaries:
        return False
    asks = before[-1] == "" or before[-1] in lexicon.interrogatives
    return asks and (subject != 1 or last in lexicon.subjects)


def _is_an_opening(spoken: Sequence[str], lexicon: Lexicon) -> bool:
    """What nobody says alone: "is there", "set a timer", a bare verb of an order."""
    if len(spoken) == 1 and spoken[0] in lexicon.orders:
        return spoken[0] not in lexicon.short_answers
    return " ".join(spoken) in lexicon.openings


def _lacks_main_clause(spoken: Sequence[str], lexicon: Lexicon) -> bool:
    """A condition without its consequence: "if it rains tomorrow".

    The consequence shows by a subject of its own, a question or an order; an order
    follows neither a subject nor "to".
    """
    first, second, *rest = (*spoken, "", "", "")
    if (
        not rest[0]
        or first not in lexicon.subordinators
        or second not in lexicon.subjects | lexicon.determiners
    ):
        return False
    return not any(
        _opens_clause(before, word, lexicon)
        for before, word in zip((second, *rest), rest, strict=False)
    )


def _opens_clause(before: str, word: str, lexicon: Lexicon) -> bool:
    if word in lexicon.interrogatives or word in lexicon.subjects:
        return True
    return word in lexicon.orders and before not in {*lexicon.subjects, "to"}


def _ends_in(spoken: Sequence[str], phrases: frozenset[str]) -> bool:
    return any(" ".join(spoken[-length:]) in phrases for length in range(1, _LONGEST_ENDING + 1))


def _is_stranded(spoken: Sequence[str], lexicon: Lexicon) -> bool:
    """Whether the last word is an open one but ends a question: "what is this for"."""
    *question, before, last = ("", *spoken)
    if last not in lexicon.final_verbs and not (
        last in lexicon.strandable and before in lexicon.pronouns
    ):
        return False
    return find_phrase(question, lexicon.interrogatives) is not None


_Rule = Callable[[Sequence[str], Lexicon], bool]
_RULES: tuple[_Rule, ...] = (
    _ends_in_open_word,
    _lacks_object,
    _lacks_noun,
    _lacks_verb,
    _lacks_clause,
    _is_an_opening,
    _lacks_main_clause,
)
