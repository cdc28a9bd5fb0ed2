from __future__ import annotations

import pytest

from edgevoice.core.completeness import promises_more
from edgevoice.core.lexicon import lexicon


@pytest.mark.parametrize(
    "text",
    [
        "turn on the", "tell me about the weather and", "i want to", "set a timer for", "um",
        "play something by", "can you", "i think it's", "what is the weather in", "so um",
        "remind me to buy ah", "what about", "turn on", "is it warm or",
        "for", "is", "i bought it for", "tell me what he or", "what is the price of", "what is",
    ],
)  # fmt: skip
def test_an_open_word_promises_more(text: str) -> None:
    assert promises_more(text, lexicon("en"))


@pytest.mark.parametrize(
    "text",
    [
        "i would like to set", "please find", "could you translate",
        "what is the difference", "show me the new", "remind me to call my mother on",
        "what did", "how do i", "do i", "when does the next", "what did the president",
        "i think that we", "could you explain to me how", "find out which",
        "is there", "set a timer", "how far is it", "remind",
        "remind me to call", "play some quite", "switch off the light in the living",
        "if it rains tomorrow", "when i come home in the evening",
        "before you switch off the lights", "when the washing machine is done",
        "if you play outside tomorrow", "if you want to play outside",
    ],
)  # fmt: skip
def test_a_sentence_without_an_object_a_noun_a_verb_or_a_clause_promises_more(text: str) -> None:
    assert promises_more(text, lexicon("en"))


@pytest.mark.parametrize(
    "text",
    [
        "", "turn on the lamp", "turn the lamp on", "turn it off", "yes", "what time is it",
        "what is this for", "where are you from", "tell me what time it is", "i think so", "stop",
        "what is it about", "what's it like", "come in", "what is the weather like",
        "tell me how old the pyramids are", "what's up", "set a timer for ten minutes",
        "what should i buy", "what do you need", "what is your name", "what's on", "play",
        "what can you do", "yes i can", "who is he", "how old are they", "where did they go",
        "tell me more", "how long", "how does it work", "is that right", "are you sure",
        "if it rains tomorrow remind me to take an umbrella", "when is christmas",
        "when i come home turn on the heating", "before midnight", "after you", "in berlin",
        "when does the next train leave", "hello", "because i like it", "give me a call",
        "whom did he call", "how", "which", "after the lamp was off call me",
        "if it rains tomorrow we stay at home", "if i am late what happens",
    ],
)  # fmt: skip
def test_complete_in_english(text: str) -> None:
    assert not promises_more(text, lexicon("en"))


@pytest.mark.parametrize(
    "text",
    [
        "schalte die", "ich möchte", "stell einen wecker für", "erzähl mir was und", "ähm",
        "was kann ich", "wenn es morgen regnet", "zeig mir das neue", "stell einen timer",
        "sag mir welche",
    ],
)  # fmt: skip
def test_open_in_german(text: str) -> None:
    assert promises_more(text, lexicon("de"))


@pytest.mark.parametrize(
    "text",
    [
        "schalte das licht ein", "mach das licht an", "was ist das", "weißt du wie spät es ist",
        "weißt du wer das ist", "stell den wecker auf sieben uhr", "ja", "wie alt ist er",
        "wenn es regnet erinnere mich an den schirm", "was kannst du machen", "wo wohnt sie",
    ],
)  # fmt: skip
def test_complete_in_german(text: str) -> None:
    assert not promises_more(text, lexicon("de"))
