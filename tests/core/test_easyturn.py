from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevoice.core.easyturn import POLICIES, Blocker, Hysteresis, TurnState, make_policy
from edgevoice.core.events import SoundFrame
from edgevoice.core.lexicon import lexicon
from edgevoice.core.tuning import BargeIn, Turn
from edgevoice.errors import ConfigError
from tests.core.ear import FRAME, SILENCE, SPEECH, Ear, ms

frames = st.lists(
    st.tuples(st.floats(0, 0.2), st.floats(0, 1), st.integers(1, 5)), min_size=1, max_size=150
)


@given(frames)
def test_no_transition_without_a_whole_window_of_pending(
    sounds: list[tuple[float, float, int]],
) -> None:
    ear = Ear()
    pending = 0
    state = TurnState.HOLD
    for energy, vad, blocks in sounds:
        decision = ear.frame(energy, vad, blocks * FRAME)
        if decision.state is not state:
            assert decision.reason.startswith(f"transition_to_{decision.state.value}_")
            assert pending + blocks * FRAME >= ms(200)
        pending = pending + blocks * FRAME if decision.reason.startswith("pending") else 0
        state = decision.state
        assert 0.0 <= decision.confidence <= 1.0
        assert decision.silence_ms >= 0.0


@given(frames)
def test_speak_is_never_decided_in_the_middle_of_speech(
    sounds: list[tuple[float, float, int]],
) -> None:
    ear = Ear()
    for energy, vad, blocks in sounds:
        decision = ear.frame(energy, vad, blocks * FRAME)
        if decision.reason == "transition_to_SPEAK_eot":
            assert not decision.speaking
            assert decision.silence_ms >= 600 - 5 * 10


def test_a_noisy_room_neither_holds_the_turn_nor_hides_the_speech() -> None:
    ear = Ear(noise=0.03)
    ear.listen(1000, 0.3, 0.95)
    assert ear.listen(390, 0.04, 0.1).blocked_by == Blocker.SILENCE
    assert ear.listen(300, 0.04, 0.1).state is TurnState.SPEAK


@pytest.mark.parametrize(("noise", "state"), [(1e-4, "HOLD"), (0.01, "SPEAK")])
def test_the_interruption_threshold_rises_with_the_noise(noise: float, state: str) -> None:
    ear = Ear()
    ear.listen(500, **SPEECH)
    ear.until_speak()
    ear.noise = noise
    assert ear.listen(400, 0.03, 0.35).state.value == state


def test_thresholds_of_an_interruption_come_from_the_barge_in_tuning() -> None:
    policy = make_policy(Turn(hysteresis_window_ms=0), lexicon("en"), BargeIn(
        interrupt_energy_threshold=0.5, interrupt_vad_threshold=0.9
    ))  # fmt: skip
    ear = Ear()
    ear.policy = policy
    ear.until_speak()
    assert ear.listen(200, 0.3, 0.85).reason == "stable_SPEAK"
    assert ear.listen(200, 0.3, 0.95).state is TurnState.HOLD


def test_fan_noise_that_the_detector_denies_does_not_interrupt() -> None:
    ear = Ear()
    ear.listen(500, **SPEECH)
    ear.until_speak()
    assert {d.state for d in ear.run(3000, 0.1, 0.05)} == {TurnState.SPEAK}


def test_a_barking_dog_does_not_hold_the_turn() -> None:
    ear = Ear()
    ear.listen(1000, **SPEECH)
    states = []
    for _ in range(4):
        states += [d.state for d in ear.run(200, 0.3, 0.1)]
        states += [d.state for d in ear.run(300, **SILENCE)]
    assert TurnState.SPEAK in states


def test_the_user_goes_on_after_a_pause() -> None:
    ear = Ear()
    ear.listen(500, **SPEECH)
    assert ear.listen(390, **SILENCE).state is TurnState.HOLD
    ear.listen(500, **SPEECH)
    assert ear.until_speak() == 600


def test_an_open_ending_is_judged_by_the_language() -> None:
    for language, text in (("en", "turn the lamp on and then"), ("de", "mach das licht an und")):
        ear = Ear(language=language)
        ear.hears(text, changed_at=0)
        ear.listen(500, **SPEECH)
        assert ear.listen(1000, **SILENCE).blocked_by in (Blocker.INCOMPLETE, Blocker.NOTHING)
    assert ear.listen(100, **SILENCE).blocked_by == Blocker.INCOMPLETE


