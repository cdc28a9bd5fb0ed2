"""Has the user finished?  pipecat's Smart Turn v3 on the sound of the last seconds.

The network is the encoder of Whisper tiny with a classifier on top.  It listens to how
something is said, so it tells what a transcript cannot: the melody of a sentence that goes
on.  It calls every "yeah" finished; whether that is an answer is for others to judge.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from edgevoice.core.events import RATE
from edgevoice.errors import ModelError
from edgevoice.ports import Samples

WINDOW = 8 * RATE
"""Samples it listens to; what is shorter gets silence in front, as in its training."""

_FFT = 400
_HOP = 160
_BANDS = 80
_FRAMES = WINDOW // _HOP
_INPUT = ("input_features", [_BANDS, _FRAMES])
_FLOOR = 1e-10
_RANGE = 8.0
"""Powers of ten below the loudest bin that are told apart."""

_Array: TypeAlias = npt.NDArray[np.float64]


class SmartTurn:
    """Smart Turn v3 (ONNX) as `edgevoice.ports.EndOfTurn`, on one thread.

    Raises `edgevoice.errors.ModelError` when the file is missing or is another model.
    """

    def __init__(self, model: Path) -> None:
        self._session = _load(model)
        self.probability(np.zeros(_HOP, np.int16))  # warms up, and proves that it works

    @property
    def window(self) -> int:
        """Samples at 16 kHz that it listens to; more are of no use."""
        return WINDOW

    def probability(self, audio: Samples) -> float:
        """Probability, 0 to 1, that who spoke in ``audio`` (16 kHz) has finished at its end."""
        features = log_mel(audio).astype(np.float32)[None]
        (answer,) = self._session.run(None, {"input_features": features})
        return float(answer.reshape(-1)[0])


def log_mel(audio: Samples) -> _Array:
    """Whisper's log-mel features of the last `WINDOW` samples, shape (80, 800).

    The sound at zero mean and unit variance, padding included; power spectra of 25 ms Hann
    windows each 10 ms, centred, mirrored at the edges; 80 triangular bands on Slaney's mel
    scale; decimal logarithm, no more than 8 below the highest, brought to about -1…1.
    After Radford et al., "Robust speech recognition via large-scale weak supervision"
    (2022), section 2.2, in the form in which the network was trained.
    """
    sound = np.zeros(WINDOW)
    last = audio[-WINDOW:]
    sound[WINDOW - len(last) :] = last / 32768.0
    sound = (sound - sound.mean()) / np.sqrt(sound.var() + 1e-7)
    mirrored = np.pad(sound, _FFT // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(mirrored, _FFT)[::_HOP][:_FRAMES]
    window = np.hanning(_FFT + 1)[:-1]
    power = np.abs(np.fft.rfft(frames * window)) ** 2
    logs = np.log10(np.maximum(_bands() @ power.T, _FLOOR))
    features: _Array = (np.maximum(logs, logs.max() - _RANGE) + 4) / 4
    return features


@cache
def _bands() -> _Array:
    """Weights of the 201 bins in each mel band: triangles of equal area (Slaney, 1998)."""
    bins = np.linspace(0, RATE / 2, _FFT // 2 + 1)
    edges = _hertz(np.linspace(0, _mel(RATE / 2), _BANDS + 2))
    low, centre, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising = (bins - low) / (centre - low)
    falling = (high - bins) / (high - centre)
    weights: _Array = np.maximum(0, np.minimum(rising, falling)) * 2 / (high - low)
    return weights


_LINEAR_HZ = 200 / 3
"""Hertz to a mel below 1 kHz, from where the scale is logarithmic (Slaney's "auditory toolbox")."""
_BREAK_MEL = 15.0
_LOG_STEP = np.log(6.4) / 27


def _mel(hertz: float) -> float:
    if hertz < 1000:
        return hertz / _LINEAR_HZ
    return float(_BREAK_MEL + np.log(hertz / 1000) / _LOG_STEP)


def _hertz(mel: _Array) -> _Array:
    logarithmic = 1000 * np.exp(_LOG_STEP * (mel - _BREAK_MEL))
    return np.where(mel < _BREAK_MEL, mel * _LINEAR_HZ, logarithmic)


def _load(model: Path) -> Any:
    """The network, with its one input and output as expected."""
    import onnxruntime

    if not model.is_file():
        raise ModelError(f"{model} is missing", "run 'edgevoice models fetch smart-turn-v3.2'")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has no base class of its errors in its interface
        raise ModelError(f"{model} cannot be loaded", "fetch the models again") from error
    if [(i.name, i.shape[1:]) for i in session.get_inputs()] != [_INPUT]:
        raise ModelError(f"{model} is not Smart Turn v3", "name another file")
    return session
