"""A harness for each part: the real engine or device, by itself, and what it does as text.

Nothing is decided here: each function drives one port and tells what came.  Sound is a
stream of blocks at 16 kHz, from a microphone (`live`) or from a file (`recorded`).
"""

from __future__ import annotations

import time
import wave
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from edgevoice.core.commands import Message
from edgevoice.core.events import RATE
from edgevoice.core.lamps import pattern
from edgevoice.core.table import Place
from edgevoice.core.tuning import ButtonTuning
from edgevoice.errors import DataError, DeviceError, OutputError
from edgevoice.ports import (
    Button,
    Lamps,
    LanguageModel,
    Microphone,
    Recogniser,
    Samples,
    Speaker,
    Synthesiser,
    WakeWord,
)
from edgevoice.runtime.ring import Ring
from edgevoice.system.doctor.sound import Resampling
from edgevoice.system.view import meter

Tell = Callable[[str], object]
Sound = Iterator[Samples]

BLOCK = RATE // 100
_SILENT_S = 2.0
_BAR = 60
_LIGHT_S = 2.0
_WORTH_TELLING = 0.05
_TAIL_S = 0.15
"""A sound card still has so much to play when the last block was handed over."""


# -- sound ------------------------------------------------------------------------------


def live(microphone: Microphone, resampling: Resampling, seconds: float) -> Sound:
    """Blocks of 10 ms at 16 kHz as they are heard; raises `DeviceError` when none come."""
    ring, lost = Ring(4 * 48_000), list[str]()
    microphone.start(lambda block, at: ring.write(block), lost.append)
    try:
        wanted = int(seconds * microphone.rate)
        yield from _blocks(_drained(ring, lost, wanted), microphone, resampling)
    finally:
        microphone.stop()


def _drained(ring: Ring, lost: list[str], wanted: int) -> Sound:
    got, last = 0, time.monotonic()
    while got < wanted:
        block = ring.take()[: wanted - got]
        got += len(block)
        if len(block):
            last = time.monotonic()
            yield block
        elif lost or time.monotonic() > last + _SILENT_S:
            raise DeviceError(
                lost[0] if lost else "the microphone delivers no sound",
                "edgevoice devices lists others for audio.input",
            )
        time.sleep(0.01)


def _blocks(sound: Sound, microphone: Microphone, resampling: Resampling) -> Sound:
    rate = microphone.rate
    converter = None if rate == RATE else resampling(rate, RATE)
    kept = np.zeros(0, np.int16)
    for block in sound:
        fresh = block if converter is None else converter.process(block)
        kept = np.concatenate((kept, fresh))
        while len(kept) >= BLOCK:
            yield kept[:BLOCK]
            kept = kept[BLOCK:]


def recorded(path: Path, resampling: Resampling) -> Sound:
    """The blocks of a 16-bit WAV file of any rate, its first channel; raises `DataError`."""
    samples, rate = read_wav(path)
    if rate != RATE:
        converter = resampling(rate, RATE)
        samples = np.concatenate((converter.process(samples), converter.finish()))
    for at in range(0, len(samples) - BLOCK + 1, BLOCK):
        yield samples[at : at + BLOCK]


def read_wav(path: Path) -> tuple[Samples, int]:
    """First channel and rate of a 16-bit WAV file; raises `DataError`."""
    try:
        with wave.open(str(path)) as file:
            if file.getsampwidth() != 2:
                raise wave.Error(f"{8 * file.getsampwidth()} bits a sample")
            data = np.frombuffer(file.readframes(file.getnframes()), "<i2")
            return data[:: file.getnchannels()].astype(np.int16), file.getframerate()
    except (wave.Error, EOFError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error) or "cut off"
        raise DataError(f"{path}: no 16-bit WAV file ({reason})", "name another") from None


def write_wav(path: Path, samples: Samples, rate: int) -> None:
    """Mono, 16 bits; raises `OutputError`."""
    try:
        with path.open("wb") as raw, wave.open(raw, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(samples.astype("<i2").tobytes())
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror}", "name another file") from None


# -- the ear ----------------------------------------------------------------------------


def mic(sound: Sound, tell: Tell) -> Samples:
    """A level every 100 ms; all that was heard comes back."""
    heard: list[Samples] = []
    for block in sound:
        heard.append(block)
        if len(heard) % 10 == 0:
            tenth = np.concatenate(heard[-10:]) / 32768.0
            tell(meter(float(np.sqrt(np.mean(np.square(tenth)))), _BAR))
    return np.concatenate(heard) if heard else np.zeros(0, np.int16)


def wake(engine: WakeWord, sound: Sound, tell: Tell, threshold: float) -> float:
    """Every score worth telling, with its time; the best comes back."""
    best, kept, seconds = 0.0, np.zeros(0, np.int16), 0.0
    for block in sound:
        kept = np.concatenate((kept, block))
        if len(kept) < engine.chunk:
            continue
        phrase, score = engine.score(kept[: engine.chunk])
        seconds += engine.chunk / RATE
        kept = kept[engine.chunk :]
        best = max(best, score)
        if score >= _WORTH_TELLING:
            tell(f"{seconds:6.2f} s  {phrase}  {score:.2f}{' !' if score >= threshold else ''}")
    return best