def test_confidence_is_high_at_the_end_and_nil_in_speech() -> None:
    ear = Ear()
    assert ear.listen(500, **SPEECH).confidence == 0.0
    halfway = ear.listen(200, **SILENCE).confidence
    assert 0.0 < halfway < ear.listen(300, **SILENCE).confidence
    assert ear.listen(100, **SILENCE).confidence > 0.85


def test_confidence_is_never_over_one() -> None:
    ear = Ear()
    ear.hears("what time is it in paris", confidence=1.0)
    assert ear.listen(5000, energy=0.001, vad=0.0).confidence == 1.0


def test_there_is_nothing_to_answer_without_words_whatever_the_limit() -> None:
    ear = Ear(Turn(min_text_length=0))
    ear.hears("")
    assert ear.listen(3000, **SILENCE).blocked_by == Blocker.TEXT_LENGTH


def test_an_open_ending_never_waits_less_than_a_complete_one() -> None:
    ear = Ear(Turn(incomplete_extra_ms=0))
    ear.hears("tell me about the weather and", changed_at=0)
    assert ear.until_speak() == 600


def test_an_utterance_may_begin_later_than_now() -> None:
    ear = Ear()
    ear.policy.reset(ms(1000))
    assert ear.frame(**SILENCE).silence_ms == 0.0


def test_no_wait_at_all_is_allowed() -> None:
    ear = Ear(Turn(min_silence_to_speak_ms=150, hysteresis_overlaps_silence=True))
    assert ear.frame(**SILENCE).confidence > 0.85


def test_explain_names_what_is_missing_and_no_words() -> None:
    ear = Ear()
    ear.hears("secret plan of the", changed_at=0)
    line = ear.listen(300, **SILENCE).explain()
    assert line.startswith("stable_HOLD, waits for incomplete (silence 300 ms")
    assert "secret" not in line
    ear.listen(1500, **SPEECH)
    assert "waits" not in ear.listen(2000, **SILENCE).explain()


def test_hysteresis_of_nothing_needs_one_more_look() -> None:
    hysteresis = Hysteresis(0)
    assert hysteresis.apply(TurnState.SPEAK, 0) == "pending_SPEAK"
    assert hysteresis.apply(TurnState.SPEAK, 0) == "transition_to_SPEAK_eot"


# -- the other policies -----------------------------------------------------------------


def test_silence_policy_is_a_plain_timeout() -> None:
    ear = Ear(Turn(policy="silence"))
    ear.hears("tell me about the", confidence=0.0, stability=0.0)
    assert ear.listen(500, **SPEECH).blocked_by == Blocker.SPEAKING
    assert ear.listen(390, **SILENCE).blocked_by == Blocker.SILENCE
    assert ear.frame(**SILENCE).state is TurnState.SPEAK
    assert ear.frame(**SILENCE).reason == "stable_SPEAK"
    decision = ear.frame(**SPEECH)
    assert (decision.state, decision.reason) == (TurnState.HOLD, "stable_HOLD")


def test_silence_policy_has_nothing_to_answer_without_words() -> None:
    ear = Ear(Turn(policy="silence"))
    ear.hears("")
    assert ear.listen(3000, **SILENCE).blocked_by == Blocker.TEXT_LENGTH


def test_manual_policy_never_ends_a_turn_by_itself_but_hears() -> None:
    ear = Ear(Turn(policy="manual"))
    ear.listen(500, **SPEECH)
    assert ear.policy.speaking
    decision = ear.listen(10_000, **SILENCE)
    assert (decision.state, decision.blocked_by) == (TurnState.HOLD, Blocker.BUTTON)
    assert decision.silence_ms == 10_000
    assert (ear.policy.speech_started_at, ear.policy.speech_ended_at) == (0, ms(500))


def test_every_policy_of_the_configuration_can_be_made() -> None:
    choices = Turn.__dataclass_fields__["policy"].metadata["choices"]
    assert set(choices) == set(POLICIES)
    for name in choices:
        policy = make_policy(Turn(policy=name), lexicon("en"))
        policy.reset(0)
        assert not policy.speaking


