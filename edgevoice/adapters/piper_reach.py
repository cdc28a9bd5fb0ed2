"""Measures how far a part of a voice sees.

Half of the input is changed at random; how far from the middle the output changes,
too, is how far it sees.  Nothing need be known of the layers inside.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

_PROBE_FRAMES = 192  # three times the farthest sight of the voices known, to both sides
_MIDDLE = _PROBE_FRAMES // 2


class UnknownGraphError(ValueError):
    """The voice is not built like the VITS voices this file knows."""


def measure_reach(part: Path) -> tuple[int, int]:
    """Output per frame, and frames to either side on which a frame's output depends.

    The part's first input is (1, channels, frames) float32.  Raises `UnknownGraphError`
    when its output has no fixed length per frame or depends on frames too far away.
    """
    import onnxruntime

    session = onnxruntime.InferenceSession(part, providers=["CPUExecutionProvider"])
    main, *rest = session.get_inputs()
    if not isinstance(main.shape[1], int):
        raise UnknownGraphError("the width of its frames is unknown")
    fixed = {value.name: _ordinary(value) for value in rest}
    plain, late, early = (
        _run_flat(session, fixed | {main.name: frames}) for frames in _probes(main.shape[1])
    )
    hop, odd = divmod(plain.shape[-1], _PROBE_FRAMES)
    changed_late, changed_early = _changed(plain, late), _changed(plain, early)
    if odd or not (changed_late.size and changed_early.size):
        raise UnknownGraphError("its output does not follow its frames")
    back = _MIDDLE - changed_late[0] / hop
    ahead = (changed_early[-1] + 1) / hop - _MIDDLE
    context = math.ceil(max(back, ahead))
    if context >= _MIDDLE:
        raise UnknownGraphError("its output depends on the whole sentence")
    return hop, context


def _probes(channels: int) -> tuple[Any, Any, Any]:
    """Random frames, the same with another second half, and with another first half."""
    noise = np.random.default_rng(0)
    first, second, other = (
        noise.standard_normal((1, channels, _MIDDLE), np.float32) for _ in range(3)
    )
    halves = ((first, second), (first, other), (other, second))
    plain, late, early = (np.concatenate(pair, axis=-1) for pair in halves)
    return plain, late, early


def _ordinary(value: Any) -> Any:
    """A mask lets everything through; the speaker is the first."""
    if value.type == "tensor(int64)":
        return np.zeros(1, np.int64)
    return np.ones((1, 1, _PROBE_FRAMES), np.float32)


def _run_flat(session: Any, feed: dict[str, Any]) -> Any:
    try:
        out = session.run(None, feed)[0]
    except Exception as error:  # the engine's own classes have no common base
        raise UnknownGraphError("it wants more of the sentence than frames and a mask") from error
    return out.reshape(-1, out.shape[-1])


def _changed(a: Any, b: Any) -> Any:
    return np.flatnonzero((a != b).any(axis=0))
