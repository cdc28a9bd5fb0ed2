"""What is said, by whom, in which rooms; the same in every run.

Recordings of real people, rooms and noises come from the directory that
EDGEVOICE_FIXTURES names; without it a suite has its synthetic material only,
and says so in the name of its rows.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from pathlib import Path

import numpy as np

from bench.lockstep import RATE, Ears, Voice
from edgevoice.adapters import talker
from edgevoice.adapters.room_acoustics import active_level
from edgevoice.adapters.scene import Acoustics, EspeakVoice, Line, Noise, PiperVoice
from edgevoice.adapters.talker import Speak, Utterance
from edgevoice.engines import Workshop
from edgevoice.ports import Recogniser, Synthesiser
from edgevoice.settings.schema import Settings

TEXT = (
    "The old harbour lies at the end of a long street, where the fishing boats come in before "
    "sunrise. In winter the wind blows hard from the north and nobody stays outside for long. "
    "The people of the town sell bread, fish and apples on the square, and they talk about the "
    "weather. A hundred years ago a railway was built along the coast, and with it came visitors "
    "from the city. Some of them bought the small white houses above the beach. Today the "
    "station is a museum with three engines and a great many photographs. On Sundays a man in a "
    "blue coat explains how the signals worked. Children may ring the bell once, and most of "
    "them ring it twice."
)
"""What the device reads out."""

INTERRUPTIONS = (
    "what is the capital of france",
    "tell me about the weather tomorrow",
    "please be quiet now",
    "can you say that again",
    "that is not what i asked",
    "stop",
    "wait a moment",
    "no that's wrong",
    "turn the volume down",
    "and who built the railway",
)
ORDERS = ("stop", "wait", "no", "cancel", "quiet", "enough", "hold on")
"""The shortest interruptions there are."""
SOFT_ACKS = (
    "uh-huh", "yeah", "okay", "right", "mm-hmm", "I see", "sure", "oh really", "hmm", "um",
    "yes okay", "all right",
)  # fmt: skip

VOICES = (
    PiperVoice(),
    EspeakVoice("en-us+f3"),
    EspeakVoice("en-us+m3", 160, 40),
    EspeakVoice("en-gb+f5", 165, 55),
    EspeakVoice("en-gb-scotland+m7", 145, 35),
)
"""Who speaks.  The product was tuned while all of them were heard."""

NEW_VOICES = (
    EspeakVoice("en-us+f4"),
    EspeakVoice("en-us+m5", 155, 42),
    EspeakVoice("en-gb+m2", 170, 50),
)
"""Whom nothing was tuned on."""

ROOMS = (
    Acoustics(),
    Acoustics(delay_ms=150, rt60_s=0.5, distortion=2.0, noise=Noise(snr_db=25)),
    Acoustics(delay_ms=300, rt60_s=0.35, drift_ppm=100, noise=Noise(snr_db=30)),
    Acoustics(delay_ms=20, rt60_s=0.6, drift_ppm=-300, noise=Noise(snr_db=20)),
)
"""Rooms in which somebody interrupts."""

OWN_ROOMS = tuple(
    Acoustics(
        delay_ms=delay, rt60_s=rt60, distortion=distortion, drift_ppm=drift,
        noise=Noise(snr_db=snr),
    )
    for delay, rt60, distortion, drift, snr in (
        (40, 0.35, 0.0, 0, 30), (20, 0.2, 0.0, 0, 20), (150, 0.35, 2.0, 0, 30),
        (300, 0.6, 0.0, 100, 20), (40, 0.6, 4.0, 0, 15), (150, 0.5, 0.0, 300, 30),
        (300, 0.35, 4.0, 300, 20), (40, 0.35, 0.0, -300, 40), (20, 0.6, 2.0, -100, 25),
        (300, 0.2, 0.0, 0, 30), (80, 0.4, 1.0, 50, 10), (20, 0.6, 0.0, -300, 25),
    )
)  # fmt: skip
"""Rooms in which the device talks to itself: every corner of the specification's ranges."""


_VOICE_SHARE = 10 ** (-17 / 10)
"""Of the active power: a voice, not the breath before it."""


class Kind(Enum):
    """What a talker's sound is meant as."""

    INTERRUPTION = "interruption"
    STRANGER = "interruption by a new voice"
    ORDER = "order by a new voice"
    SOFT_ACK = "soft-ack"
    NOISE = "noise"
    BACKGROUND = "background"


@dataclass(frozen=True)
class Sound:
    """One sound over the device's voice, ``level_db`` against it."""

    kind: Kind
    utterance: Utterance
    level_db: float


def fixtures() -> Path | None:
    """Where the recordings lie; None where there are none."""
    named = os.environ.get("EDGEVOICE_FIXTURES")
    return Path(named) if named and Path(named).is_dir() else None


# -- engines, once a process -----------------------------------------------------------------------


@cache
def workshop() -> Workshop:
    """The engines of the default configuration."""
    return Workshop(Settings())


@cache
def recogniser() -> Recogniser:
    """For whoever listens beside the device, which has one of its own."""
    return workshop().recogniser()


@cache
def synthesiser() -> Synthesiser:
    """The device's own voice."""
    return workshop().synthesiser()


