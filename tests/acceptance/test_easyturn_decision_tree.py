"""EasyTurn's decision tree, one test for each branch of the document."""

from __future__ import annotations

import pytest

from edgevoice.core.easyturn import Blocker, TurnState
from tests.core.ear import SILENCE, SPEECH, Ear, ms


@pytest.fixture
def ear() -> Ear:
    """After a whole sentence whose end was just heard."""
    ear = Ear()
    ear.hears("what time is it in paris")
    ear.listen(1000, **SPEECH)
    return ear


@pytest.fixture
def answering(ear: Ear) -> Ear:
    assert ear.until_speak() is not None
    return ear


# -- is the user speaking? -------------------------------------------------------


def test_speaking_by_energy_over_0_02_alone(ear: Ear) -> None:
    ear.listen(700, **SILENCE)
    assert ear.frame(0.021, 0.0).speaking


def test_speaking_by_vad_over_0_7_alone(ear: Ear) -> None:
    ear.listen(700, **SILENCE)
    assert ear.frame(0.0, 0.71).speaking


def test_exactly_at_the_thresholds_is_not_speaking(ear: Ear) -> None:
    ear.listen(700, **SILENCE)
    assert not ear.frame(0.02, 0.7).speaking


def test_not_speaking_needs_energy_below_0_005_and_vad_below_0_3(ear: Ear) -> None:
    assert not ear.frame(0.0049, 0.29).speaking


@pytest.mark.parametrize(("energy", "vad"), [(0.005, 0.1), (0.004, 0.3), (0.02, 0.7)])
def test_between_the_thresholds_the_last_verdict_stands(
    ear: Ear, energy: float, vad: float
) -> None:
    assert ear.frame(energy, vad).speaking
    ear.listen(700, **SILENCE)
    assert not ear.frame(energy, vad).speaking


# -- HOLD: what is missing? --------------------------------------------------------


def test_hold_while_the_user_speaks(ear: Ear) -> None:
    decision = ear.listen(5000, **SPEECH)
    assert (decision.state, decision.reason) == (TurnState.HOLD, "stable_HOLD")
    assert decision.blocked_by == Blocker.SPEAKING


def test_hold_while_silence_is_below_400_ms(ear: Ear) -> None:
    decision = ear.listen(390, **SILENCE)
    assert (decision.reason, decision.blocked_by) == ("stable_HOLD", Blocker.SILENCE)
    assert ear.frame(**SILENCE).reason == "pending_SPEAK"


def test_hold_while_silence_of_a_short_utterance_is_below_500_ms(ear: Ear) -> None:
    ear.hears("what time is it now", changed_at=0)
    assert len(ear.heard.text) == 19
    assert ear.listen(490, **SILENCE).blocked_by == Blocker.SILENCE
    assert ear.frame(**SILENCE).reason == "pending_SPEAK"


@pytest.mark.parametrize("text", ["", "tea", "abcd"])
def test_hold_while_the_text_is_below_5_characters(ear: Ear, text: str) -> None:
    ear.hears(text, changed_at=0)
    assert ear.listen(3000, **SILENCE).blocked_by == Blocker.TEXT_LENGTH


@pytest.mark.parametrize("text", ["yes", "no", "4k", "42", "okay", "ten"])
def test_a_complete_short_answer_passes_below_5_characters(ear: Ear, text: str) -> None:
    ear.hears(text, changed_at=0)
    assert ear.until_speak() == 700


@pytest.mark.parametrize("text", ["tulip", "yes"])
def test_no_text_is_too_short_when_the_limit_is_its_length(ear: Ear, text: str) -> None:
    ear.hears(text, changed_at=0)
    assert ear.until_speak() == 700


def test_hold_while_confidence_is_below_0_6(ear: Ear) -> None:
    ear.hears("what time is it in paris", confidence=0.59, changed_at=0)
    assert ear.listen(3000, **SILENCE).blocked_by == Blocker.CONFIDENCE
    ear.hears("what time is it in paris", confidence=0.6, changed_at=0)
    assert ear.frame(**SILENCE).reason == "pending_SPEAK"


