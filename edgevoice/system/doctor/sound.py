"""The way of sound: from the loudspeaker through the air into the microphone.

The real capture stage pairs what is played with what is heard, so what is measured is what
the echo canceller gets in a conversation, delay and all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType

import numpy as np

from edgevoice.core.events import RATE, DeviceLost, Event
from edgevoice.errors import DeviceError
from edgevoice.ports import FRAME, Microphone, Resampler, Samples, Speaker
from edgevoice.stages.alignment import LATEST, arrivals
from edgevoice.stages.capture import Capture, Heard, Reference
from edgevoice.stages.echo import EchoControl, power
from edgevoice.system.doctor.finding import Finding, fail, ok, warn

QUIET_S = 1.0
NOISE_S = 5.0
_SETTLED_S = 2.0
"""At the end of the noise: the canceller takes a second or two to find the echo."""
_LATE_S = 2.0
_LOUDNESS = 0.1
"""RMS of full scale of the noise, before `volume`."""
_BAND_HZ = (200.0, 4000.0)
"""Where speech is, and where small loudspeakers sound."""

_CLIPPED = 32_700
_NOISY_DB, _DEAF_DB = -40.0, -85.0
_HEARD_DB = 6.0
"""An echo that is less above the noise of the room cannot be measured."""
_LATE_MS = 250.0
_ERLE_DB = 12.0
"""Less than this leaves a voice that the speech detector takes for somebody's."""

Resampling = Callable[[int, int], Resampler]


class Air:
    """Plays and records at once.  Use as a context manager."""

    def __init__(self, microphone: Microphone, speaker: Speaker, resampling: Resampling) -> None:
        self._speaker = speaker
        self._resampling = resampling
        self._reference = Reference()
        self._heard: list[Heard] = []
        self._lost = ""
        self._sound: Samples = np.zeros(0, np.int16)
        self._played = 0
        self._capture = Capture(
            self._noticed, microphone, self._reference, resampling, self._heard.extend
        )

    def __enter__(self) -> Air:
        """Open both; raises `DeviceError`."""
        self._speaker.start(self._fill, self._failed)
        self._reference.rate = self._speaker.rate
        try:
            self._capture.open()
        except DeviceError:
            self._speaker.stop()
            raise
        self._capture.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._capture.stop()
        self._speaker.stop()

    def play(self, sound: Samples) -> None:
        """Begin to play int16 at 16 kHz; returns at once."""
        rate = self._speaker.rate
        if rate != RATE:
            converter = self._resampling(RATE, rate)
            sound = np.concatenate((converter.process(sound), converter.finish()))
        self._played = 0
        self._sound = sound

    def record(self, seconds: float) -> tuple[Samples, Samples]:
        """What is heard and what is played from now on, both at 16 kHz.

        Raises `DeviceError` when the microphone delivers nothing any more.
        """
        first, wanted = len(self._heard), int(seconds * RATE) // FRAME
        deadline = time.monotonic() + seconds + _LATE_S
        while len(self._heard) - first < wanted:
            if self._lost or time.monotonic() > deadline:
                raise DeviceError(
                    self._lost or "the microphone delivers no sound",
                    "is it muted in alsamixer (F4)? else choose another audio.input",
                )
            time.sleep(0.02)
        heard = self._heard[first : first + wanted]
        return np.concatenate([h.near for h in heard]), np.concatenate([h.far for h in heard])

    def _fill(self, block: Samples, at: float) -> None:
        block[:] = 0
        n = min(len(block), len(self._sound) - self._played)
        if n > 0:
            block[:n] = self._sound[self._played : self._played + n]
            self._played += n
        self._reference.write(block, at)

    def _failed(self, reason: str) -> None:
        self._lost = reason

    def _noticed(self, event: Event) -> None:
        if isinstance(event, DeviceLost):
            self._lost = event.reason


@dataclass(frozen=True, slots=True)
class Loop:
    """What one pass of noise through the air has shown; levels in dB of full scale."""

    quiet_db: float
    echo_db: float
    delay_ms: float
    erle_db: float
    """Echo return loss enhancement, ITU-T G.168: echo before over echo after cancellation."""
    clipped: float
    """Share of the samples that were at full scale."""

    @property
    def is_heard(self) -> bool:
        """Whether the echo stands out of the noise of the room."""
        return self.echo_db - self.quiet_db >= _HEARD_DB


