"""What a room does to sound: its impulse response, its noise, and how both are measured."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Signal: TypeAlias = npt.NDArray[np.float64]
"""One channel of sound pressure; 1.0 is digital full scale at the microphone."""

SPEED_OF_SOUND = 343.0
"""Metres per second at 20 °C."""

SHOEBOX = (4.6, 3.7, 2.5)
"""Length, width and height of the room in metres: a living room, no side a multiple of another."""

MICROPHONE = (1.9, 0.8, 1.1)
"""Where the device's microphone is: on a shelf near a wall, in metres from a corner."""

COLOURS = {"white": 0.0, "pink": 0.5, "brown": 1.0}
"""Exponent of 1/f in the noise's amplitude spectrum."""

_RUMBLE_HZ = 80
_ACTIVE_DB = 30

_SEARCH_STEPS = 11
_DIRECTION = np.array([0.36, 0.86, 0.36]) / np.linalg.norm([0.36, 0.86, 0.36])


def impulse_response(rt60_s: float, distance: float, rate: int) -> Signal:
    """Response of the shoebox from a source ``distance`` metres from the microphone.

    The image method of Allen and Berkley, "Image method for efficiently simulating
    small-room acoustics", J. Acoust. Soc. Am. 65 (1979), 943.  The direct sound is
    1.0 at index 0: its delay is the caller's, since most of it is not acoustic.
    Eyring's formula is only near for a real shoebox, so the walls' reflection is
    searched for until the measured decay (`reverberation_time`) is the one asked for.
    """
    distances, reflections = _images(distance, rt60_s * SPEED_OF_SOUND)
    first = distances.min()
    arrival = np.rint((distances - first) / SPEED_OF_SOUND * rate).astype(np.intp)
    spread = first / distances

    def response(reflection: float) -> Signal:
        gains = spread * (reflection ** np.arange(reflections.max() + 1))[reflections]
        return _without_rumble(np.bincount(arrival, gains).astype(np.float64), rate)

    if len(distances) == 1:
        return np.ones(1)
    low, high = 0.01, 0.995
    for _ in range(_SEARCH_STEPS):
        middle = (low + high) / 2
        if reverberation_time(response(middle), rate) < rt60_s:
            low = middle
        else:
            high = middle
    return response((low + high) / 2)


def _images(distance: float, reach: float) -> tuple[Signal, npt.NDArray[np.intp]]:
    """Distance and number of wall reflections of every image within ``reach`` metres."""
    source = np.array(MICROPHONE) + distance * _DIRECTION
    squares, counts = np.zeros((1, 1, 1)), np.zeros((1, 1, 1), np.intp)
    for axis, (length, here, there) in enumerate(zip(SHOEBOX, MICROPHONE, source, strict=True)):
        order = int(np.ceil(reach / (2 * length)))
        m = np.repeat(np.arange(-order, order + 1), 2)
        q = np.tile([0, 1], 2 * order + 1)
        along = [1, 1, 1]
        along[axis] = len(m)
        squares = squares + (((1 - 2 * q) * there + 2 * m * length - here) ** 2).reshape(along)
        counts = counts + (np.abs(m - q) + np.abs(m)).reshape(along)
    metres = np.sqrt(squares)
    near = metres <= reach + distance + 1e-6
    return metres[near], counts[near]


def _without_rumble(response: Signal, rate: int) -> Signal:
    """High-pass, since images that all add up make a pressure no room can hold.

    Allen and Berkley's own remedy.  One pole, by its impulse response.
    """
    pole = np.exp(-2 * np.pi * _RUMBLE_HZ / rate)
    taps = np.arange(rate // 10)
    highpass = (pole - 1) * pole ** np.maximum(taps - 1, 0)
    highpass[0] = 1.0
    size = len(response) + len(highpass)
    spectrum = np.fft.rfft(response, size) * np.fft.rfft(highpass, size)
    return np.fft.irfft(spectrum, size)[: len(response)]


def reverberation_time(response: Signal, rate: int) -> float:
    """RT60 in seconds: T20 of Schroeder's backward integration (ISO 3382-2).

    The first 20 ms do not count: beside a loudspeaker the direct sound alone is
    louder than all of the room.
    """
    tail = response[rate // 50 :]
    energy = np.cumsum(tail[::-1] ** 2)[::-1]
    decibels = 10 * np.log10(energy / energy[0] + 1e-12)
    span = np.flatnonzero((decibels <= -5) & (decibels >= -25))
    slope = np.polyfit(span / rate, decibels[span], 1)[0]
    return float(-60 / slope)


def convolve(signal: Signal, response: Signal) -> Signal:
    """``signal`` heard through ``response``, with its tail."""
    size = len(signal) + len(response) - 1
    return np.fft.irfft(np.fft.rfft(signal, size) * np.fft.rfft(response, size), size)


def coloured_noise(colour: str, samples: int, random: np.random.Generator) -> Signal:
    """Noise of one of `COLOURS`, RMS 1, whose end fits its beginning so that it can be looped."""
    spectrum = np.fft.rfft(random.standard_normal(samples))
    spectrum[0] = 0
    spectrum[1:] *= np.arange(1, len(spectrum), dtype=np.float64) ** -COLOURS[colour]
    noise = np.fft.irfft(spectrum, samples)
    return np.asarray(noise / np.sqrt(np.mean(noise**2)))


def active_level(signal: Signal, rate: int) -> float:
    """RMS of the parts of ``signal`` in which there is sound, `active_rms` of its 10 ms powers."""
    block = rate // 100
    whole = signal[: len(signal) // block * block].reshape(-1, block)
    return active_rms(np.mean(whole**2, axis=1))


def active_rms(powers: Signal) -> float:
    """RMS over the blocks whose power is within 30 dB of the loudest; 0 for silence.

    Pauses must not count: a talker is as loud in a slow sentence as in a quick one.
    ITU-T P.56 does the same with more effort.
    """
    if not len(powers) or not powers.max():
        return 0.0
    return float(np.sqrt(np.mean(powers[powers >= powers.max() * 10 ** (-_ACTIVE_DB / 10)])))


def gain(decibels: float) -> float:
    """Factor of an amplitude."""
    return float(10 ** (decibels / 20))
