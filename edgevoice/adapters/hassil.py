"""Sentence templates by hassil, the intent recogniser of Home Assistant.

It is kept, pure Python and light (488 kB, and 1.5 MB of number words by unicode-rbnf),
and reads "twenty five" in every language that the Unicode consortium has number words
for.  A match against all of the templates takes some milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from edgevoice.errors import ConfigError

_MAX_CHARACTERS = 300
"""A longer utterance is no order; and matching time grows with the length."""

_PUNCTUATION = re.compile(r"[.,;:!?]+(?=\s|$)")


class HassilSentences:
    """Templates of one language, as hassil's YAML has them.

    Raises `ConfigError` when a template is broken.
    """

    def __init__(self, templates: Mapping[str, Any]) -> None:
        from hassil import Intents

        try:
            self._intents = Intents.from_dict(dict(templates))
        except Exception as error:  # whatever its parser meets in a text that is no template
            raise ConfigError(f"a sentence template is broken ({error})") from None
        for name, intent in self._intents.intents.items():
            for data in intent.data:
                self._check(name, data)
        self._language = str(templates["language"])

    def _check(self, name: str, data: Any) -> None:
        """The parser reads a sentence when it is first needed: too late to complain."""
        lists = {*self._intents.slot_lists, *data.slot_lists}
        rules = {*self._intents.expansion_rules, *data.expansion_rules}
        try:
            found = [each for s in data.sentences for each in _references(s.expression)]
        except Exception as error:  # see above
            raise ConfigError(f"a sentence of {name} is broken ({error})") from None
        for each in found:
            if getattr(each, "rule_name", None) not in {None, *rules}:
                raise ConfigError(
                    f"a sentence of {name} names <{each.rule_name}>, which is no rule"
                )
            if getattr(each, "list_name", None) not in {None, *lists}:
                raise ConfigError(
                    f"a sentence of {name} names {{{each.list_name}}}, which is no parameter of it"
                )

    def match(self, text: str) -> tuple[str, Mapping[str, Any]] | None:
        """Name and slots of the template that ``text`` fits best, if it fits one whole.

        Fixed words beat a free name, and a short name beats a long one.
        """
        from hassil import recognize_all

        said = _PUNCTUATION.sub("", text).replace("-", " ").lower().strip()
        if not said or len(said) > _MAX_CHARACTERS:
            return None
        results = list(recognize_all(said, self._intents, language=self._language))
        if not results:
            return None
        best = min(results, key=_freedom)
        return best.intent.name, {e.name: _value(e.value) for e in best.entities.values()}


def _references(expression: Any) -> Iterator[Any]:
    """Every list and rule that an expression names."""
    if hasattr(expression, "list_name") or hasattr(expression, "rule_name"):
        yield expression
    for item in getattr(expression, "items", ()):
        yield from _references(item)


def _freedom(result: Any) -> tuple[int, int]:
    """How much of a match is free text, and how little of it fixed; the least fits best."""
    free = sum(len(e.text.split()) for e in result.entities_list if e.is_wildcard)
    return free, -result.text_chunks_matched


def _value(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value
