"""How much of the wait is thinking: with speculation and without, in the same run.

``think`` asks the model after histories of several lengths.  The voice has its own suite,
`bench.speak`, whose first audio is shown here as well.  ``end of turn`` holds a
conversation of short questions in the room; the end of speech and the first audio are
taken from script and recording.  The waterfall of one turn is left in docs/latency.svg.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench import speak, waterfall
from bench.conversation import hold, waits_of
from bench.rows import Row, row
from edgevoice.adapters.llama import LlamaModel
from edgevoice.core.commands import Message
from edgevoice.core.tuning import HistoryTuning, Turn
from edgevoice.engines import Workshop
from edgevoice.settings.schema import PROFILES, Settings

RUNS = 6
HISTORIES = (0, 4, 12)
"""Exchanges before the question."""
SCENE = Path(__file__).parent / "scenes" / "questions.yaml"
PICTURE = Path(__file__).parents[1] / "docs" / "latency.svg"
_SHORT_ANSWERS = "llm: {max_tokens: 24}\n"
CASES = {
    "default": _SHORT_ANSWERS,
    "default, without speculation": (
        _SHORT_ANSWERS + "speculation: {read_ahead: false, answers: 0}\n"
    ),
    "aggressive": _SHORT_ANSWERS + "profile: aggressive\n",
}
_SHORT_UTTERANCE = 20

Chat = list[Message]


def rows() -> list[Row]:
    """The figures of the suite; takes less than four minutes."""
    first_audio = [row | {"suite": "latency"} for row in speak.rows() if row["unit"] == "ms"]
    return [*think(), *first_audio, *end_of_turn()]


# -- think ------------------------------------------------------------------------------------


def think() -> list[Row]:
    """Decision to first token, by what was read before: all, all but the question, nothing."""
    model = Workshop(Settings()).language_model()
    assert isinstance(model, LlamaModel)
    token_ms = 1000 * _token_s(model)
    return [
        row("latency", "one token", "ms", [token_ms]),
        *(row for exchanges in HISTORIES for row in _first_tokens(model, exchanges, token_ms)),
    ]


def _first_tokens(model: LlamaModel, exchanges: int, token_ms: float) -> list[Row]:
    ahead, cached, cold = [], [], []
    for run in range(RUNS):
        chat = _chat(exchanges, run)
        if run < RUNS // 2:
            _forget(model)
            cold.append(_first_token_ms(model, chat))
        model.prefill(chat[:-1], _never)
        cached.append(_first_token_ms(model, chat))
        model.prefill(chat[:-1], _never)
        model.prefill(chat, _never)
        ahead.append(_first_token_ms(model, chat))
    tokens = sum(model.count_tokens(message.text) for message in chat)
    after = f"first token, {tokens} tokens of prompt"
    fast = row("latency", f"{after}, read ahead", "ms", ahead, target="<= 2 token times")
    fast["holds"] = fast["p50"] <= 2 * token_ms
    fast["baseline"] = float(np.median(cached))
    return [
        fast,
        row("latency", f"{after}, only the history read", "ms", cached),
        row("latency", f"{after}, cold", "ms", cold),
    ]


def _chat(exchanges: int, run: int) -> Chat:
    """A conversation whose last question is another one each time."""
    chat = [Message("system", HistoryTuning().system_prompt)]
    for number in range(exchanges):
        chat.append(Message("user", f"what do you know about the number {number}"))
        chat.append(Message("assistant", f"The number {number} comes right after the one before."))
    return [*chat, Message("user", f"and how many days are in {run + 3} weeks and a half")]


def _first_token_ms(model: LlamaModel, chat: Sequence[Message]) -> float:
    began = time.perf_counter()
    next(iter(model.reply(chat, _never)))
    return 1000 * (time.perf_counter() - began)


def _token_s(model: LlamaModel) -> float:
    times = [time.perf_counter() for _ in model.reply(_chat(0, 0), _never)]
    return float(np.median(np.diff(times)))


def _forget(model: LlamaModel) -> None:
    """Fill the cache with something else."""
    model.prefill([Message("user", "!")], _never)


def _never() -> bool:
    return False


# -- end of turn --------------------------------------------------------------------------------


def end_of_turn() -> list[Row]:
    """End of speech to first audio out, whole device, and where the time went."""
    outs = {case: hold(SCENE, settings) for case, settings in CASES.items()}
    on, off = (waterfall.turns(outs[case] / "events.jsonl") for case in tuple(CASES)[:2])
    PICTURE.write_text(waterfall.render(*waterfall.typical(on, off)))
    rows = [row for case, out in outs.items() for row in _figures(case, out)]
    without = next(r for r in rows if r["metric"] == _response("default, without speculation"))
    for each in rows:
        if each["metric"] == _response("default"):
            each["baseline"] = without["p50"]
    return rows


def _response(case: str) -> str:
    return f"end of speech to first audio out, {case}"


def _figures(case: str, out: Path) -> list[Row]:
    report = json.loads((out / "report.json").read_text())
    turns = [turn for turn in report["turns"] if turn["response_ms"] is not None]
    response = row("latency", _response(case), "ms", waits_of(out, report))
    hidden = row(
        "latency",
        f"of it no deliberate wait, {case}",
        "ms",
        [turn["response_ms"] - _deliberate_ms(case, turn) for turn in turns],
    )
    if case == "default":
        response |= {"target": "p50 <= 680 ms, p95 <= 900 ms"}
        response |= {"holds": response["p50"] <= 680 and response["p95"] <= 900}
        hidden |= {"target": "p50 <= 50 ms", "holds": hidden["p50"] <= 50}
    elif case == "aggressive":
        response |= {"target": "p50 <= 350 ms", "holds": response["p50"] <= 350}
    starved = float(report["process"]["starved_blocks"])
    return [
        response,
        hidden,
        row("latency", f"drafts of a turn, {case}", "", [float(t["drafts"]) for t in turns]),
        row(
            "latency",
            f"tokens of a turn thrown away, {case}",
            "",
            [float(t["wasted_tokens"]) for t in turns],
        ),
        row("latency", f"blocks in which the voice ran dry, {case}", "", [starved], target="0")
        | {"holds": starved == 0},
    ]


def _deliberate_ms(case: str, turn: dict[str, Any]) -> float:
    """The silence and the hysteresis that the profile asks for."""
    profile = PROFILES["aggressive" if case == "aggressive" else "default"]
    policy = Turn(
        **{key.partition(".")[2]: value for key, value in profile.items() if "turn." in key}
    )
    short = len(turn["heard"]) < _SHORT_UTTERANCE
    silence = policy.min_silence_short_utterance_ms if short else policy.min_silence_to_speak_ms
    return silence + (0 if policy.hysteresis_overlaps_silence else policy.hysteresis_window_ms)
