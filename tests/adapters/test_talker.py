from __future__ import annotations

import shutil
import wave
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from edgevoice.adapters.room_acoustics import Signal, active_level
from edgevoice.adapters.scene import EspeakVoice, Line, PiperVoice
from edgevoice.adapters.talker import espeak, read_wav, rehearse, utterance, voice
from edgevoice.errors import DataError, EngineError
from edgevoice.ports import Speech

RATE = 16_000


def tone(seconds: float, rate: int, hertz: float = 400) -> Signal:
    return 0.3 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)


def write_wav(path: Path, channels: list[Signal], rate: int, width: int = 2) -> Path:
    values = np.stack(channels, axis=1) * (2 ** (8 * width - 1) - 1)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(len(channels))
        file.setsampwidth(width)
        file.setframerate(rate)
        if width == 1:
            file.writeframes((values + 128).astype(np.uint8).tobytes())
        else:
            whole = values.astype("<i4").reshape(-1, 1).view(np.uint8)
            file.writeframes(whole[:, :width].tobytes())
    return path


class Hummer:
    """A synthesiser that hums a second per word at 400 Hz, in chunks."""

    rate = 22_050

    def speak(self, text: str, cancelled: Callable[[], bool]) -> Iterator[Speech]:
        for _ in text.split():
            yield Speech((tone(1.0, self.rate) * 32767).astype(np.int16), ())


def pitch(signal: Signal) -> float:
    return float(np.argmax(np.abs(np.fft.rfft(signal)))) * RATE / len(signal)


@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100, 48_000])
@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_recordings_of_any_rate_and_width_are_read(tmp_path: Path, rate: int, width: int) -> None:
    signal = read_wav(write_wav(tmp_path / "a.wav", [tone(1, rate)], rate, width), RATE)
    assert len(signal) == pytest.approx(RATE, abs=2)
    middle = signal[4000:12_000]
    assert pitch(middle) == pytest.approx(400, abs=2)
    assert np.sqrt(np.mean(middle**2)) == pytest.approx(0.3 / np.sqrt(2), rel=0.03)


def test_channels_are_mixed(tmp_path: Path) -> None:
    left, right = tone(0.5, RATE), -tone(0.5, RATE)
    path = write_wav(tmp_path / "a.wav", [left, right], RATE)
    assert np.abs(read_wav(path, RATE)).max() < 1e-3


def test_what_is_no_recording_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_text("hello")
    with pytest.raises(DataError, match=r"a\.wav: not a PCM WAV file \(.*\); convert it"):
        read_wav(tmp_path / "a.wav", RATE)
    with pytest.raises(DataError, match=r"b\.wav: No such file"):
        read_wav(tmp_path / "b.wav", RATE)


def test_a_line_is_cut_to_what_is_heard_and_brought_to_level(tmp_path: Path) -> None:
    padded = np.concatenate((np.zeros(8000), 0.1 * tone(1, RATE), np.zeros(4000)))
    line = Line(wav=write_wav(tmp_path / "a.wav", [padded], RATE))
    spoken = utterance(line, lambda text, rate: np.zeros(0), RATE)
    assert spoken.end - spoken.onset == pytest.approx(RATE, abs=80)
    assert spoken.onset == pytest.approx(480, abs=80)
    assert active_level(spoken.audio[spoken.onset : spoken.end], RATE) == pytest.approx(1, rel=0.01)


def test_silence_is_nothing_to_say(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", [np.zeros(1000)], RATE)
    with pytest.raises(DataError, match=r"a\.wav is silent"):
        rehearse([Line(wav=path)], lambda text, rate: np.zeros(0), RATE)


def test_the_devices_voice_is_raised_and_asked_to_speak_slower() -> None:
    asked: list[tuple[Path | None, float]] = []

    def make(model: Path | None, length: float) -> Hummer:
        asked.append((model, length))
        return Hummer()

    signal = voice(PiperVoice(Path("x.onnx"), pitch=1.25, pace=0.5), make)("one two", RATE)
    assert asked == [(Path("x.onnx"), 2.5)]
    assert pitch(signal) == pytest.approx(500, abs=3)
    assert len(signal) == pytest.approx(2 * RATE / 1.25, abs=4)


def test_the_voice_nobody_chose_is_not_the_devices() -> None:
    signal = voice(None, lambda model, length: Hummer())("one", RATE)
    assert pitch(signal) == pytest.approx(400 * PiperVoice().pitch, abs=3)


def test_a_piper_voice_needs_piper() -> None:
    with pytest.raises(EngineError, match="choose an espeak voice"):
        voice(PiperVoice(), None)


needs_espeak = pytest.mark.skipif(
    not shutil.which("espeak-ng"), reason="espeak-ng is missing: apt install espeak-ng"
)


@needs_espeak
def test_espeak_speaks_and_pace_is_words_per_minute() -> None:
    quick = espeak(EspeakVoice(speed=220), "one two three four", RATE)
    slow = espeak(EspeakVoice(speed=110), "one two three four", RATE)
    assert len(slow) > 1.5 * len(quick) > RATE // 2


@needs_espeak
def test_a_text_is_never_an_option() -> None:
    assert len(espeak(EspeakVoice(), "--help me", RATE)) > RATE // 4


@needs_espeak
def test_an_unknown_espeak_voice_is_one_line() -> None:
    with pytest.raises(EngineError, match="espeak-ng failed with voice 'xx-nowhere'"):
        espeak(EspeakVoice("xx-nowhere"), "hello", RATE)
