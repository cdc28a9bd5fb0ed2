"""Makes the sound of a sentence's phonemes, window by window.

`CutVoice` runs the parts that `piper_graph` cuts a voice into; `WholeVoice` runs a
voice that cannot be cut, a sentence at a time.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain, pairwise, repeat
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from edgevoice.adapters.piper_graph import (
    CONTEXT,
    HOP,
    Parts,
    cut_apart,
    parts_of,
)
from edgevoice.adapters.piper_reach import UnknownGraphError
from edgevoice.errors import EngineError, ModelError

Audio: TypeAlias = npt.NDArray[np.float32]
"""Mono, one-dimensional; full scale is 1."""

_FIRST_WINDOWS = (16, 24, 32, 48, 64)
"""Frames of the first windows of a sentence: short for an early start, and never so much
longer than the one before that a slow processor could not make it while that one plays."""
_WINDOW = 96
"""Frames of all others, 1.1 s: longer ones save little context and cancel later."""
_FLOW_FIRST = 64
"""Frames the flow makes at first at least.  Fewer save no time that can be measured, and
blocks so small are added up in another order, which the layers behind make 1.2e-5 of."""
_FLOW_AHEAD = 128
"""Frames the flow goes ahead at most.  It carries 64 frames of context each time, so it
doubles what it has: little at the start, when time is short, and seldom later."""
_FATAL = 4

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Scales:
    """How a voice speaks; the numbers of its description's ``inference``."""

    noise: float
    length: float
    noise_w: float


@dataclass(frozen=True, slots=True)
class Utterance:
    """A sentence that is being spoken; each step of ``windows`` computes the next sound."""

    samples_per_id: Sequence[int]
    windows: Iterator[Audio]


class Voice(Protocol):
    """Speaks phoneme ids."""

    def utter(self, ids: Sequence[int], scales: Scales) -> Utterance:
        """Begin a sentence; raises `edgevoice.errors.EngineError`, as its windows do."""


def open_voice(voice: Path, cache: Path, *, speaker: int | None, threads: int) -> Voice:
    """Load ``voice`` in parts from ``cache``, cutting it first where that was not done yet.

    A voice that cannot be cut is loaded whole, with a warning.  ``speaker`` is None when
    there is only one; ``threads`` of 0 are as many as cores.  Raises
    `edgevoice.errors.ModelError` when the voice cannot be read.
    """
    try:
        return _open_cut(voice, cache, speaker, threads)
    except ModelError:
        raise
    except (UnknownGraphError, BrokenProcessPool, OSError) as error:
        _log.warning(
            "the voice %s cannot be cut (%s); each sentence starts when all of it is ready",
            voice,
            error,
        )
        return WholeVoice(voice, speaker, threads)


def _open_cut(voice: Path, cache: Path, speaker: int | None, threads: int) -> CutVoice:
    parts = parts_of(voice, cache)
    if parts.exist():
        try:
            return CutVoice(parts, speaker, threads)
        except ModelError as error:
            _log.warning("%s; cutting the voice anew", error.what)
    return CutVoice(cut_apart(voice, cache), speaker, threads)


class CutVoice:
    """A voice in parts: the first window costs the encoder and a little of the rest."""

    def __init__(self, parts: Parts, speaker: int | None, threads: int) -> None:
        self._encoder = _open_session(parts.encoder, threads)
        self._outputs = [value.name for value in self._encoder.get_outputs()]
        self._speaker = speaker
        self._flow = _Convolution(parts.flow, speaker, threads)
        self._decoder = _Convolution(parts.decoder, speaker, threads)

    def utter(self, ids: Sequence[int], scales: Scales) -> Utterance:
        """Run the encoder; the windows do the rest."""
        outputs = _run(self._encoder, _sentence(ids, scales, self._speaker))
        durations = outputs[0].reshape(-1).astype(np.int64)
        frames = dict(zip(self._outputs[1:], outputs[1:], strict=True))
        return Utterance((durations * self._decoder.hop).tolist(), self._decode(frames))

    def _decode(self, frames: dict[str, Any]) -> Iterator[Audio]:
        prior = frames[self._flow.main]
        total = prior.shape[-1]
        latent = prior[..., :0]  # a flow can be run backwards, so its shape stays the same
        for start, end in pairwise(_window_edges(total)):
            known = latent.shape[-1]
            needed = min(total, max(_FLOW_FIRST, end + self._decoder.context))
            if known < needed:
                until = min(total, max(needed, known + min(known, _FLOW_AHEAD)))
                more = self._flow.window(frames, known, until)
                latent = np.concatenate((latent, more), axis=-1)
            yield self._decoder.window(frames | {self._decoder.main: latent}, start, end).reshape(
                -1
            )