@cache
def ears() -> Ears:
    """The engines that hear."""
    shop = workshop()
    return Ears(shop.echo, shop.detector, shop.wake(), shop.recogniser())


@cache
def own_voice() -> Voice:
    """The device's voice, which remembers what it said."""
    return Voice(synthesiser(), RATE)


@cache
def own_speech() -> np.ndarray:
    """`TEXT` as the device says it, int16 at 16 kHz."""
    return np.concatenate([speech.samples for speech in own_voice().say(TEXT)])


# -- talkers ---------------------------------------------------------------------------------------


@cache
def speak(number: int) -> Speak:
    """The voice of `VOICES`, and then of `NEW_VOICES`, with that number."""
    return talker.voice((*VOICES, *NEW_VOICES)[number], _slower)


def _slower(model: Path | None, length_scale: float) -> Synthesiser:
    assert model is None, "only the device's own voice is borrowed"
    settings = Settings()
    return Workshop(
        replace(settings, tts=replace(settings.tts, length_scale=length_scale))
    ).synthesiser()


def said(text: str, voice: int) -> Utterance:
    """``text`` in a voice."""
    return talker.utterance(Line(say=text), speak(voice), RATE)


def recorded(path: Path, seconds: float = 60.0) -> Utterance:
    """The beginning of a recording."""
    whole = talker.utterance(Line(wav=path), speak(1), RATE)
    length = min(len(whole.audio), int(seconds * RATE))
    audio = whole.audio[:length]
    return Utterance(path.stem, audio, whole.onset, min(whole.end, length))


def _first_sound(audio: np.ndarray) -> int:
    """Where a voice begins in a recording with a room and a breath before it."""
    frames = audio[: len(audio) // 160 * 160].reshape(-1, 160)
    loud = np.mean(np.square(frames), axis=1) > _VOICE_SHARE
    return int(np.flatnonzero(loud[2:] & loud[1:-1] & loud[:-2])[0]) * 160


def cough(seed: int) -> Utterance:
    """Two bursts of breath through a throat, 0.35 s."""
    random = np.random.default_rng(seed)
    time = np.arange(int(0.35 * RATE)) / RATE
    rise = np.clip(time / 0.005, 0, 1)
    bursts = rise * np.exp(-time / 0.05) + 0.25 * np.exp(-(((time - 0.22) / 0.05) ** 2))
    spectrum = np.fft.rfft(random.standard_normal(len(time)))
    frequency = np.fft.rfftfreq(len(time), 1 / RATE)
    spectrum /= 1 + ((frequency - 900) / 900) ** 2
    sound = np.fft.irfft(spectrum, len(time)) * bursts
    return Utterance(f"cough {seed}", sound / active_level(sound, RATE), 0, len(sound))


# -- plans -----------------------------------------------------------------------------------------


def interruptions(level_db: float, voices: Sequence[int]) -> list[Sound]:
    """Each text in each voice, and real people's commands."""
    spoken = [said(text, voice) for voice in voices for text in INTERRUPTIONS]
    if folder := fixtures():
        names = ("set_timer", "turn_on_the_lamp", "play_the_beatles", "LJ001-0002")
        people = [recorded(folder / "speech" / f"{name}.wav", 3.0) for name in names]
        spoken += [replace(each, onset=_first_sound(each.audio)) for each in people]
    return [Sound(Kind.INTERRUPTION, each, level_db) for each in spoken]


def strangers(level_db: float) -> list[Sound]:
    """Each text, and each order alone, by those whom nothing was tuned on."""
    voices = range(len(VOICES), len(VOICES) + len(NEW_VOICES))
    texts = [(Kind.STRANGER, text) for text in INTERRUPTIONS]
    texts += [(Kind.ORDER, text) for text in ORDERS]
    return [Sound(kind, said(text, voice), level_db) for voice in voices for kind, text in texts]


def soft_acks(level_db: float, voices: Sequence[int]) -> list[Sound]:
    """Each soft-ack in each voice."""
    return [
        Sound(Kind.SOFT_ACK, said(text, voice), level_db) for voice in voices for text in SOFT_ACKS
    ]


def noises() -> list[Sound]:
    """Coughs, and recordings of what is no voice."""
    sounds = [Sound(Kind.NOISE, cough(seed), level) for seed in range(3) for level in (0.0, 6.0)]
    if folder := fixtures():
        for name in ("car_horn", "dog_bark", "ringing_phone"):
            heard = recorded(folder / "noise" / f"{name}.wav", 3.0)
            sounds += [Sound(Kind.NOISE, heard, level) for level in (0.0, -6.0)]
    return sounds


def background() -> list[Sound]:
    """People who talk to one another at the other end of the room."""
    folder = fixtures()
    if folder is None:
        return []
    whole = recorded(folder / "noise" / "people_talking.wav")
    parts = [whole.audio[start * RATE : (start + 4) * RATE] for start in (0, 8, 16, 24)]
    return [Sound(Kind.BACKGROUND, _part(part, i), -15.0) for i, part in enumerate(parts)]


def _part(audio: np.ndarray, number: int) -> Utterance:
    return Utterance(f"people {number}", audio / active_level(audio, RATE), 0, len(audio))
