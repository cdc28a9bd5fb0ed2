"""Earcons: the device's short sounds, made of decaying sine tones."""

from __future__ import annotations

import numpy as np

from edgevoice.ports import Samples

_PEAK = 0.12
"""Of full scale: well below speech, which is what should be heard over it."""

_TONES: dict[str, tuple[tuple[float, float], ...]] = {
    "ready": ((523.25, 0.18), (659.25, 0.18), (783.99, 0.45)),
    "wake": ((880.0, 0.09), (1174.66, 0.12)),
    "close": ((1174.66, 0.09), (880.0, 0.14)),
    "mute": ((440.0, 0.12), (330.0, 0.16)),
    "error": ((220.0, 0.16), (196.0, 0.3)),
    "alarm": ((987.77, 0.12), (0.0, 0.18), (987.77, 0.12), (0.0, 0.18), (1318.51, 0.2)),
}
"""Frequencies in Hz (equal temperament, A4 = 440; 0 is silence) and lengths in seconds."""


def earcon(name: str, rate: int) -> Samples:
    """The sound ``name`` at ``rate`` samples per second.

    Raises KeyError for an unknown name.
    """
    tones = [_tone(frequency, seconds, rate) for frequency, seconds in _TONES[name]]
    return (np.concatenate(tones) * _PEAK * 32767).astype(np.int16)


def _tone(frequency: float, seconds: float, rate: int) -> np.ndarray:
    """A sine with 5 ms of attack that has decayed to nothing at its end."""
    t = np.arange(int(seconds * rate)) / rate
    attack = np.minimum(1.0, t / 0.005)
    release = np.minimum(1.0, (seconds - t) / 0.01)
    decay = np.exp(-4.0 * t / seconds)
    return np.asarray(np.sin(2 * np.pi * frequency * t) * attack * decay * release)
