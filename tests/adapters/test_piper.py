"""The synthesiser with a real voice; Vosk is the judge of its word times."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgevoice.adapters import piper_voice
from edgevoice.adapters.piper import PiperSynthesiser
from edgevoice.adapters.piper_voice import CutVoice, Scales, WholeVoice, open_voice
from edgevoice.core.events import SpokenWord
from edgevoice.errors import EngineError, ModelError
from edgevoice.models.paths import models_directory
from edgevoice.ports import Samples

VOICE = "en_US-joe-medium"
LONG = (
    "The weather tomorrow will be sunny with a high of twenty degrees and a light wind from "
    "the west."
)
HARD = "Hello there. — Dr. Smith's 42 cats, of the house at 3:30, cost $5! Really, in the U.S.?"


def never() -> bool:
    return False


def model(name: str, file: str = "") -> Path:
    path = models_directory() / name / file
    if not path.exists():
        pytest.skip(f"{path} is missing: fetch it with edgevoice models fetch {name}")
    return path


@pytest.fixture(scope="module")
def voice() -> Path:
    return model(VOICE, f"{VOICE}.onnx")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parts")


@pytest.fixture(scope="module")
def piper(voice: Path, cache: Path) -> PiperSynthesiser:
    return PiperSynthesiser(voice, cache)


@pytest.fixture(scope="module")
def phoneme_ids(voice: Path) -> list[int]:
    from piper import PiperConfig, PiperVoice

    config = PiperConfig.from_dict(json.loads(Path(f"{voice}.json").read_text("utf-8")))
    reader = PiperVoice(session=None, config=config)
    return list(reader.phonemes_to_ids(reader.phonemize(LONG)[0]))


def whole_of(piper: PiperSynthesiser, text: str) -> tuple[Samples, list[SpokenWord]]:
    """All samples of ``text``, and its words from the start of all."""
    samples: list[Samples] = []
    words: list[SpokenWord] = []
    position = 0
    for speech in piper.speak(text, never):
        words += [SpokenWord(w.text, w.start + position, w.end + position) for w in speech.words]
        samples.append(speech.samples)
        position += len(speech.samples)
    return np.concatenate(samples), words


def sound_of(voice: Any, ids: list[int], scales: Scales) -> Any:
    return np.concatenate(list(voice.utter(ids, scales).windows))


@pytest.mark.engines
def test_samples_equal_those_of_the_unsplit_graph(
    voice: Path, cache: Path, phoneme_ids: list[int]
) -> None:
    """Without noise, since each graph draws its own."""
    calm = Scales(noise=0.0, length=1.0, noise_w=0.0)
    in_parts = open_voice(voice, cache, speaker=None, threads=0)
    assert isinstance(in_parts, CutVoice)
    whole = sound_of(WholeVoice(voice, None, 0), phoneme_ids, calm)
    assert len(whole) > 4 * 22050
    np.testing.assert_allclose(sound_of(in_parts, phoneme_ids, calm), whole, atol=1e-5)


@pytest.mark.engines
def test_windows_equal_one_window_with_the_same_noise(
    voice: Path, cache: Path, phoneme_ids: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    import onnxruntime

    def fresh_sound() -> Any:
        onnxruntime.set_seed(1)  # a session takes its seed when it is made
        fresh = open_voice(voice, cache, speaker=None, threads=0)
        return sound_of(fresh, phoneme_ids, Scales(noise=0.667, length=1.0, noise_w=0.8))

    windows = fresh_sound()
    monkeypatch.setattr(piper_voice, "_FIRST_WINDOWS", (100_000,))
    np.testing.assert_allclose(windows, fresh_sound(), atol=1e-5)


@pytest.mark.engines
def test_durations_add_up_to_the_sound(voice: Path, cache: Path, phoneme_ids: list[int]) -> None:
    utterance = open_voice(voice, cache, speaker=None, threads=0).utter(
        phoneme_ids, Scales(noise=0.667, length=1.3, noise_w=0.8)
    )
    assert len(utterance.samples_per_id) == len(phoneme_ids)
    assert sum(utterance.samples_per_id) == sum(map(len, utterance.windows))


@pytest.mark.engines
@pytest.mark.parametrize("text", [LONG, HARD, "Yes.", "no full stop"])
def test_words_are_the_texts_own_in_order(piper: PiperSynthesiser, text: str) -> None:
    samples, words = whole_of(piper, text)
    assert " ".join(word.text for word in words) == text
    edges = [edge for word in words for edge in (word.start, word.end)]
    assert edges == sorted(edges)
    assert edges[-1] <= len(samples)


@pytest.mark.engines
def test_a_word_lies_in_the_chunk_in_which_it_starts(piper: PiperSynthesiser) -> None:
    chunks = list(piper.speak(LONG, never))
    assert len(chunks) > 3
    assert all(0 <= w.start < len(c.samples) for c in chunks for w in c.words)
    assert any(w.end > len(c.samples) for c in chunks for w in c.words)


@pytest.mark.engines
def test_numbers_last_as_long_as_they_are_spoken(piper: PiperSynthesiser) -> None:
    _, words = whole_of(piper, "It cost 1,234,567 dollars.")
    length = {word.text: word.end - word.start for word in words}
    assert length["1,234,567"] > 4 * length["dollars."]


@pytest.mark.engines
def test_word_times_agree_with_vosk(piper: PiperSynthesiser) -> None:
    """Vosk's words touch one another and move in steps of 30 ms; ours leave out the gaps."""
    texts = [
        LONG,
        "I have set a timer for ten minutes and another one for the pasta.",
        "One of the best ways to learn a language is to speak it every day with other people.",
    ]
    errors = np.abs([error for text in texts for error in vosk_differences(piper, text)])
    assert errors.size > 2 * 40
    print(
        f"{errors.size} edges: median {np.median(errors):.0f}, p95 {np.percentile(errors, 95):.0f}"
    )
    assert np.median(errors) < 40
    assert np.percentile(errors, 95) < 100


