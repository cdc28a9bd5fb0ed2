"""EasyTurn's timing table, in simulated time."""

from __future__ import annotations

import pytest

from edgevoice.core.tuning import Turn
from tests.core.ear import SILENCE, SPEECH, Ear, ms

AGGRESSIVE = Turn(
    min_silence_to_speak_ms=300,
    min_silence_short_utterance_ms=300,
    hysteresis_window_ms=150,
    hysteresis_overlaps_silence=True,
)


def spoken_to(turn: Turn | None = None) -> Ear:
    ear = Ear(turn)
    ear.listen(1000, **SPEECH)
    return ear


def test_default_answers_600_to_700_ms_after_the_end_of_speech() -> None:
    assert spoken_to().until_speak() == 600


@pytest.mark.parametrize("period_ms", [10, 20, 30, 40])
def test_the_period_of_the_calls_hardly_matters(period_ms: int) -> None:
    silence_ms = spoken_to().until_speak(samples=ms(period_ms))
    assert silence_ms is not None
    assert 600 <= silence_ms <= 700


def test_aggressive_answers_within_300_ms_because_its_waits_overlap() -> None:
    assert spoken_to(AGGRESSIVE).until_speak() == 300


def test_asr_stabilisation_overlaps_with_the_silence() -> None:
    ear = spoken_to()
    ear.listen(250, **SILENCE)
    ear.hears("what time is it in paris")
    assert ear.until_speak() == 350


def test_the_lag_of_the_detector_is_not_waited_for() -> None:
    """Energy falls at once, the speech probability 110 ms later."""
    ear = spoken_to()
    ended = ear.now
    ear.listen(110, 0.001, 0.8)
    assert ear.until_speak() == 490
    assert ear.policy.speech_ended_at == ended


def test_an_interruption_is_suggested_in_the_frame_it_is_heard_in() -> None:
    ear = spoken_to()
    ear.until_speak()
    assert ear.frame(**SPEECH).reason == "pending_HOLD"
