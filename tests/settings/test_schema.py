"""The schema keeps its own rules, and the numbers of the behaviour are its defaults."""

from dataclasses import fields

import pytest

from edgevoice.core.lexicon import LANGUAGES
from edgevoice.core.tuning import Tuning
from edgevoice.settings.checks import ORDERS, check
from edgevoice.settings.keys import KEYS, SECTIONS, Key, build, value_of
from edgevoice.settings.schema import PROFILES, Settings, tuning

ALL_KEYS = pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)


@ALL_KEYS
def test_every_key_is_explained(key: Key) -> None:
    assert key.doc.endswith(".")
    assert "\n" not in key.doc
    assert "|" not in key.doc, "it stands in a table of Markdown"


@ALL_KEYS
def test_every_number_has_limits_and_a_default_within_them(key: Key) -> None:
    values = key.default if isinstance(key.default, list) else [key.default]
    assert all(type(value) is key.type for value in values)
    if key.type in (int, float):
        assert key.ge is not None
        assert key.le is not None
        assert all(key.ge <= value <= key.le for value in values)  # type: ignore[operator]
    if key.choices:
        assert {str(value) for value in values} <= set(key.choices)


@ALL_KEYS
def test_a_unit_in_the_name_is_the_unit(key: Key) -> None:
    for suffix in ("ms", "s"):
        if key.leaf.endswith(f"_{suffix}"):
            assert key.unit == suffix


@pytest.mark.parametrize("profile", PROFILES)
def test_no_profile_breaks_a_rule(profile: str) -> None:
    settings = build({"profile": profile, **PROFILES[profile]})
    assert list(check(settings, {})) == []


def test_profiles_are_the_choices() -> None:
    assert tuple(PROFILES) == KEYS["profile"].choices


def test_languages_are_those_that_have_word_lists() -> None:
    assert KEYS["language"].choices == LANGUAGES


def test_rules_compare_numbers_of_like_units() -> None:
    for order in ORDERS:
        low, high = KEYS[order.low], KEYS[order.high]
        assert low.unit == high.unit or {low.unit, high.unit} == {"ms", "s"}


def test_the_core_is_told_all_of_its_sections() -> None:
    settings = Settings()
    told = tuning(settings)
    assert told == Tuning()
    assert told.activation == frozenset(settings.activation)
    for part in fields(Tuning):
        if part.name in SECTIONS:
            assert getattr(told, part.name) is getattr(settings, part.name)


def test_what_is_built_is_what_was_said() -> None:
    values = {"llm.threads": 3, "language": "en", "barge_in.hard_words": ["halt"]}
    settings = build(values)
    assert {name: value_of(settings, name) for name in values} == values
    assert settings.turn == Settings().turn


def test_the_numbers_of_the_behaviour() -> None:
    settings = Settings()
    turn, held, times = settings.turn, settings.barge_in, settings.timeouts
    assert (turn.min_silence_to_speak_ms, turn.min_silence_short_utterance_ms) == (400, 500)
    assert (turn.min_confidence_to_speak, turn.stability_threshold) == (0.6, 0.8)
    assert (turn.text_settle_ms, turn.hysteresis_window_ms) == (150, 200)
    assert (held.onset_ms, held.commit_ms, held.min_words) == (60, 800, 2)
    assert (times.held_s, times.follow_up_s, times.processing_s) == (1.5, 8.0, 30.0)
