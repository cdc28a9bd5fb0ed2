"""How much of the wait is thinking: with speculation and without, in the same run.

``think`` asks the model after histories of several lengths.  The voice has its own suite,
`bench.speak`, whose first audio is shown here as well.  ``end of turn`` asks short questions
in the room, in paced time (`bench.paced`); the end of speech and the first audio are taken
from script and loudspeaker.  The waterfall of one turn is left in docs/latency.svg.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench import speak, waterfall
from bench.paced import CORES
from bench.questions import Held, House
from bench.rows import Row, row
from edgevoice.adapters.llama import LlamaModel
from edgevoice.core.commands import Message, TurnRecord
from edgevoice.core.easyturn import SHORT_UTTERANCE
from edgevoice.core.tuning import HistoryTuning
from edgevoice.engines import Workshop
from edgevoice.settings.keys import build
from edgevoice.settings.schema import PROFILES, Llm, Settings

RUNS = 6
HISTORIES = (0, 4, 12)
"""Exchanges before the question."""
SCENE = Path(__file__).parent / "scenes" / "questions.yaml"
PICTURE = Path(__file__).parents[1] / "docs" / "latency.svg"
ROUNDS = 3
"""Of the questions: one of them that is misheard decides about a p95 of seven."""
ALONE = Settings(llm=Llm(threads=1, max_tokens=24))
"""A model with one thread works the same whoever shares the cores, so its time can be measured."""
SETTINGS = Settings(llm=Llm(threads=CORES, max_tokens=24))
"""What the device takes on two cores."""
DEFAULT, AGGRESSIVE, SILENCE = "default", "aggressive", "plain silence"
WITHOUT, GUESSLESS = " without speculation", " without a guessed opening"
_OFF = "speculation: {read_ahead: false, answers: 0}\n"
CASES = {
    DEFAULT: "profile: default\n",
    DEFAULT + WITHOUT: "profile: default\n" + _OFF,
    AGGRESSIVE: "profile: aggressive\n",
    AGGRESSIVE + GUESSLESS: "profile: aggressive\nspeculation: {opening_tokens: 0}\n",
    AGGRESSIVE + WITHOUT: "profile: aggressive\n" + _OFF,
    "patient": "profile: patient\n",
    SILENCE + WITHOUT: "turn: {policy: silence}\n" + _OFF,
}
"""What each device is configured with; the last is what most assistants do."""
TARGETS_MS = {DEFAULT: (680, 900), AGGRESSIVE: (350, None)}
"""p50 and p95."""

Chat = list[Message]


def rows() -> list[Row]:
    """The figures of the suite; takes about ten minutes."""
    first_audio = [row | {"suite": "latency"} for row in speak.rows() if row["unit"] == "ms"]
    return [*think(), *first_audio, *end_of_turn()]


# -- think ------------------------------------------------------------------------------------


def think() -> list[Row]:
    """Decision to first token, by what was read before: all, all but the question, nothing.

    In processor time of one thread, which does not mind who else wants the cores.
    """
    model = Workshop(ALONE).language_model()
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
        _ask_another(model, chat)
        cached.append(_first_token_ms(model, chat))
        _ask_another(model, chat)
        _read_ahead(model, chat)
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
    began = time.process_time()
    next(iter(model.reply(chat, _never)))
    return 1000 * (time.process_time() - began)


def _token_s(model: LlamaModel) -> float:
    times = [time.process_time() for _ in model.reply(_chat(0, 0), _never)]
    return float(np.median(np.diff(times)))


def _ask_another(model: LlamaModel, chat: Sequence[Message]) -> None:
    """Leave the conversation in the cache, but not its question."""
    model.prefill([*chat[:-1], Message("user", "something else")], _never)


def _read_ahead(model: LlamaModel, chat: Sequence[Message]) -> None:
    """What the think stage does with a question until it is over."""
    model.prefill(chat, _never)
    model.whole(chat, _never)


def _forget(model: LlamaModel) -> None:
    """Fill the cache with something else."""
    model.prefill([Message("user", "!")], _never)


def _never() -> bool:
    return False


# -- end of turn --------------------------------------------------------------------------------


def end_of_turn() -> list[Row]:
    """End of speech to first audio out, whole device, and where the time went."""
    house = House(SCENE, SETTINGS)
    held = {case: house.hold(configuration, ROUNDS) for case, configuration in CASES.items()}
    on, off = (waterfall.turns(held[case].trace) for case in (DEFAULT, DEFAULT + WITHOUT))
    PICTURE.write_text(waterfall.render(*waterfall.typical(on, off)))
    assert isinstance(house.model, LlamaModel)
    token_ms = 1000 * _token_s(house.model) / CORES
    return [
        row
        for case in CASES
        for row in (
            *_figures(case, held[case], held.get(case + WITHOUT)),
            _thinking(case, held[case], token_ms),
        )
    ]


def _figures(case: str, held: Held, baseline: Held | None) -> list[Row]:
    response = _row("end of speech to first audio out", case, "ms", held.waits_ms)
    response["baseline"] = None if baseline is None else float(np.median(baseline.waits_ms))
    if case in TARGETS_MS:
        limits = dict(zip(("p50", "p95"), TARGETS_MS[case], strict=True))
        limits = {name: limit for name, limit in limits.items() if limit is not None}
        response["target"] = ", ".join(f"{name} <= {limit} ms" for name, limit in limits.items())
        response["holds"] = all(response[name] <= limit for name, limit in limits.items())
    deliberate = [
        turn.response_ms - _deliberate_ms(case, turn)
        for turn in held.turns
        if turn.response_ms is not None
    ]
    hidden = _row("of it no deliberate wait", case, "ms", deliberate)
    if case == DEFAULT:
        hidden |= {"target": "p50 <= 50 ms", "holds": hidden["p50"] <= 50}
    starved = _row("blocks in which the voice ran dry", case, "", [held.starved])
    wasted = [float(turn.wasted_tokens) for turn in held.turns]
    return [
        response,
        hidden,
        _row("tokens of a turn thrown away", case, "", wasted),
        _row("questions cut off or not answered", case, "", [held.cut_off + held.unanswered]),
        starved | {"target": "0", "holds": held.starved == 0},
    ]


def _thinking(case: str, held: Held, token_ms: float) -> Row:
    """What is left of the thinking when the turn is over."""
    waits = [t.llm_first_token_ms for t in held.turns if t.llm_first_token_ms is not None]
    thinking = _row("decision to first token", case, "ms", waits)
    if case in TARGETS_MS:
        thinking["target"] = "<= 2 token times"
        thinking["holds"] = thinking["p50"] <= 2 * token_ms
    return thinking


def _row(metric: str, case: str, unit: str, values: Sequence[float]) -> Row:
    return row("latency", f"{metric}, {case}", unit, values)


def _deliberate_ms(case: str, turn: TurnRecord) -> float:
    """The silence and the hysteresis that the profile asks for after a whole sentence.

    Of a decision that came sooner than they allow the model was sure.
    """
    policy = build(PROFILES[AGGRESSIVE if case.startswith(AGGRESSIVE) else DEFAULT]).turn
    short = len(turn.heard) < SHORT_UTTERANCE
    silence = policy.min_silence_short_utterance_ms if short else policy.min_silence_to_speak_ms
    if case.startswith(SILENCE):
        return policy.min_silence_to_speak_ms
    window = 0 if policy.hysteresis_overlaps_silence else policy.hysteresis_window_ms
    usual = silence + window
    was_sure = turn.eot_ms is not None and turn.eot_ms < usual
    return usual - (policy.whole_sooner_ms if was_sure else 0)
