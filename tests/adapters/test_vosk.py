from __future__ import annotations

import os
import shutil
from pathlib import Path
from unittest.mock import ANY

import numpy as np
import pytest

from edgevoice.adapters.vosk import VoskRecogniser
from edgevoice.errors import ModelError
from edgevoice.ports import Hypothesis, Samples
from tests.adapters.engines import blocks, model, recording, silence, spoken

pytestmark = pytest.mark.engines

BLOCK = 480


@pytest.fixture(scope="module")
def shared() -> VoskRecogniser:
    return VoskRecogniser(model("vosk-small-en-us-0.15", "asr"))


@pytest.fixture
def recogniser(shared: VoskRecogniser) -> VoskRecogniser:
    shared.begin()
    return shared


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(model("vosk-small-en-us-0.15", "asr"), tmp_path / "model"))


def hear(recogniser: VoskRecogniser, *parts: Samples) -> Hypothesis:
    heard = [recogniser.accept(block) for block in blocks(np.concatenate(parts), BLOCK)]
    return heard[-1]


@pytest.mark.fixtures
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("set_timer", "set a timer for ten minutes"),
        ("turn_on_the_lamp", "turn on the lamp"),
        ("this_is_a_test", "this is a test"),
        ("play_the_beatles", "play the beatles"),
    ],
)
def test_people_are_understood(recogniser: VoskRecogniser, name: str, text: str) -> None:
    hear(recogniser, recording(f"speech/{name}.wav"))
    assert recogniser.flush().text == text


@pytest.mark.fixtures
def test_segments_of_a_slow_speaker_are_joined(recogniser: VoskRecogniser) -> None:
    speech = recording("speech/jfk.wav")
    partials = [recogniser.accept(block).text for block in blocks(speech, BLOCK)]

    final = recogniser.flush()

    assert final.text.startswith("and so my fellow americans ")
    assert final.text.endswith(
        "what your country can do for you ask what you can do for your country"
    )
    grown = [text for text in partials if "what your country can do for you ask" in text]
    assert all(text.startswith("and so my fellow americans") for text in grown)
    assert grown


def test_a_final_has_a_confidence_for_each_word_and_a_partial_has_none(
    recogniser: VoskRecogniser,
) -> None:
    partial = hear(recogniser, spoken("turn on the light"))
    assert partial.words == ()

    final = recogniser.flush()

    assert final.text.split() == [word.text for word in final.words]
    assert "light" in final.text
    assert all(0 < word.confidence <= 1 for word in final.words)


def test_what_follows_a_flush_is_joined(recogniser: VoskRecogniser) -> None:
    hear(recogniser, spoken("turn on the light"), silence(0.2))
    first = recogniser.flush()
    hear(recogniser, silence(0.3), spoken("and open the door"), silence(0.2))
    second = recogniser.flush()

    assert first.text
    assert second.text.startswith(first.text + " ")
    assert second.text.endswith("door")
    assert second.words[: len(first.words)] == first.words


@pytest.mark.parametrize("cut", [16_000, 20_000, 24_000])
def test_begin_forgets_what_was_not_yet_decoded(recogniser: VoskRecogniser, cut: int) -> None:
    hear(recogniser, spoken("set a timer for ten minutes and then another")[:cut])
    recogniser.begin()
    hear(recogniser, silence(1))
    assert recogniser.flush() == Hypothesis("")


PHRASES = ("stop", "hold on", "no", "yes")


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_is_heard_apart(shared: VoskRecogniser, phrase: str) -> None:
    shared.begin(PHRASES)
    partial = hear(shared, silence(0.1), spoken(phrase), silence(0.2))
    final = shared.flush()
    for heard in (partial, final):
        assert " ".join(word.text for word in heard.apart) == phrase
    assert all(word.confidence == 1 for word in partial.apart)
    assert all(0.5 < word.confidence <= 1 for word in final.apart)


@pytest.mark.fixtures
def test_what_is_no_such_phrase_is_none(shared: VoskRecogniser) -> None:
    shared.begin(PHRASES)
    hear(shared, recording("speech/set_timer.wav"))
    assert shared.flush() == Hypothesis("set a timer for ten minutes", ANY, ())


def test_nothing_is_heard_apart_when_nothing_is_wanted_or_known(shared: VoskRecogniser) -> None:
    for phrases in ((), ("grmblfx",)):
        shared.begin(phrases)
        assert hear(shared, silence(0.1), spoken("stop"), silence(0.2)).apart == ()
        assert shared.flush().apart == ()


def test_flushing_silence_or_nothing_is_nothing(recogniser: VoskRecogniser) -> None:
    assert recogniser.flush() == Hypothesis("")
    hear(recogniser, silence(1))
    assert recogniser.flush() == Hypothesis("")
    assert recogniser.flush() == Hypothesis("")


def test_a_directory_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="holds no Vosk model; fetch"):
        VoskRecogniser(tmp_path)


@pytest.mark.parametrize(
    "file", ["am/final.mdl", "graph/HCLr.fst", "graph/Gr.fst", "ivector/final.ie"]
)
def test_a_truncated_file_is_one_line(
    copy: Path, file: str, capfd: pytest.CaptureFixture[str]
) -> None:
    os.truncate(copy / file, (copy / file).stat().st_size // 2)
    with pytest.raises(
        ModelError, match=r"speech model .* cannot be loaded \(ERROR .*\)"
    ) as caught:
        VoskRecogniser(copy)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_an_empty_configuration_does_not_kill_the_process(copy: Path) -> None:
    os.truncate(copy / "conf" / "model.conf", 0)
    with pytest.raises(ModelError, match=r"model\.conf is empty"):
        VoskRecogniser(copy)
