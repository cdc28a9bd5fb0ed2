"""The voices of the talker in the room, and what he will say, ready to be heard."""

from __future__ import annotations

import io
import subprocess
import wave
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from edgevoice.adapters.room_acoustics import Signal, active_level
from edgevoice.adapters.scene import EspeakVoice, Line, PiperVoice, Voice
from edgevoice.errors import DataError, DeviceError, EngineError
from edgevoice.ports import Synthesiser

VoiceMaker: TypeAlias = Callable[[Path | None, float], Synthesiser]
"""Makes a synthesiser of a Piper voice file (None: the device's own) that takes this
many times as long as usual (Piper's length scale)."""

Speak: TypeAlias = Callable[[str, int], Signal]
"""Speaks a text at a rate."""

_AUDIBLE_DB = -35
_EDGE_S = 0.03


@dataclass(frozen=True, slots=True)
class Utterance:
    """One line as it comes out of the talker's mouth, at an active level of 1.0.

    ``audio[onset:end]`` is what can be heard; the little before and after keeps
    weak consonants whole.
    """

    text: str
    audio: Signal
    onset: int
    end: int


def rehearse(lines: Sequence[Line], speak: Speak, rate: int) -> list[Utterance]:
    """Every line of a script, spoken or read from its file, at ``rate``.

    Raises `DataError` for a recording that cannot be used.
    """
    return [utterance(line, speak, rate) for line in lines]


def utterance(line: Line, speak: Speak, rate: int) -> Utterance:
    """One line, cut to what can be heard and brought to the common level."""
    signal = read_wav(line.wav, rate) if line.wav else speak(line.say, rate)
    loud = _audible(signal, rate)
    if loud is None:
        raise DataError(f"{line.wav or line.say} is silent", "give the talker something to say")
    edge = round(_EDGE_S * rate)
    begin, end = max(loud[0] - edge, 0), min(loud[1] + edge, len(signal))
    heard = signal[loud[0] : loud[1]]
    audio = _faded(signal[begin:end], edge // 6) / active_level(heard, rate)
    text = line.wav.name if line.wav else line.say
    return Utterance(text, audio, loud[0] - begin, loud[1] - begin)


def voice(choice: Voice | None, make: VoiceMaker | None) -> Speak:
    """The voice a scene asks for.

    Without a wish it is Piper's, raised and slowed so that it is not the device's own
    (`PiperVoice` has the figures), or espeak-ng where no ``make`` is given.
    """
    if choice is None:
        choice = PiperVoice() if make else EspeakVoice()
    if isinstance(choice, EspeakVoice):
        return lambda text, rate: espeak(choice, text, rate)
    if make is None:
        raise EngineError("the talker's Piper voice needs a synthesiser", "choose an espeak voice")
    # Played faster the voice is higher and quicker, so it speaks slower by as much before.
    synthesiser = make(choice.model, choice.pitch / choice.pace)
    return lambda text, rate: shifted(synthesiser, choice.pitch, text, rate)


def espeak(choice: EspeakVoice, text: str, rate: int) -> Signal:
    """``text`` in a voice of espeak-ng.

    Raises `DeviceError` when espeak-ng is not installed and `EngineError` when it fails.
    """
    command = ["espeak-ng", "--stdout", "-v", choice.variant]
    command += ["-s", str(choice.speed), "-p", str(choice.pitch), "--", text]
    try:
        done = subprocess.run(command, capture_output=True, check=True, timeout=60)
    except FileNotFoundError:
        raise DeviceError("espeak-ng is not installed", "apt install espeak-ng") from None
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        reason = (error.stderr or b"").decode(errors="replace").strip().replace("\n", " ")
        raise EngineError(f"espeak-ng failed with voice {choice.variant!r}: {reason}") from None
    with wave.open(io.BytesIO(done.stdout)) as speech:
        # A stream's header cannot know the length and claims gigabytes: read to the end.
        samples = np.frombuffer(speech.readframes(2**28), dtype="<i2")
        return _resampled(samples / 32768.0, speech.getframerate(), rate)


def shifted(synthesiser: Synthesiser, pitch: float, text: str, rate: int) -> Signal:
    """``text`` in another's voice played ``pitch`` times too fast: a smaller person's."""
    chunks = [speech.samples for speech in synthesiser.speak(text, lambda: False)]
    if not chunks:
        return np.zeros(0)
    return _resampled(np.concatenate(chunks) / 32768.0, synthesiser.rate * pitch, rate)


def read_wav(path: Path, rate: int) -> Signal:
    """A PCM WAV file of any rate and width, its channels mixed to one, at ``rate``.

    Raises `DataError` when it is not such a file.
    """
    try:
        with wave.open(str(path)) as file:
            channels, width = file.getnchannels(), file.getsampwidth()
            data, own_rate = file.readframes(file.getnframes()), file.getframerate()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}", "name a WAV file that can be read") from None
    except (wave.Error, EOFError) as error:
        todo = "convert it to 16-bit PCM WAV"
        raise DataError(f"{path}: not a PCM WAV file ({error or 'cut off'})", todo) from None
    whole = len(data) // (width * channels) * width * channels
    mono = _pcm(data[:whole], width).reshape(-1, channels).mean(axis=1)
    return _resampled(mono, own_rate, rate)


def _pcm(data: bytes, width: int) -> Signal:
    if width == 1:  # alone of the widths, 8 bits are unsigned
        return np.frombuffer(data, np.uint8) / 128.0 - 1.0
    # Bytes go to the top of 32 bits, so that every width has the same full scale.
    wide = np.zeros((len(data) // width, 4), np.uint8)
    wide[:, 4 - width :] = np.frombuffer(data, np.uint8).reshape(-1, width)
    return wide.view("<i4")[:, 0] / 2.0**31


def _resampled(signal: Signal, own_rate: float, rate: int) -> Signal:
    import soxr

    return np.asarray(soxr.resample(signal, own_rate, rate), np.float64)


def _audible(signal: Signal, rate: int) -> tuple[int, int] | None:
    """First and last sample (exclusive) of what can be heard, to 5 ms; None for silence."""
    step = rate // 200
    powers = np.mean(signal[: len(signal) // step * step].reshape(-1, step) ** 2, axis=1)
    if not len(powers) or powers.max() < 1e-10:
        return None
    loud = np.flatnonzero(powers > powers.max() * 10 ** (_AUDIBLE_DB / 10))
    return int(loud[0]) * step, (int(loud[-1]) + 1) * step


def _faded(signal: Signal, samples: int) -> Signal:
    """Both ends brought to zero, since a cut in a noisy recording clicks."""
    ramp = np.linspace(0, 1, samples)
    faded = signal.copy()
    faded[:samples] *= ramp
    faded[len(faded) - samples :] *= ramp[::-1]
    return faded