class WholeVoice:
    """A voice in one file: all sound at once, and nothing known of its phonemes."""

    def __init__(self, path: Path, speaker: int | None, threads: int) -> None:
        self._session = _open_session(path, threads)
        self._speaker = speaker

    def utter(self, ids: Sequence[int], scales: Scales) -> Utterance:
        """Make all the sound and share it evenly among ``ids``."""
        audio = _run(self._session, _sentence(ids, scales, self._speaker))[0].reshape(-1)
        edges = np.linspace(0, len(audio), len(ids) + 1).astype(np.int64)
        return Utterance(np.diff(edges).tolist(), iter((audio,)))


class _Convolution:
    """A part that sees some frames to either side and no further."""

    def __init__(self, path: Path, speaker: int | None, threads: int) -> None:
        self._session = _open_session(path, threads)
        self._names = [value.name for value in self._session.get_inputs()]
        self._fixed = _speaker_input(speaker)
        notes = self._session.get_modelmeta().custom_metadata_map
        if not {HOP, CONTEXT} <= notes.keys():
            raise ModelError(f"{path} is not a part of a voice", "delete it")
        self.main: str = self._names[0]
        self.hop = int(notes[HOP])
        self.context = int(notes[CONTEXT])

    def window(self, frames: Mapping[str, Any], start: int, end: int) -> Any:
        """What comes of ``frames[..., start:end]``, as if all had been given."""
        left = max(0, start - self.context)
        feed = {
            name: self._fixed[name]
            if name in self._fixed
            else frames[name][..., left : end + self.context]
            for name in self._names
        }
        return _run(self._session, feed)[0][
            ..., (start - left) * self.hop : (end - left) * self.hop
        ]


def _window_edges(frames: int) -> Iterator[int]:
    edge = 0
    yield edge
    for size in chain(_FIRST_WINDOWS, repeat(_WINDOW)):
        edge = min(edge + size, frames)
        yield edge
        if edge == frames:
            return


def _sentence(ids: Sequence[int], scales: Scales, speaker: int | None) -> dict[str, Any]:
    """The inputs that every Piper voice has, by the names they all have."""
    return {
        "input": np.array([ids], np.int64),
        "input_lengths": np.array([len(ids)], np.int64),
        "scales": np.array([scales.noise, scales.length, scales.noise_w], np.float32),
        **_speaker_input(speaker),
    }


def _speaker_input(speaker: int | None) -> dict[str, Any]:
    return {} if speaker is None else {"sid": np.array([speaker], np.int64)}


def _open_session(path: Path, threads: int) -> Any:
    """Measured in windows: without the arena 14 MB less for a fifth more work, so it stays.

    Shapes change with each sentence, so patterns would only be remembered; and threads that
    spin between windows doubled the work of three sessions.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = _FATAL  # what goes wrong is raised as well
    options.enable_mem_pattern = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the engine's own classes have no common base
        raise ModelError(f"the voice {path} cannot be loaded", "fetch it again") from error


def _run(session: Any, feed: Mapping[str, Any]) -> list[Any]:
    try:
        outputs: list[Any] = session.run(None, feed)
    except Exception as error:  # the engine's own classes have no common base
        reason = str(error).partition("\n")[0]
        raise EngineError(f"the voice failed: {reason}", "try another voice") from error
    return outputs
