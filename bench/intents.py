"""Which tool a sentence calls, and with what, on sentences that no template was written for.

Three ways: the templates alone; the language model alone (`llm.tools` on); and both, as the
device does it.  A call is right when tool and arguments are right.  Precision is the
share of calls that are right, recall the share of orders that are followed, and a false call
is one of a sentence that orders nothing.  The row of times is for a match in the templates.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from bench.rows import Row, row
from edgevoice.core.commands import Message
from edgevoice.core.tuning import HistoryTuning
from edgevoice.engines import Workshop
from edgevoice.ports import Call
from edgevoice.settings.schema import Llm, Settings
from edgevoice.skillset import Skills

SENTENCES = Path(__file__).parent / "intents.yaml"
PRECISION, RECALL = 0.98, 0.6
"""Of the templates: an order that is misunderstood is worse than one the model is asked about."""

MODEL = "EDGEVOICE_BENCH_LLM"
"""Environment variable: a language model other than the starter model, by name or path."""

Way: TypeAlias = Callable[[str], Call | None]


@dataclass(frozen=True)
class Sentence:
    """What is said, and what is meant."""

    say: str
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)


class _Nothing:
    """A device without a voice; no tool runs here."""

    volume = 50
    last_answer = ""


def rows() -> list[Row]:
    """The figures of the suite; takes a minute or two, most of it the language model's."""
    named = os.environ.get(MODEL, "")
    settings = Settings(llm=Llm(tools="on", **({"model": named} if named else {})))
    skills = Skills(settings, _Nothing(), lambda event: None)
    skills.warm_up()
    lists = read()
    sentences = [sentence for each in lists for sentence in each]
    model = cache(by_model(settings, skills))
    templates = skills.match
    figures = []
    for number, each in enumerate(lists, 1):
        way = f"templates, list {number}"
        figures += _figures(way, templates, each, targets=(PRECISION, RECALL))
    figures += _figures("model alone", model, sentences)
    figures += _figures("both", lambda said: templates(said) or model(said), sentences)
    times = _times(templates, sentences)
    return [*figures, row("intents", "a look-up in the templates", "ms", times)]


def read() -> list[list[Sentence]]:
    """The lists of sentences of the suite."""
    return [
        [Sentence(item["say"], item.get("tool", ""), item.get("with", {})) for item in items]
        for items in yaml.safe_load_all(SENTENCES.read_text(encoding="utf-8"))
    ]


def by_model(settings: Settings, skills: Skills) -> Way:
    """The language model's own call, if it makes one."""
    model = Workshop(settings).language_model()
    model.tools = skills.offers
    system = Message("system", HistoryTuning().system_prompt)

    def asked(said: str) -> Call | None:
        # A call is the first piece of an answer or there is none: the rest need not be waited for.
        first = next(iter(model.reply([system, Message("user", said)], lambda: False)), None)
        return first if isinstance(first, Call) else None

    return asked


def _figures(
    way: str, match: Way, sentences: Sequence[Sentence], targets: tuple[float, float] | None = None
) -> list[Row]:
    calls = [match(sentence.say) for sentence in sentences]
    made = [call is not None for call in calls]
    right = [
        call is not None and (call.name, dict(call.arguments)) == (s.tool, dict(s.arguments))
        for call, s in zip(calls, sentences, strict=True)
    ]
    right_tool = [
        call is not None and call.name == s.tool for call, s in zip(calls, sentences, strict=True)
    ]
    orders = [bool(sentence.tool) for sentence in sentences]
    false = [call for call, order in zip(made, orders, strict=True) if not order]
    precision = sum(right) / max(1, sum(made))
    recall = sum(right) / sum(orders)
    return [
        _share(f"{way}: precision", precision, sum(made), targets and targets[0]),
        _share(f"{way}: recall", recall, sum(orders), targets and targets[1]),
        _share(f"{way}: right tool, of orders", sum(right_tool) / sum(orders), sum(orders)),
        _share(f"{way}: false calls, of other sentences", sum(false) / len(false), len(false)),
    ]


def _share(metric: str, share: float, count: int, target: float | None = None) -> Row:
    """A share as a row: every percentile of one number is that number."""
    figure = row("intents", metric, "%", [100 * share])
    figure["n"] = count
    if target is not None:
        figure |= {"target": f">= {100 * target:g} %", "holds": share >= target}
    return figure


def _times(match: Way, sentences: Sequence[Sentence]) -> list[float]:
    took = []
    for sentence in sentences:
        began = time.perf_counter()
        match(sentence.say)
        took.append(1000 * (time.perf_counter() - began))
    return took
