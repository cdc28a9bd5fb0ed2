from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from edgevoice.adapters.wakeword import OpenWakeWord
from edgevoice.errors import ModelError
from edgevoice.ports import Samples
from tests.adapters.engines import RATE, blocks, model, recording, silence, spoken

pytestmark = pytest.mark.engines


@pytest.fixture(scope="module")
def shared() -> OpenWakeWord:
    return OpenWakeWord([model("hey_jarvis", "wake")], model("openwakeword", "wake-features"))


@pytest.fixture
def engine(shared: OpenWakeWord) -> OpenWakeWord:
    shared.reset()
    return shared


def scores(engine: OpenWakeWord, *parts: Samples) -> list[float]:
    return [engine.score(chunk)[1] for chunk in blocks(np.concatenate(parts), engine.chunk)]


def fires_at(engine: OpenWakeWord, *parts: Samples) -> int:
    """Sample after the first chunk that scores 0.5."""
    heard = scores(engine, *parts)
    return (next(n for n, score in enumerate(heard) if score >= 0.5) + 1) * engine.chunk


def test_the_phrase_is_heard_under_its_name(engine: OpenWakeWord) -> None:
    assert max(scores(engine, silence(1), spoken("hey jarvis"), silence(0.5))) > 0.9
    assert engine.score(silence(0.08))[0] == "hey_jarvis"


def test_it_is_heard_right_after_a_reset(engine: OpenWakeWord) -> None:
    assert max(scores(engine, spoken("hey jarvis"), silence(0.5))) > 0.9


def test_other_words_are_not_it(engine: OpenWakeWord) -> None:
    assert max(scores(engine, spoken("set a timer for ten minutes please"), silence(1))) < 0.1


def test_reset_forgets_the_phrase(engine: OpenWakeWord) -> None:
    phrase = np.concatenate((silence(1), spoken("hey jarvis"), silence(0.5)))
    scores(engine, phrase[: fires_at(engine, phrase)])
    engine.reset()
    assert max(scores(engine, silence(2))) < 0.01


def test_after_a_reset_scores_are_those_of_a_new_engine(engine: OpenWakeWord) -> None:
    phrase = np.concatenate((silence(0.7), spoken("hey jarvis"), silence(0.5)))
    scores(engine, phrase[: len(phrase) // 2])
    engine.reset()
    new = OpenWakeWord([model("hey_jarvis", "wake")], model("openwakeword", "wake-features"))
    assert scores(engine, phrase) == scores(new, phrase)


def test_the_lag_reaches_back_to_the_end_of_the_phrase(engine: OpenWakeWord) -> None:
    phrase = spoken("hey jarvis")
    end = RATE + int(np.flatnonzero(np.abs(phrase) > 500)[-1])
    fired = fires_at(engine, silence(1), phrase, silence(1))
    assert fired - engine.lag_ms * 16 == pytest.approx(end, abs=0.2 * RATE)


@pytest.mark.fixtures
def test_after_a_reset_in_mid_speech_no_other_word_is_it() -> None:
    engine = OpenWakeWord([model("alexa", "wake")], model("openwakeword", "wake-features"))
    talk = recording("vad/silero_test.wav")
    for second in range(0, 20, 2):
        engine.reset()
        assert max(scores(engine, talk[second * RATE : (second + 2) * RATE])) < 0.25


def test_scikit_learn_is_not_imported() -> None:
    program = """
import sys
from pathlib import Path
from edgevoice.adapters.wakeword import OpenWakeWord
OpenWakeWord([Path(sys.argv[1])], Path(sys.argv[2]))
print("sklearn" in sys.modules, "scipy" in sys.modules)
"""
    paths = [str(model("hey_jarvis", "wake")), str(model("openwakeword", "wake-features"))]
    done = subprocess.run(
        [sys.executable, "-c", program, *paths], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "False"]


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no\.onnx is missing; fetch"):
        OpenWakeWord([tmp_path / "no.onnx"], tmp_path)


def test_a_truncated_model_is_one_line(tmp_path: Path) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(model("hey_jarvis", "wake").read_bytes()[:100_000])
    with pytest.raises(ModelError, match=r"broken\.onnx.* cannot be loaded") as caught:
        OpenWakeWord([broken], model("openwakeword", "wake-features"))
    assert "\n" not in str(caught.value)
