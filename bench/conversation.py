"""The demo conversation, held several times: what a person waits for.

``response`` is taken from the recording and from the script: from the end of
what the talker said to the first sample of speech that leaves the loudspeaker,
whatever the device itself believes.  The other figures are the device's own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import wave
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from bench.rows import Row, row
from edgevoice.adapters.scene import Expect

RUNS = 5
_AUDIBLE = 300
"""Of 32768: −41 dB, above the room and below speech."""
_EARCON_S = 0.3
"""Sound this short is no answer."""

_FIGURES = {
    "llm_first_token_ms": ("decision to first token", "", None),
    "tts_first_audio_ms": ("first piece to its first audio", "", None),
    "onset_to_decision_ms": ("interruption: first evidence to hold", "", None),
    "decision_to_silence_ms": ("interruption: hold to last audible sample", "p99 < 50 ms", 50.0),
    "commit_to_listening_ms": ("interruption: commit to LISTENING", "p99 < 400 ms", 400.0),
}


def rows() -> list[Row]:
    """The figures of the suite; each run takes about 45 s."""
    outs = [hold() for _ in range(RUNS)]
    reports = [json.loads((out / "report.json").read_text()) for out in outs]
    turns = [turn for report in reports for turn in report["turns"]]
    waits = [
        wait for out, report in zip(outs, reports, strict=True) for wait in _waits(out, report)
    ]
    response = row("conversation", "end of speech to first audio out", "ms", waits)
    response |= {"target": "p50 <= 680 ms, p95 <= 900 ms"}
    response |= {"holds": response["p50"] <= 680 and response["p95"] <= 900}
    return [response, *_device_figures(turns), *_footprint(reports)]


def hold() -> Path:
    """Hold the demo conversation once; the directory it was left in."""
    out = Path(mkdtemp(prefix="edgevoice-bench-"))
    command = [sys.executable, "-m", "edgevoice", "demo", "--out", str(out)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return out


def a_trace() -> Path:
    """The trace of a demo conversation."""
    return hold() / "events.jsonl"


def _device_figures(turns: list[dict[str, Any]]) -> list[Row]:
    figures = []
    for key, (metric, target, limit) in _FIGURES.items():
        values = [turn[key] for turn in turns if turn[key] is not None]
        if not values:
            continue
        figure = row("conversation", metric, "ms", values, target=target)
        if limit is not None:
            figure["holds"] = figure["p99"] <= limit
        figures.append(figure)
    return figures


def _footprint(reports: list[dict[str, Any]]) -> list[Row]:
    process = [report["process"] for report in reports]
    return [
        row("conversation", "start to READY", "s", [p["ready_s"] for p in process]),
        row(
            "conversation", "CPU while talking", "% of a core", [p["cpu_percent"] for p in process]
        ),
    ]


def _waits(out: Path, report: dict[str, Any]) -> list[float]:
    """Milliseconds from the end of each line that wants an answer to that answer."""
    with wave.open(str(out / "conversation.wav")) as file:
        both = np.frombuffer(file.readframes(file.getnframes()), np.int16).reshape(-1, 2)
        rate = file.getframerate()
    starts = np.array([start for start, end in _sounds(both[:, 1], rate)])
    said = report["said"]
    waits = []
    for line, following in zip(said, [*said[1:], None], strict=True):
        until = following["start_s"] if following else np.inf
        if not Expect(line["expect"]).wants_answer:
            continue
        answers = starts[(starts > line["end_s"]) & (starts < until)]
        if len(answers):
            waits.append(1000 * (answers[0] - line["end_s"]))
    return waits


def _sounds(loudspeaker: np.ndarray, rate: int) -> list[tuple[float, float]]:
    """Stretches of sound, in seconds; pauses within 0.3 s do not part them."""
    loud = np.flatnonzero(np.abs(loudspeaker.astype(np.int32)) > _AUDIBLE) / rate
    if not len(loud):
        return []
    breaks = np.flatnonzero(np.diff(loud) > _EARCON_S)
    first = [loud[0], *loud[breaks + 1]]
    last = [*loud[breaks], loud[-1]]
    return [(a, b) for a, b in zip(first, last, strict=True) if b - a > _EARCON_S]
