"""Earcons: the device's short sounds, made of decaying sine tones.

The one at the start has some breath, as a flute has: noise over the whole range of speech,
from which the echo cancellers learn the room.  Of sines alone they learn five frequencies of
it, and the first answer leaks.  The one for the wake word has none: who says it goes on talking.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from edgevoice.ports import Samples

_PEAK = 0.12
"""Of full scale: well below speech, which is what should be heard over it."""

_BREATH = 0.25
"""RMS of the noise, of a tone's peak.  In 16 rooms it lowers the loudest rest of the first 1.5 s
of an answer from 0.36 of what is evidence for a hold to 0.25 (medians)."""

_BREATHY = "ready"
_SPEECH_HZ = (80.0, 7500.0)

_TONES: dict[str, tuple[tuple[float, float], ...]] = {
    "ready": ((523.25, 0.18), (659.25, 0.18), (783.99, 0.45)),
    "wake": ((880.0, 0.09), (1174.66, 0.12)),
    "close": ((1174.66, 0.09), (880.0, 0.14)),
    "mute": ((440.0, 0.12), (330.0, 0.16)),
    "error": ((220.0, 0.16), (196.0, 0.3)),
    "alarm": ((987.77, 0.12), (0.0, 0.18), (987.77, 0.12), (0.0, 0.18), (1318.51, 0.2)),
}
"""Frequencies in Hz (equal temperament, A4 = 440; 0 is silence) and lengths in seconds."""


@cache
def earcon(name: str, rate: int) -> Samples:
    """The sound ``name`` at ``rate`` samples per second, made once.

    Raises KeyError for an unknown name.
    """
    breath = _BREATH if name == _BREATHY else 0.0
    parts = [
        _tone(frequency, seconds, rate) + breath * _noise(seconds, rate)
        for frequency, seconds in _TONES[name]
    ]
    return (np.concatenate(parts) * _PEAK * 32767).astype(np.int16)


def _tone(frequency: float, seconds: float, rate: int) -> np.ndarray:
    """A sine with 5 ms of attack that has decayed to nothing at its end."""
    t = np.arange(int(seconds * rate)) / rate
    attack = np.minimum(1.0, t / 0.005)
    release = np.minimum(1.0, (seconds - t) / 0.01)
    decay = np.exp(-4.0 * t / seconds)
    return np.asarray(np.sin(2 * np.pi * frequency * t) * attack * decay * release)


def _noise(seconds: float, rate: int) -> np.ndarray:
    """The same each time; half as steep as pink noise, RMS 1 but for its soft ends."""
    n = int(seconds * rate)
    spectrum = np.fft.rfft(np.random.default_rng(1).standard_normal(n))
    frequency = np.fft.rfftfreq(n, 1 / rate)
    low, high = _SPEECH_HZ
    spectrum[(frequency < low) | (frequency > high)] = 0.0
    noise = np.fft.irfft(spectrum / np.sqrt(np.maximum(frequency, low)), n)
    t = np.arange(n) / rate
    ends = np.minimum(1.0, np.minimum(t / 0.02, (seconds - t) / 0.03))
    return np.asarray(noise / np.sqrt(np.mean(np.square(noise))) * ends)
