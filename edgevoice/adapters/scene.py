"""A scene: the room, and who says what in it when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TypeAlias

LATENCY_MS = 40.0
"""From a sample's turn at the loudspeaker to its sound, where the scene gives no delay:
what two small ALSA buffers and a USB codec take."""


class Cue(Enum):
    """What the talker waits for before a line."""

    READY = "ready"
    DEVICE_STARTS = "device_starts"
    DEVICE_ENDS = "device_ends"
    RINGS = "rings"


class Expect(Enum):
    """What the device should make of a line."""

    TURN = "turn"
    IGNORED = "ignored"
    INTERRUPTS = "interrupts"
    STOPS = "stops"

    @property
    def wants_answer(self) -> bool:
        """Whether the device will speak because of such a line."""
        return self in (Expect.TURN, Expect.INTERRUPTS)


@dataclass(frozen=True, slots=True)
class Noise:
    """What is heard beside the two: a colour of noise or a looped recording.

    ``snr_db`` is how far it lies below nominal speech (`edgevoice.adapters.room_air.SPEECH_DBFS`);
    infinite for no noise at all.
    """

    snr_db: float = 20.0
    colour: str = "pink"
    wav: Path | None = None


@dataclass(frozen=True, slots=True)
class Acoustics:
    """The room and the two transducers in it.

    ``distance`` is metres from loudspeaker to microphone and decides how much of the
    room is in the echo; ``delay_ms`` is when its direct sound arrives (None: `LATENCY_MS`
    and what sound takes for that distance).  ``response`` is a measured impulse response
    in place of the computed one.  ``drift_ppm`` is how much too fast the loudspeaker's
    clock runs against the microphone's.
    """

    distance: float = 0.1
    delay_ms: float | None = None
    rt60_s: float = 0.35
    response: Path | None = None
    distortion: float = 0.0
    drift_ppm: float = 0.0
    noise: Noise = Noise(snr_db=30.0)


@dataclass(frozen=True, slots=True)
class Line:
    """One thing the talker says: ``say``, or the recording ``wav``.

    It comes ``plus_ms`` after ``at`` (seconds after the device was ready) or, where that
    is None, after ``when``.  ``level_db`` is its active level at the microphone against
    that of the device's own voice there.
    """

    say: str = ""
    wav: Path | None = None
    at: float | None = None
    when: Cue = Cue.DEVICE_ENDS
    plus_ms: float = 0.0
    level_db: float = 0.0
    expect: Expect = Expect.TURN


@dataclass(frozen=True, slots=True)
class EspeakVoice:
    """A voice of espeak-ng: variant, words per minute, pitch 0 to 99.

    The default did best of ten with the small Vosk model and the "hey jarvis" model.
    """

    variant: str = "en-us+f3"
    speed: int = 150
    pitch: int = 50


@dataclass(frozen=True, slots=True)
class PiperVoice:
    """A Piper voice (None: the device's own), made higher and quicker by these factors.

    The defaults did best of fourteen with the small Vosk model and the "hey jarvis" model,
    starting from en_US-joe-medium.
    """

    model: Path | None = None
    pitch: float = 1.15
    pace: float = 0.88


Voice: TypeAlias = EspeakVoice | PiperVoice


@dataclass(frozen=True, slots=True)
class Scene:
    """A room and the script played in it; ``seed`` is that of every noise."""

    acoustics: Acoustics = Acoustics()
    lines: tuple[Line, ...] = ()
    voice: Voice | None = None
    seed: int = 1

    @classmethod
    def conversation(cls, texts: Sequence[str], pause_ms: float = 600.0) -> Scene:
        """The plain conversation: each text ``pause_ms`` after the device has answered."""
        lines = [Line(say=text, plus_ms=pause_ms) for text in texts[1:]]
        first = [Line(say=text, when=Cue.READY, plus_ms=pause_ms) for text in texts[:1]]
        return cls(lines=(*first, *lines))
