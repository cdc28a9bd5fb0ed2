"""The air of the room: the echo, the talker's voice and the noise meet at the microphone."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from edgevoice.adapters.room_acoustics import (
    SPEED_OF_SOUND,
    Signal,
    active_level,
    active_rms,
    coloured_noise,
    convolve,
    gain,
    impulse_response,
)
from edgevoice.adapters.room_path import EchoPath
from edgevoice.adapters.scene import LATENCY_MS, Acoustics, Noise
from edgevoice.adapters.talker import Utterance, read_wav
from edgevoice.ports import Samples

SPEECH_DBFS = -26.0
"""Active level at the microphone of the talker, and of the echo of a device that plays
at `LOUDSPEAKER_DBFS`.  Noise is measured against it."""

LOUDSPEAKER_DBFS = -20.0
"""Nominal active level of what the device plays; Piper's sentences have -15 to -24."""

ECHO_RANGE_DBFS = (-40.0, -18.0)
"""The talker follows the level of the device's voice, since he is so many dB above it, but
neither whispers beside a device turned down nor shouts until the microphone clips."""

TALKER_DISTANCE = 1.0
"""Metres from the talker to the microphone."""

_NOISE_LOOP_S = 20
_REMEMBERED_S = 5
_ENOUGH_BLOCKS = 25


class Air:
    """Carries everything that sounds to the microphone, in blocks of 10 ms.

    Time is counted in microphone samples.  All noise comes from a generator seeded with
    ``seed``.
    """

    def __init__(
        self,
        acoustics: Acoustics,
        utterances: Sequence[Utterance],
        seed: int,
        rate: int,
        speaker_rate: int,
    ) -> None:
        self.speaker_rate = speaker_rate * (1 + acoustics.drift_ppm / 1e6)
        """Samples per second that really leave the loudspeaker."""
        self.block = rate // 100
        self._now = 0
        ratio = self.speaker_rate / rate
        response, delay = _echo_response(acoustics, rate), _delay(acoustics, rate)
        self._path = EchoPath(response, delay, self.block, ratio, acoustics.distortion)
        self._arriving: Signal = np.zeros(self.block)
        self._echo_powers: deque[float] = deque(maxlen=_REMEMBERED_S * 100)
        self._noise = _noise(acoustics.noise, rate, np.random.default_rng(seed))
        response = impulse_response(acoustics.rt60_s, TALKER_DISTANCE, rate)
        self._voices = [_in_room(utterance, response, rate) for utterance in utterances]
        self._spoken: list[tuple[int, Signal]] = []

    def play(self, samples: Samples) -> None:
        """Take what the loudspeaker plays next, at its rate."""
        self._path.play(samples)

    def propagate(self) -> Signal:
        """Let the next 10 ms of sound out of the loudspeaker; this is it, undelayed."""
        leaving, self._arriving = self._path.propagate()
        return leaving

    def speak(self, number: int, onset: int, lead: int, level_db: float) -> float:
        """Let utterance ``number`` be heard from sample ``onset`` on, ``lead`` samples in.

        Returns its active level in dB of full scale: ``level_db`` above the device's voice.
        """
        level = self._echo_level() * gain(level_db)
        self._spoken.append((onset - lead, self._voices[number] * level))
        return float(20 * np.log10(level))

    def heard(self, device_speaks: bool) -> Signal:
        """What the microphone hears in these 10 ms; 1.0 is its full scale."""
        if device_speaks:
            self._echo_powers.append(float(np.mean(self._arriving**2)))
        total = self._arriving + self._noise_block()
        for start, voice in self._spoken:
            _add(total, voice, start - self._now)
        self._now += self.block
        self._spoken = [each for each in self._spoken if each[0] + len(each[1]) > self._now]
        return total

    def _echo_level(self) -> float:
        """Active level of the device's voice at the microphone, lately or nominally."""
        if len(self._echo_powers) < _ENOUGH_BLOCKS:
            return gain(SPEECH_DBFS)
        low, high = ECHO_RANGE_DBFS
        level = active_rms(np.array(self._echo_powers))
        return float(np.clip(level, gain(low), gain(high)))

    def _noise_block(self) -> Signal:
        if not len(self._noise):
            return np.zeros(self.block)
        places = np.arange(self._now, self._now + self.block) % len(self._noise)
        return self._noise[places]


def _echo_response(acoustics: Acoustics, rate: int) -> Signal:
    """From the loudspeaker to the microphone, so that nominal speech arrives at `SPEECH_DBFS`."""
    if acoustics.response:
        response = _from_direct_sound(acoustics.response, rate)
    else:
        response = impulse_response(acoustics.rt60_s, acoustics.distance, rate)
    return response / np.linalg.norm(response) * gain(SPEECH_DBFS - LOUDSPEAKER_DBFS)


def _from_direct_sound(path: Path, rate: int) -> Signal:
    """A measured response without what comes before its highest peak, for the delay is ours."""
    response = read_wav(path, rate)
    return response[int(np.argmax(np.abs(response))) :]


def _delay(acoustics: Acoustics, rate: int) -> int:
    delay_ms = acoustics.delay_ms
    if delay_ms is None:
        delay_ms = LATENCY_MS + acoustics.distance / SPEED_OF_SOUND * 1000
    return round(delay_ms / 1000 * rate)


def _noise(noise: Noise, rate: int, random: np.random.Generator) -> Signal:
    """A loop of noise at its level; empty for none."""
    if math.isinf(noise.snr_db):
        return np.zeros(0)
    if noise.wav:
        loop = read_wav(noise.wav, rate)
    else:
        loop = coloured_noise(noise.colour, _NOISE_LOOP_S * rate, random)
    return loop / active_level(loop, rate) * gain(SPEECH_DBFS - noise.snr_db)


def _in_room(utterance: Utterance, response: Signal, rate: int) -> Signal:
    """The utterance as it arrives, direct sound undelayed, its audible part at level 1.0."""
    voice = convolve(utterance.audio, response)
    return voice / active_level(voice[utterance.onset : utterance.end], rate)


def _add(block: Signal, voice: Signal, start: int) -> None:
    """Add the part of ``voice`` that falls into ``block`` when it starts at ``start`` of it."""
    begin, end = max(start, 0), min(start + len(voice), len(block))
    if begin < end:
        block[begin:end] += voice[begin - start : end - start]
