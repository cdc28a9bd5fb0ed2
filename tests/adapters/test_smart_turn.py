from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgevoice.adapters.smart_turn import WINDOW, SmartTurn, log_mel
from edgevoice.errors import ModelError
from edgevoice.ports import Samples
from tests.adapters.engines import RATE, model, recording, silence


@pytest.fixture(scope="module")
def judge() -> SmartTurn:
    return SmartTurn(model("smart-turn-v3.2", "end-of-turn"))


def tone(hertz: float, seconds: float = 8.0) -> Samples:
    phase = 2 * np.pi * hertz * np.arange(int(seconds * RATE)) / RATE
    return (8000 * np.sin(phase)).astype(np.int16)


@pytest.mark.parametrize("hertz", [200, 440, 1000, 3000, 7000])
def test_a_tone_is_loudest_in_its_own_band(hertz: float) -> None:
    # Slaney's scale: 15 mels to 1 kHz, then 27 for a factor of 6.4; 80 bands to 8 kHz.
    mel = hertz * 3 / 200 if hertz < 1000 else 15 + 27 * np.log(hertz / 1000) / np.log(6.4)
    top = 15 + 27 * np.log(8) / np.log(6.4)
    features = log_mel(tone(hertz))
    assert features.shape == (80, 800)
    loudest = features[:, 400].argmax()
    assert abs(loudest + 1 - mel / top * 81) <= 1


def test_features_do_not_depend_on_the_level_and_keep_eight_decades() -> None:
    loud, soft = log_mel(tone(500)), log_mel(tone(500) // 8)
    assert np.abs(loud - soft)[loud > loud.max() - 1].max() < 0.02
    assert loud.max() - loud.min() == pytest.approx(2.0)


def test_what_is_short_lies_at_the_end_of_the_window_and_of_the_long_the_end_counts() -> None:
    short = log_mel(tone(500, 1.0))
    assert short[:, :695].max() < short[:, 705:].max() - 1
    assert np.array_equal(log_mel(np.concatenate((tone(3000, 2.0), tone(500)))), log_mel(tone(500)))


@pytest.mark.engines
@pytest.mark.fixtures
@pytest.mark.parametrize("name", ["set_timer", "turn_on_the_lamp", "play_the_beatles", "jfk"])
def test_a_person_who_has_finished_sounds_so(judge: SmartTurn, name: str) -> None:
    assert judge.probability(recording(f"speech/{name}.wav")) > 0.8


@pytest.mark.engines
@pytest.mark.fixtures
@pytest.mark.parametrize("pause_s", [4.6, 7.85])
def test_a_person_who_pauses_in_mid_sentence_does_not(judge: SmartTurn, pause_s: float) -> None:
    speech = recording("speech/jfk.wav")  # "… ask not … what your country can do for you …"
    assert judge.probability(speech[: int(pause_s * RATE)]) < 0.2


@pytest.mark.engines
def test_its_verdict_is_a_probability_whatever_it_hears(judge: SmartTurn) -> None:
    assert judge.window == WINDOW
    for sound in (silence(0), silence(0.01), silence(10), np.full(RATE, 32767, np.int16)):
        assert 0.0 <= judge.probability(sound) <= 1.0


def test_a_missing_model_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"gone\.onnx is missing; run 'edgevoice models fetch"):
        SmartTurn(tmp_path / "gone.onnx")


def test_a_broken_model_is_one_clear_line(tmp_path: Path) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"no network")
    with pytest.raises(ModelError, match=r"broken\.onnx cannot be loaded"):
        SmartTurn(broken)


@pytest.mark.engines
def test_another_network_is_refused() -> None:
    other = model("hey_jarvis", "wake")
    with pytest.raises(ModelError, match="is not Smart Turn v3"):
        SmartTurn(other)
