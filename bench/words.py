"""What was heard of a voice, as a recogniser writes it down."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np

from edgevoice.core.lexicon import words
from edgevoice.ports import Recogniser, Samples

_TAIL = 25
"""Words of the history that the last seconds of a tape can hold."""


def heard_at_the_end(tape: Samples, recogniser: Recogniser) -> list[str]:
    """The words on a tape that ends where somebody was cut off."""
    recogniser.begin()
    recogniser.accept(np.concatenate((tape, np.zeros(4800, np.int16))))
    return words(recogniser.flush().text)


def words_wrong(history: str, heard: Sequence[str]) -> int:
    """Words by which the end of ``history`` is longer or shorter than what was heard.

    Counted from the last two words in a row on which both agree, for a recogniser mishears
    a word now and then, and most often one that was cut.
    """
    written = words(history)[-_TAIL:]
    matcher = SequenceMatcher(None, written, list(heard), autojunk=False)
    sure = [block for block in matcher.get_matching_blocks() if block.size >= 2]
    if not sure:
        return max(len(written), len(heard))
    last = sure[-1]
    return abs((len(written) - last.a) - (len(heard) - last.b))
