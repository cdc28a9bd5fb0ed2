"""From figures to changes: what this machine would do better, and how sure that is.

Pure.  A change is proposed only when it is worth it beyond the noise of the measurement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from edgevoice.settings.keys import Value
from edgevoice.settings.schema import Settings
from edgevoice.tune.figures import Figure, less
from edgevoice.tune.measure import Machine, Threads

_SPEECH_TOKENS_S = 4.0
"""People say 2.5 words a second, which are about 3.3 tokens; some more for numbers and names."""
_COMFORT = 2.0
"""The model must be so many times faster than its answer is spoken: it shares its cores."""
_WORTH = 0.9
"""A gain of less than 10 % is not worth a changed configuration."""
_SLOW_RECOGNISER = 0.5
"""Real-time factor above which the last words come late when other work runs beside it."""
_NOISY = 0.5


@dataclass(frozen=True)
class Change:
    """A key of the configuration, its new value, and why."""

    key: str
    value: Value
    why: str


@dataclass(frozen=True)
class Model:
    """A language model of the catalogue that might be used instead."""

    name: str
    size: int
    is_here: bool


@dataclass(frozen=True)
class Advice:
    """What to change, and what to know besides."""

    changes: tuple[Change, ...]
    hints: tuple[str, ...]


def advise(
    machine: Machine, settings: Settings, current: Model | None, others: Sequence[Model]
) -> Advice:
    """What would be better; ``current`` is None when the model is not in the catalogue."""
    changes = [
        *_threads("llm.threads", machine.model),
        *_threads("tts.threads", machine.voice),
        *_period(machine.lateness, settings.audio.period_ms),
    ]
    hints = [*_recogniser(machine), *_quiet(machine)]
    better = _better_model(machine.model[0].pace.median, current, others)
    if isinstance(better, Change):
        changes.append(better)
    elif better:
        hints.append(better)
    return Advice(tuple(changes), tuple(hints))


def _threads(key: str, tried: Sequence[Threads]) -> Iterator[Change]:
    """The number whose first output comes soonest, if it is soonest for sure; first is today's."""
    current = tried[0]
    best = min(tried, key=lambda each: each.first.median)
    gain = best.first.median / current.first.median
    if gain < _WORTH and less(best.first, current.first):
        why = f"{best.first.median:.0f} ms to the first output instead of"
        yield Change(key, best.threads, f"{why} {current.first.median:.0f}")


def _period(lateness: Figure | None, now: int) -> Iterator[Change]:
    """A card holds two periods: a block may be late by one."""
    if lateness is None:
        return
    wanted = next((ms for ms in (10, 20, 30, 40) if max(lateness.runs) < 0.8 * ms), 40)
    if wanted > now:
        why = f"blocks come up to {max(lateness.runs):.0f} ms late"
        yield Change("audio.period_ms", wanted, why)


def _better_model(
    pace: float, current: Model | None, others: Sequence[Model]
) -> Change | str | None:
    """A smaller model when answers cannot keep up, a bigger one where there is room.

    Each token reads all weights once, so the pace goes with the size of the file.
    """
    needed = _SPEECH_TOKENS_S * _COMFORT
    slow = pace < needed
    if current is None:
        said = f"answers come at {pace:.1f} tokens/s and {needed:g} are needed"
        return f"{said}: take a smaller model" if slow else None
    fast = [other for other in others if pace * current.size / other.size >= needed]
    best = max(fast, key=lambda other: other.size, default=current)
    if best.name == current.name:
        return None
    why = f"about {pace * current.size / best.size:.0f} tokens/s, estimated from {pace:.0f} now"
    if best.is_here:
        return Change("llm.model", best.name, why)
    return f"{best.name} would fit ({why}): edgevoice models fetch {best.name}, and tune again"


def _recogniser(machine: Machine) -> Iterator[str]:
    factor = machine.recogniser.median
    if factor > _SLOW_RECOGNISER:
        yield f"the recogniser takes {factor:.2f} of real time: a smaller model would hear sooner"


def _quiet(machine: Machine) -> Iterator[str]:
    noisy = [figure for figure in machine.figures if figure.noise > _NOISY]
    if noisy:
        yield (
            f"{len(noisy)} figures vary by more than {_NOISY:.0%}: something else is running; "
            "measure again when it is quiet"
        )
    if machine.untried:
        yield f"no time was left to try other values of {' and '.join(machine.untried)}"
    if machine.lateness is None:
        yield "no microphone could be opened: audio.period_ms is left as it is"
