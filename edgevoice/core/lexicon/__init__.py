"""What the device knows of a language: word lists, phrases and labels.

Python data and no files, because the core does no I/O.  Another language is
one more module like `en` with one `Lexicon` in it, and one entry in `_KNOWN`.
"""

from __future__ import annotations

from edgevoice.core.lexicon.de import GERMAN
from edgevoice.core.lexicon.en import ENGLISH
from edgevoice.core.lexicon.model import Lexicon, find_phrase, words
from edgevoice.errors import ConfigError

__all__ = ["LANGUAGES", "Lexicon", "find_phrase", "lexicon", "words"]

_KNOWN = {known.language: known for known in (ENGLISH, GERMAN)}

LANGUAGES = tuple(_KNOWN)
"""Codes of the languages that have word lists."""


def lexicon(language: str) -> Lexicon:
    """The lexicon of a language code such as ``en``, ``de`` or ``en-US``.

    Raises `edgevoice.errors.ConfigError` when there is none.
    """
    code = language.lower().replace("_", "-").partition("-")[0]
    if code not in _KNOWN:
        raise ConfigError(
            f"language: there are no word lists for {language!r}",
            f"use one of {', '.join(LANGUAGES)}",
        )
    return _KNOWN[code]
