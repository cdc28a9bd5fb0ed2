"""What a Raspberry Pi would do: a guess, for who has none at hand yet.

Published figures of a Piper voice of medium quality and of language models on these
boards are held against what was measured here.  The recogniser is taken to slow down as the
voice does; whether it does is the first thing to measure on a board.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from edgevoice.tune.measure import Machine


@dataclass(frozen=True)
class Board:
    """Real-time factors of a medium voice, and tokens a second times gigabytes of weights."""

    voice: tuple[float, float]
    model: tuple[float, float]


BOARDS = {
    # Medium voices: 0.36 to 0.77 (read).  Models: memory is 2.5 to 3 times slower than on a Pi 5.
    "pi4": Board(voice=(0.36, 0.77), model=(2.0, 3.2)),
    # Low voices take 0.11, medium ones 1.5 to 2.5 times that.  Qwen2.5-0.5B (0.4 GB): 20
    # tokens/s; Llama-3.2-1B (0.8 GB): 7.7 to 11.
    "pi5": Board(voice=(0.16, 0.28), model=(6.2, 8.8)),
}


def estimate(machine: Machine, model_gb: float | None, board: str) -> Iterator[str]:
    """Lines for the user, each with a range."""
    there = BOARDS[board]
    here = min(voice.pace.median for voice in machine.voice)
    slower = [factor / here for factor in there.voice]
    heard = [machine.recogniser.median * times for times in slower]
    ears = [machine.ear.median * times / 10 for times in slower]
    yield f"voice, real-time factor: {_range(there.voice)}"
    yield f"recogniser, real-time factor: {_range(heard)}"
    yield f"echo canceller, detector and wake word: {_range(ears)} % of a core"
    if model_gb:
        yield f"answer: {_range([pace / model_gb for pace in there.model])} tokens/s"


def _range(values: tuple[float, float] | list[float]) -> str:
    return f"{min(values):.2g} to {max(values):.2g}"
