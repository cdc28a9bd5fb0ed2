"""Echo: how much of the device's own voice is left, and how much of anybody else's is kept."""

from __future__ import annotations

import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench import material
from bench.lockstep import RATE
from bench.openloop import Overheard, Said, cancel, paired, propagate
from bench.plots import Curve, curves
from bench.rows import Row, row
from edgevoice.adapters.scene import Acoustics, Noise
from edgevoice.ports import Samples

_QUIET = Noise(snr_db=float("inf"))
_PLAYED_S = 24
_PRIMED_S = 4.0
"""The canceller has heard an echo for so long."""
_WINDOW_S = 0.5
_TARGET_DB = 25.0
_SPOKEN = 0.01
"""RMS of an echo from which a window counts."""
_LATE = round(0.02 * RATE)
"""What AEC3 may delay its output by."""


@dataclass(frozen=True)
class Case:
    """One room; ``jump`` as in `bench.openloop.propagate`."""

    name: str
    acoustics: Acoustics
    jump: tuple[float, float] | None = None
    seconds: int = _PLAYED_S


CASES = (
    *(Case(f"delay {d} ms", Acoustics(delay_ms=d, noise=_QUIET)) for d in (20, 40, 150, 300, 900)),
    *(Case(f"drift {p} ppm", Acoustics(drift_ppm=p, noise=_QUIET)) for p in (100, -300)),
    *(Case(f"jump of {ms} ms", Acoustics(noise=_QUIET), (12.0, ms / 1000)) for ms in (30, 600)),
    *(Case(f"distortion {x:.0f}", Acoustics(distortion=x, noise=_QUIET)) for x in (2.0, 4.0)),
    *(Case(f"RT60 {t} s", Acoustics(rt60_s=t, noise=_QUIET)) for t in (0.2, 0.6)),
)


def measure(case: Case) -> tuple[str, np.ndarray]:
    """ERLE in dB of each half second, NaN where nothing was played."""
    playback = np.resize(material.own_speech(), case.seconds * RATE)
    heard = propagate(case.acoustics, playback, jump=case.jump)
    return case.name, erle(cancel(heard, material.workshop().echo()))


def erle(sound: Overheard) -> np.ndarray:
    """Echo return loss enhancement (ITU-T G.168) of what is believed, a window."""
    before, after = _powers(sound.near), _powers(sound.believed)
    audible = before > _SPOKEN**2
    return np.where(
        audible, 10 * np.log10(np.maximum(before, 1e-10) / np.maximum(after, 1e-10)), np.nan
    )


def rows(measured: list[tuple[str, np.ndarray]], plot: Path) -> list[Row]:
    """The figures of `CASES`; leaves the picture in ``plot``."""
    figures = [_erle_row(name, values) for name, values in measured]
    _, first = measured[1]
    figures.append(
        row("echo", "cold start: played until 20 dB", "s", [_WINDOW_S * _first_over(first, 20.0)])
    )
    plot.write_text(
        curves(
            [Curve(name, values) for name, values in measured],
            "Echo return loss enhancement from a cold start", "s", "dB", _WINDOW_S,
        )
    )  # fmt: skip
    return figures


def _erle_row(name: str, values: np.ndarray) -> Row:
    settled = values[round(_PRIMED_S / _WINDOW_S) :]
    settled = settled[np.isfinite(settled)]
    figure = row("echo", f"ERLE, {name}", "dB", settled, target=f"p50 >= {_TARGET_DB:.0f}")
    return figure | {"holds": figure["p50"] >= _TARGET_DB}


def _first_over(values: np.ndarray, limit: float) -> int:
    audible = values[np.isfinite(values)]
    over = np.flatnonzero(audible > limit)
    return int(over[0]) if len(over) else len(audible)


# -- both speak ------------------------------------------------------------------------------------


def near_end_kept() -> list[Row]:
    """Of a voice at the level of the echo, what is left of it, in dB: ours and AEC3 alone."""
    spoken = [material.said(text, 3) for text in material.INTERRUPTIONS]
    said = [Said(each, 6.0 + 4.0 * i) for i, each in enumerate(spoken)]
    playback = np.resize(material.own_speech(), (10 + 4 * len(said)) * RATE)
    both = propagate(Acoustics(noise=_QUIET), playback, said)
    alone = propagate(Acoustics(noise=_QUIET), playback)
    control = material.workshop().echo()
    sound = cancel(both, control)
    echo = np.concatenate([frame.near for frame in alone])[: len(sound.near)]
    voice = sound.near.astype(float) - echo
    ours = [_kept(voice, sound.believed, each) for each in said]
    theirs = [_kept(voice, sound.suppressed, each) for each in said]
    baseline = float(np.median(theirs))
    return [row("echo", "near end kept in double talk, 0 dB", "dB", ours, baseline=baseline)]


def _kept(voice: np.ndarray, out: Samples, said: Said) -> float:
    """Level of the part of ``out`` that is the voice, against the voice; best of all lags."""
    first = round(said.at * RATE)
    wanted = voice[first : first + len(said.utterance.audio)]
    shifted = (out[first + lag :][: len(wanted)].astype(float) for lag in range(0, _LATE, 4))
    shares = [np.dot(each, wanted[: len(each)]) / np.dot(wanted, wanted) for each in shifted]
    return float(20 * np.log10(max(*shares, 1e-3)))


# -- real rooms ------------------------------------------------------------------------------------


def real() -> list[Row]:
    """The recorded pairs of loudspeaker and microphone, from a cold start."""
    folder = material.fixtures()
    if folder is None:
        return []
    pair = [_read(folder / "echo" / f"farend_singletalk_{which}.wav") for which in ("mic", "lpb")]
    sound = cancel(paired(*pair), material.workshop().echo())
    values = erle(sound)
    return [_erle_row("a real room and a distorting loudspeaker", values)]


def _read(path: Path) -> Samples:
    with wave.open(str(path)) as file:
        return np.frombuffer(file.readframes(file.getnframes()), np.int16)


def _powers(samples: Samples) -> np.ndarray:
    size = round(_WINDOW_S * RATE)
    whole = samples[: len(samples) // size * size].astype(float) / 32768
    return np.mean(np.square(whole.reshape(-1, size)), axis=1)