def test_a_partial_without_confidence_counts_as_its_stable_share(ear: Ear) -> None:
    ear.hears("what time is it in paris", confidence=None, stability=0.5, changed_at=0)
    assert ear.listen(3000, **SILENCE).blocked_by == Blocker.CONFIDENCE
    ear.hears("what time is it in paris", confidence=None, stability=0.8, changed_at=0)
    assert ear.frame(**SILENCE).reason == "pending_SPEAK"


def test_hold_while_stability_is_below_0_8(ear: Ear) -> None:
    ear.hears("what time is it in paris", stability=0.79, changed_at=0)
    assert ear.listen(3000, **SILENCE).blocked_by == Blocker.STABILITY


def test_hold_while_the_text_changed_less_than_150_ms_ago(ear: Ear) -> None:
    ear.listen(400, **SILENCE)
    ear.hears("what time is it in paris")
    decision = ear.listen(140, **SILENCE)
    assert decision.blocked_by == Blocker.TEXT_SETTLING
    assert ear.frame(**SILENCE).reason == "pending_SPEAK"


def test_all_checks_pass_suggests_speak_and_200_ms_later_it_is(ear: Ear) -> None:
    reasons = [decision.reason for decision in ear.run(620, **SILENCE)]
    assert reasons[39:60] == [
        "pending_SPEAK",
        *(f"pending_SPEAK_{elapsed}ms" for elapsed in range(10, 200, 10)),
        "transition_to_SPEAK_eot",
    ]
    assert reasons[60:] == ["stable_SPEAK"] * 2


@pytest.mark.parametrize("text", ["tell me about the weather and", "i would like a", "it is um"])
def test_hold_for_1500_ms_when_the_last_word_promises_more(ear: Ear, text: str) -> None:
    ear.hears(text, changed_at=0)
    assert ear.listen(1490, **SILENCE).blocked_by == Blocker.INCOMPLETE
    assert ear.frame(**SILENCE).reason == "pending_SPEAK"


# -- hysteresis ----------------------------------------------------------------------


def test_a_verdict_that_breaks_off_starts_its_window_anew(ear: Ear) -> None:
    ear.listen(590, **SILENCE)
    ear.hears("what time is it in paris", confidence=0.1, changed_at=0)
    assert ear.frame(**SILENCE).reason == "stable_HOLD"
    ear.hears("what time is it in paris", changed_at=0)
    assert ear.frame(**SILENCE).reason == "pending_SPEAK"
    assert ear.listen(190, **SILENCE).reason == "pending_SPEAK_190ms"
    assert ear.frame(**SILENCE).reason == "transition_to_SPEAK_eot"


# -- SPEAK: does the user take the turn back? ---------------------------------------------


def test_speak_stays_without_an_interruption(answering: Ear) -> None:
    decision = answering.listen(3000, **SILENCE)
    assert (decision.state, decision.reason) == (TurnState.SPEAK, "stable_SPEAK")


def test_speak_suggests_hold_by_energy_over_0_015(answering: Ear) -> None:
    assert answering.frame(0.015, 0.0).reason == "stable_SPEAK"
    assert answering.frame(0.016, 0.0).reason == "pending_HOLD"


def test_speak_suggests_hold_by_vad_over_0_6(answering: Ear) -> None:
    assert answering.frame(0.0, 0.6).reason == "stable_SPEAK"
    assert answering.frame(0.0, 0.61).reason == "pending_HOLD"


def test_an_interruption_of_200_ms_is_a_transition_to_hold(answering: Ear) -> None:
    decisions = list(answering.run(210, 0.03, 0.65))
    assert decisions[4].reason == "pending_HOLD_40ms"
    assert {d.state for d in decisions[:20]} == {TurnState.SPEAK}
    assert decisions[20].reason == "transition_to_HOLD_interrupt"
    assert decisions[20].state is TurnState.HOLD


def test_a_click_of_190_ms_does_not_interrupt(answering: Ear) -> None:
    answering.listen(190, 0.03, 0.65)
    assert answering.listen(500, **SILENCE).reason == "stable_SPEAK"


# -- a new utterance ---------------------------------------------------------------------


def test_reset_starts_in_hold_with_the_silence_counted_from_there(answering: Ear) -> None:
    answering.policy.reset(answering.now)
    decision = answering.frame(**SILENCE)
    assert (decision.state, decision.silence_ms) == (TurnState.HOLD, 10.0)
    assert answering.policy.speech_started_at is answering.policy.speech_ended_at is None
    assert answering.now > ms(1000)