def asr(recogniser: Recogniser, sound: Sound, tell: Tell) -> str:
    """Each new partial, and the final with its confidences; the final text comes back."""
    recogniser.begin()
    text, heard = "", 0
    kept: list[Samples] = []
    for block in sound:
        heard += len(block)
        kept.append(block)
        if len(kept) == 3:
            partial = recogniser.accept(np.concatenate(kept)).text
            kept.clear()
            if partial != text:
                text = partial
                tell(f"{heard / RATE:6.2f} s  {text}")
    if kept:
        recogniser.accept(np.concatenate(kept))
    final = recogniser.flush()
    tell("final: " + " ".join(f"{w.text} ({w.confidence:.2f})" for w in final.words))
    return final.text


# -- the mind and the mouth -----------------------------------------------------------------


def llm(model: LanguageModel, system: str, prompt: str, write: Tell) -> str:
    """The answer as it comes, then its speed in a line; the speed in words comes back."""
    began, first, text = time.monotonic(), None, ""
    for piece in model.reply((Message("system", system), Message("user", prompt)), lambda: False):
        first = first or time.monotonic()
        words = piece if isinstance(piece, str) else f"[{piece.name}]"  # it was given no tools
        text += words
        write(words)
    if first is None:
        return "no answer"
    tokens, seconds = model.count_tokens(text), max(1e-6, time.monotonic() - first)
    return (
        f"first token after {1000 * (first - began):.0f} ms, "
        f"{tokens} tokens, {tokens / seconds:.1f} a second"
    )


def tts(voice: Synthesiser, text: str) -> tuple[Samples, str]:
    """The speech, and in words how fast it came."""
    began, first, chunks = time.monotonic(), None, list[Samples]()
    for speech in voice.speak(text, lambda: False):
        first = first or time.monotonic()
        chunks.append(speech.samples)
    if first is None:
        return np.zeros(0, np.int16), "nothing to speak"
    samples = np.concatenate(chunks)
    length, took = len(samples) / voice.rate, time.monotonic() - began
    return samples, (
        f"first audio after {1000 * (first - began):.0f} ms, "
        f"{length:.2f} s of speech in {took:.2f} s"
    )


def play(speaker: Speaker, samples: Samples, rate: int, resampling: Resampling) -> None:
    """Play it to its end; raises `DeviceError`."""
    position, lost = 0, list[str]()
    sound = samples

    def fill(block: Samples, at: float) -> None:
        nonlocal position
        block[:] = 0
        n = min(len(block), len(sound) - position)
        if n > 0:
            block[:n] = sound[position : position + n]
            position += n

    sound = np.zeros(0, np.int16)  # the rate is known once it is open
    speaker.start(fill, lost.append)
    try:
        if speaker.rate != rate:
            converter = resampling(rate, speaker.rate)
            samples = np.concatenate((converter.process(samples), converter.finish()))
        sound = samples
        while position < len(sound):
            if lost:
                raise DeviceError(lost[0], "edgevoice devices lists others for audio.output")
            time.sleep(0.01)
        time.sleep(_TAIL_S)
    finally:
        speaker.stop()


# -- lamp and button ------------------------------------------------------------------------


def leds(lamps: Lamps, tell: Tell, sleep: Callable[[float], object] = time.sleep) -> None:
    """Each place's light, one after the other."""
    for place in Place:
        light = pattern(place)
        tell(f"{place.value:28} {light.name:14} {light.motion}")
        lamps.show(light)
        sleep(_LIGHT_S)


class Presses:
    """Tells presses, and what they mean, as the core takes them."""

    def __init__(self, tuning: ButtonTuning, tell: Tell) -> None:
        self._tuning = tuning
        self._tell = tell
        self._pressed_at = 0.0
        self._clicked_at = -1e9

    def pressed(self, at: float) -> None:
        """It went down."""
        self._pressed_at = at
        self._tell("press")

    def released(self, at: float) -> None:
        """It came up."""
        held_ms = (at - self._pressed_at) * 1000
        self._tell(f"release after {held_ms:.0f} ms: {self._meaning(held_ms, at)}")

    def _meaning(self, held_ms: float, at: float) -> str:
        if held_ms >= self._tuning.click_ms:
            return "hold"
        apart_ms = (at - self._clicked_at) * 1000
        if apart_ms <= self._tuning.double_click_ms:
            self._clicked_at = -1e9
            return "double click"
        self._clicked_at = at
        return "click"


def button(contact: Button, tuning: ButtonTuning, seconds: float, tell: Tell) -> None:
    """What the button does for so long."""
    presses = Presses(tuning, tell)
    contact.start(
        lambda: presses.pressed(time.monotonic()), lambda: presses.released(time.monotonic())
    )
    try:
        time.sleep(seconds)
    finally:
        contact.close()