def measure(air: Air, echo: EchoControl, volume: float = 1.0) -> Loop:
    """Keep silent, then play noise, and see what comes back.  Takes six seconds."""
    quiet, _ = air.record(QUIET_S)
    air.play((noise(NOISE_S) * volume).astype(np.int16))
    near, far = air.record(NOISE_S)
    left = np.concatenate(list(cancelled(echo, near, far)))
    settled = slice(-int(_SETTLED_S * RATE), None)
    return Loop(
        quiet_db=level_db(quiet),
        echo_db=level_db(near[settled]),
        delay_ms=delay_ms(near, far),
        erle_db=level_db(near[settled]) - level_db(left[settled]),
        clipped=float(np.mean(np.abs(near.astype(np.int32)) >= _CLIPPED)),
    )


def noise(seconds: float) -> Samples:
    """Noise of the speech band that swells and falls as syllables do; always the same."""
    n = int(seconds * RATE)
    spectrum = np.fft.rfft(np.random.default_rng(6).standard_normal(n))
    hertz = np.fft.rfftfreq(n, 1 / RATE)
    spectrum[(hertz < _BAND_HZ[0]) | (hertz > _BAND_HZ[1])] = 0
    shaped = np.fft.irfft(spectrum, n) * (0.6 + 0.4 * np.sin(2 * np.pi * 4 * np.arange(n) / RATE))
    shaped *= _LOUDNESS * 32768 / np.sqrt(np.mean(np.square(shaped)))
    return np.clip(shaped, -32768, 32767).astype(np.int16)


def cancelled(echo: EchoControl, near: Samples, far: Samples) -> Iterator[Samples]:
    """What is believed of each block."""
    for at in range(0, len(near) - echo.block + 1, echo.block):
        believed, _ = echo.process(near[at : at + echo.block], far[at : at + echo.block])
        yield believed.samples


def delay_ms(near: Samples, far: Samples) -> float:
    """How much later ``near`` has what ``far`` has, in milliseconds.

    Negative when the card's buffers bring the echo before the reference.
    """
    reach = min(LATEST, len(near) - 1)
    clear = arrivals(near, far, range(-reach, reach))
    return float(np.argmax(clear) - reach) * 1000 / RATE


def level_db(samples: Samples) -> float:
    """RMS in dB of full scale; -120 for digital silence."""
    return max(-120.0, 10 * float(np.log10(power(samples) + 1e-12)))


# -- what it means ----------------------------------------------------------------------


def judge(loop: Loop) -> Iterator[Finding]:
    """The findings of a pass."""
    yield _microphone(loop)
    if not loop.is_heard:
        yield warn(
            "echo",
            "the microphone does not hear the loudspeaker",
            "is it on? turn it up, or headphones are in use: then audio.echo: none",
            echo_db=round(loop.echo_db, 1),
        )
        return
    yield _delay(loop)
    yield _erle(loop)


def _microphone(loop: Loop) -> Finding:
    told = f"{loop.quiet_db:.0f} dB of noise when nobody speaks"
    figures = {"quiet_db": round(loop.quiet_db, 1), "clipped": round(loop.clipped, 5)}
    if loop.quiet_db < _DEAF_DB and not loop.is_heard:
        todo = "unmute it in alsamixer (F4), or choose another audio.input"
        return fail("microphone", "it delivers only silence", todo, **figures)
    if loop.clipped > 0.001:
        what = f"{loop.clipped:.1%} of the samples are clipped"
        return fail("microphone", what, "lower its gain in alsamixer, or audio.volume", **figures)
    if loop.quiet_db > _NOISY_DB:
        todo = "lower its gain in alsamixer; put it away from fans"
        return warn("microphone", told, todo, **figures)
    return ok("microphone", told, **figures)


def _delay(loop: Loop) -> Finding:
    told = f"{loop.delay_ms:.0f} ms from the loudspeaker to the microphone"
    if loop.delay_ms > _LATE_MS:
        todo = "lower audio.period_ms; over Bluetooth it falls silent so much later"
        return warn("loop delay", told, todo, delay_ms=round(loop.delay_ms, 1))
    return ok("loop delay", told, delay_ms=round(loop.delay_ms, 1))


def _erle(loop: Loop) -> Finding:
    told = f"{loop.erle_db:.0f} dB of the echo are taken away"
    figures = {"erle_db": round(loop.erle_db, 1), "echo_db": round(loop.echo_db, 1)}
    if loop.erle_db < _ERLE_DB:
        todo = "it may interrupt itself: lower audio.volume, move microphone and loudspeaker apart"
        return warn("echo", told, todo, **figures)
    return ok("echo", told, **figures)