def test_an_unknown_policy_is_one_clear_line() -> None:
    with pytest.raises(ConfigError, match=r"turn\.policy.*'psychic'.*use one of easyturn"):
        make_policy(Turn(policy="psychic"), lexicon("en"))


def test_words_are_judged_once_and_not_once_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = itertools.count()
    monkeypatch.setattr(
        "edgevoice.core.easyturn.promises_more", lambda text, lexicon: bool(next(calls) < 0)
    )
    ear = Ear()
    ear.listen(1000, **SILENCE)
    assert next(calls) == 1


def test_frames_need_not_be_regular() -> None:
    ear = Ear()
    ear.listen(500, **SPEECH)
    end = ear.now + ms(700)
    decision = ear.policy.update(SoundFrame(0.0, end, FRAME, 0.0, 0.0), ear.heard, 0.0)
    assert decision.silence_ms == 700


@pytest.mark.parametrize("policy", POLICIES)
def test_a_decision_says_all_that_was_asked(policy: str) -> None:
    ear = Ear(Turn(policy=policy))
    ear.listen(200, **SPEECH)
    decision = ear.listen(100, **SILENCE)
    assert decision.state is TurnState.HOLD
    assert decision.reason == "stable_HOLD"
    assert decision.at_sample == ms(300)
    assert decision.speaking is False
    assert decision.silence_ms == 100
    if policy == "manual":
        assert (decision.confidence, decision.blocked_by) == (0.0, Blocker.BUTTON)
    assert ear.frame(**SPEECH).speaking is True


# -- at the limits ------------------------------------------------------------------------


def test_hysteresis_to_the_sample() -> None:
    hysteresis = Hysteresis(200)
    hysteresis.apply(TurnState.SPEAK, 0)
    assert hysteresis.apply(TurnState.SPEAK, 3199) == "pending_SPEAK_199ms"
    assert hysteresis.apply(TurnState.SPEAK, 3200) == "transition_to_SPEAK_eot"


@pytest.mark.parametrize(("text", "waits"), [("a" * 19, 700), ("a" * 20, 600)])
def test_fewer_than_20_characters_are_a_short_utterance(text: str, waits: int) -> None:
    ear = Ear()
    ear.hears(text, changed_at=0)
    ear.listen(500, **SPEECH)
    assert ear.until_speak() == waits


def test_words_that_were_taken_back_are_nothing_to_answer() -> None:
    ear = Ear(Turn(min_text_length=0))
    ear.hears("yes", changed_at=0)
    ear.listen(10, **SILENCE)
    ear.hears("", changed_at=0)
    assert ear.listen(900, **SILENCE).blocked_by == Blocker.TEXT_LENGTH


@pytest.mark.parametrize(("samples", "blocker"), [
    (2398, Blocker.TEXT_SETTLING), (2400, Blocker.NOTHING),
])  # fmt: skip
def test_the_text_must_have_stood_for_150_ms(samples: int, blocker: Blocker) -> None:
    ear = Ear()
    ear.listen(500, **SPEECH)
    ear.listen(450, **SILENCE)
    ear.hears("what time is it now in paris", changed_at=ear.now + FRAME - samples)
    assert ear.frame(**SILENCE).blocked_by == blocker


@pytest.mark.parametrize(("silence_ms", "least", "most"), [(150, 0.8, 1.0), (200, 0.8, 1.0)])
def test_no_wait_is_a_wait_that_is_over(silence_ms: int, least: float, most: float) -> None:
    turn = Turn(min_silence_to_speak_ms=silence_ms, hysteresis_overlaps_silence=True)
    assert least < Ear(turn).frame(**SILENCE).confidence <= most


def test_the_shortest_wait_is_one() -> None:
    ear = Ear(Turn(min_silence_to_speak_ms=201, hysteresis_overlaps_silence=True))
    assert ear.frame(**SPEECH).confidence == 0.0


def test_the_policies_there_are_are_named() -> None:
    with pytest.raises(ConfigError) as error:
        make_policy(Turn(policy="psychic"), lexicon("en"))
    assert f"use one of {', '.join(POLICIES)}" in str(error.value)
