"""The picture of a conversation shows what happened."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

import pytest

from edgevoice.core.table import Place
from edgevoice.demo.timeline import ONWARDS, Lanes, Mark, Span, render

ANSWER = Span(2.0, 6.0, "The story of a dragon")


def lanes(*, user: Sequence[Span] = (), marks: Sequence[Mark] = (), end: float = 6.0) -> Lanes:
    return Lanes(user, [ANSWER], [(Place.IDLE, Span(0, end))], marks)


def written(picture: Lanes) -> dict[str, ET.Element]:
    """Every text of the picture."""
    svg = ET.fromstring(render(picture, "title"))
    return {node.text or "": node for node in svg.iter() if node.tag.endswith("text")}


@pytest.mark.parametrize(
    ("hold", "expected"),
    [
        (Span(3, 4), [Span(2, 3, ANSWER.text), Span(4, 6, ONWARDS)]),
        (Span(5, 7), [Span(2, 5, ANSWER.text)]),
        (Span(1, 3), [Span(3, 6, ANSWER.text)]),
        (Span(6, 7), [ANSWER]),
        (Span(1, 2), [ANSWER]),
        (Span(1, 7), []),
    ],
)
def test_it_says_nothing_while_it_is_held(hold: Span, expected: list[Span]) -> None:
    states = [(Place.PLAYING, ANSWER), (Place.HELD, hold)]
    assert Lanes([], [ANSWER], states, []).sounding == expected


def test_an_answer_that_goes_on_has_its_words_once_and_a_chime_has_none() -> None:
    chimes = [Span(0, 0.5), Span(0.6, 1.0)]
    rest = Span(7.0, 8.0, ANSWER.text)
    sounding = Lanes([], [*chimes, ANSWER, rest], [], []).sounding
    assert sounding == [*chimes, ANSWER, Span(7.0, 8.0, ONWARDS)]


def test_what_is_too_short_for_its_words_has_them_above_it() -> None:
    texts = written(lanes(user=[Span(0.5, 1.5, "Tell me."), Span(3.0, 3.3, "Uh-huh.")]))
    above, inside = (float(texts[text].get("y", "")) for text in ("Uh-huh.", "Tell me."))
    assert above < inside


def test_a_decision_near_the_edge_is_written_before_its_line() -> None:
    early, late = Mark(3.0, "speak: bargein.rejected"), Mark(15.5, "hold: bargein.evidence")
    texts = written(lanes(user=[Span(14.0, 15.9, "Stop.")], marks=[early, late]))
    assert [texts[mark.text].get("text-anchor") for mark in (early, late)] == ["start", "end"]