def vosk_differences(piper: PiperSynthesiser, text: str) -> Iterator[float]:
    """Ours minus Vosk's in ms, for start and end of each word both have."""
    samples, words = whole_of(piper, text)
    heard = vosk_words(samples, piper.rate)
    ours = [re.sub("[^a-z]", "", word.text.lower()) for word in words]
    matcher = SequenceMatcher(None, ours, [h["word"] for h in heard], autojunk=False)
    for block in matcher.get_matching_blocks():
        pairs = zip(words[block.a :], heard[block.b :], strict=False)
        for _, (word, hit) in zip(range(block.size), pairs, strict=False):
            yield 1000 * (word.start / piper.rate - hit["start"])
            yield 1000 * (word.end / piper.rate - hit["end"])


def vosk_words(samples: Samples, rate: int) -> list[dict[str, Any]]:
    import soxr
    import vosk

    vosk.SetLogLevel(-1)
    recogniser = vosk.KaldiRecognizer(vosk.Model(str(model("vosk-small-en-us-0.15"))), 16000)
    recogniser.SetWords(True)
    pause = np.zeros(rate // 2, np.int16)
    audio = soxr.resample(np.concatenate([pause, samples, pause]), rate, 16000)
    recogniser.AcceptWaveform(audio.tobytes())
    found = json.loads(recogniser.FinalResult()).get("result", [])
    return [{**word, "start": word["start"] - 0.5, "end": word["end"] - 0.5} for word in found]


@pytest.mark.engines
def test_it_starts_without_silence(piper: PiperSynthesiser) -> None:
    loud = np.flatnonzero(np.abs(next(piper.speak("Yes.", never)).samples) > 0.005 * 32767)
    assert loud[0] / piper.rate <= 0.011


@pytest.mark.engines
@pytest.mark.parametrize("text", ["", "  ", "...", "?!", "— –", "\n"])
def test_nothing_to_speak_yields_nothing(piper: PiperSynthesiser, text: str) -> None:
    assert list(piper.speak(text, never)) == []


@pytest.mark.engines
@pytest.mark.parametrize("text", ["[[ hɛ", "[[x]] [[", "\0", "emoji 🎉 too", "日本 ça да"])
def test_odd_text_is_spoken_or_refused_in_one_line(piper: PiperSynthesiser, text: str) -> None:
    try:
        for speech in piper.speak(text, never):
            assert " ".join(w.text for w in speech.words) in text
    except EngineError as error:
        assert "\n" not in str(error)  # noqa: PT017 - both ways are right


@pytest.mark.engines
def test_brackets_are_no_phonemes(piper: PiperSynthesiser) -> None:
    """Piper would speak what stands in them letter by letter, as phonemes."""
    (cat,) = piper._read("cat")
    assert "".join(piper._read("[[cat]]")[0]).strip() == "".join(cat)


@pytest.mark.engines
def test_cancelled_before_it_began(piper: PiperSynthesiser) -> None:
    assert list(piper.speak(LONG, lambda: True)) == []


@pytest.mark.engines
def test_cancelled_between_windows(piper: PiperSynthesiser) -> None:
    answers = iter([False, False, True])  # before the sentence and each of two windows
    assert len(list(piper.speak(LONG, lambda: next(answers)))) == 1


@pytest.mark.engines
def test_cancelled_between_sentences(
    piper: PiperSynthesiser, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[object] = []
    utter = piper._voice.utter

    def counted(*arguments: Any) -> Any:
        begun.append(arguments)
        return utter(*arguments)

    monkeypatch.setattr(piper._voice, "utter", counted)
    assert list(piper.speak("Yes. No. Yes.", lambda: len(begun) == 1)) == []
    assert len(begun) == 1


@pytest.mark.engines
def test_length_scale_slows_it_down(voice: Path, cache: Path, piper: PiperSynthesiser) -> None:
    slow = PiperSynthesiser(voice, cache, length_scale=2.0)
    assert len(whole_of(slow, LONG)[0]) > 1.6 * len(whole_of(piper, LONG)[0])


@pytest.mark.engines
def test_gain_leaves_hardly_a_sample_clipped(piper: PiperSynthesiser) -> None:
    samples = np.abs(whole_of(piper, LONG + " Watch out! Shall I play some music?")[0])
    assert samples.max() > 0.5 * 32767
    assert np.mean(samples == 32767) < 1e-4


@pytest.mark.engines
def test_a_voice_that_cannot_be_cut_still_tells_its_words(
    voice: Path, tmp_path: Path, piper: PiperSynthesiser
) -> None:
    (tmp_path / "cache").write_text("a file in the way")
    whole = PiperSynthesiser(voice, tmp_path / "cache")
    samples, words = whole_of(whole, LONG)
    assert " ".join(word.text for word in words) == LONG
    assert words[-1].end <= len(samples)


@pytest.mark.engines
def test_an_engine_that_fails_says_so_in_one_line(piper: PiperSynthesiser) -> None:
    with pytest.raises(EngineError, match=r"^the voice failed: .*; try another voice$"):
        piper._voice.utter([10**6], Scales(0.0, 1.0, 0.0))


DESCRIPTION = {
    "num_symbols": 4,
    "num_speakers": 1,
    "audio": {"sample_rate": 22050},
    "espeak": {"voice": "en-us"},
    "phoneme_id_map": {"_": [0], "^": [1], "$": [2], "a": [3]},
}


def described(folder: Path, description: str) -> Path:
    (folder / "voice.onnx").write_bytes(b"not looked at")
    (folder / "voice.onnx.json").write_text(description)
    return folder / "voice.onnx"


def without(field: str) -> Callable[[dict[str, Any]], None]:
    def remove(description: dict[str, Any]) -> None:
        *path, last = field.split(".")
        for key in path:
            description = description[key]
        del description[last]

    return remove


@pytest.mark.parametrize("gone", ["voice.onnx", "voice.onnx.json"])
def test_missing_files_are_named(tmp_path: Path, gone: str) -> None:
    voice = described(tmp_path, json.dumps(DESCRIPTION))
    (tmp_path / gone).unlink()
    with pytest.raises(ModelError, match=rf"{gone} is missing; fetch the voice$") as caught:
        PiperSynthesiser(voice, tmp_path)
    assert caught.value.status == 66


@pytest.mark.parametrize(
    "field",
    [
        "num_symbols",
        "num_speakers",
        "audio.sample_rate",
        "espeak.voice",
        "phoneme_id_map",
        "phoneme_id_map._",
        "phoneme_id_map.^",
        "phoneme_id_map.$",
    ],
)
def test_missing_fields_are_named(tmp_path: Path, field: str) -> None:
    description = json.loads(json.dumps(DESCRIPTION))
    without(field)(description)
    name = re.escape(field.split(".")[-1])
    with pytest.raises(ModelError, match=rf"voice\.onnx\.json lacks the field '{name}'"):
        PiperSynthesiser(described(tmp_path, json.dumps(description)), tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '"voice"',
        json.dumps(DESCRIPTION | {"audio": 5}),
        json.dumps(DESCRIPTION | {"phoneme_type": "runes"}),
        json.dumps(DESCRIPTION | {"audio": {"sample_rate": "fast"}}),
        json.dumps(DESCRIPTION | {"phoneme_id_map": [1]}),
    ],
)
def test_broken_descriptions_are_refused_in_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(ModelError, match=r"voice\.onnx\.json is no voice description") as caught:
        PiperSynthesiser(described(tmp_path, text), tmp_path)
    assert "\n" not in str(caught.value)


def test_a_broken_voice_is_refused_in_one_line(tmp_path: Path) -> None:
    voice = described(tmp_path, json.dumps(DESCRIPTION))
    with pytest.raises(ModelError, match=r"voice\.onnx is no ONNX model or cut short") as caught:
        PiperSynthesiser(voice, tmp_path / "cache")
    assert "\n" not in str(caught.value)


@pytest.mark.engines
def test_a_truncated_voice_is_refused(voice: Path, tmp_path: Path) -> None:
    short = tmp_path / "voice.onnx"
    short.write_bytes(voice.read_bytes()[:1_000_000])
    (tmp_path / "voice.onnx.json").write_bytes(Path(f"{voice}.json").read_bytes())
    with pytest.raises(ModelError, match=r"voice\.onnx is no ONNX model or cut short"):
        PiperSynthesiser(short, tmp_path / "cache")
