"""How long each turn policy waits, and how often it cuts somebody off.

All hear the same utterances through the same detector and recogniser, in virtual time.
A cut-off is a decision that the turn is over between the beginning of a pause in
mid-sentence and the next pause, whatever may still be put right after it.  The wait goes
from the true end of the speech to the decision.  Writes docs/turn.svg.  What becomes of a
sentence that was cut off is in `bench.turn.rejoin`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from bench.rows import Row, row
from bench.turn import bound, plot, rejoin
from bench.turn.house import House, JudgeWords, Remembered, Verdicts, heed
from bench.turn.material import utterances
from bench.turn.sound import AFTER_S, Utterance
from edgevoice.adapters.smart_turn import SmartTurn
from edgevoice.adapters.vosk import VoskRecogniser
from edgevoice.core.events import RATE
from edgevoice.core.tuning import Tuning, Turn
from edgevoice.engines import Workshop
from edgevoice.models.catalogue import Role
from edgevoice.models.paths import resolve
from edgevoice.ports import EndOfTurn, Hypothesis
from edgevoice.settings.keys import build
from edgevoice.settings.schema import PROFILES, Settings

PICTURE = Path(__file__).parents[2] / "docs" / "turn.svg"
TIMEOUTS_MS = (300, 500, 700, 1000, 1500)
"""What others wait: pipecat and LiveKit 300 to 500, Home Assistant 700, most on a Pi 1000 on."""
JUDGES = ("easyturn", "smart_turn", "easyturn+smart_turn")
RULES, PATIENT = "easyturn, rules alone", "easyturn+smart_turn, patient"
PATIENT_READER = "easyturn, patient"
BASELINE = "silence 700 ms"
"""Home Assistant's, and the nearest to what the default profile waits."""
TARGETS = {"easyturn, default": 5.0, "easyturn, aggressive": 8.0}
"""Cut-offs in percent."""


@dataclass(frozen=True)
class Cut:
    """A pause in mid-sentence, and whether the turn was taken in it."""

    kind: str
    was: bool


@dataclass(frozen=True)
class Outcome:
    """What one policy made of all utterances."""

    name: str
    cuts: tuple[Cut, ...]
    waits_ms: tuple[float, ...]
    """One an utterance; what was never decided counts as the whole time it had."""

    def share(self, kind: str = "") -> float:
        """Cut-offs in percent, of pauses of one kind or of all."""
        cuts = [cut.was for cut in self.cuts if kind in ("", cut.kind)]
        return 100 * sum(cuts) / len(cuts)

    @property
    def kinds(self) -> list[str]:
        """The kinds of pauses."""
        return sorted({cut.kind for cut in self.cuts})


def rows() -> list[Row]:
    """The figures of the suite; takes about half an hour."""
    said, judge, whole = utterances(), _judge_of_sound(), _judge_of_words()
    outcomes = measure(said, policies(), judge, whole)
    PICTURE.write_text(plot.render(outcomes))
    (baseline,) = (outcome for outcome in outcomes if outcome.name == BASELINE)
    judged = [figure for outcome in outcomes for figure in figures(outcome, baseline)]
    return [*judged, *bound.rows(said, _recogniser, judge, whole), *rejoin.rows()]


def policies() -> dict[str, Turn]:
    """What is compared, by name."""
    silences = {
        f"silence {ms} ms": Turn(policy="silence", min_silence_to_speak_ms=ms) for ms in TIMEOUTS_MS
    }
    judges = {
        f"{policy}, {profile}": replace(build(PROFILES[profile]).turn, policy=policy)
        for policy in JUDGES
        for profile in ("default", "aggressive")
    }
    rules = {RULES: Turn(whole_probability=0.0)}
    patient = build(PROFILES["patient"]).turn
    reader = replace(patient, policy="easyturn")
    return silences | rules | judges | {PATIENT_READER: reader, PATIENT: patient}


def measure(
    said: Sequence[Utterance], compared: dict[str, Turn], judge: EndOfTurn, whole: JudgeWords
) -> list[Outcome]:
    """Let every policy hear everything."""
    cuts: dict[str, list[Cut]] = {name: [] for name in compared}
    waits: dict[str, list[float]] = {name: [] for name in compared}
    for utterance in said:
        heeded = heed(utterance.audio)
        memory: dict[bytes, Hypothesis] = {}
        for name, turn in compared.items():
            recogniser = Remembered(_recogniser, memory)
            decided = House(Tuning(turn=turn), recogniser, judge, whole).hear(heeded)
            cuts[name] += cuts_of(utterance, decided)
            waits[name].append(wait_ms(utterance, decided))
    return [Outcome(name, tuple(cuts[name]), tuple(waits[name])) for name in compared]


def _judge_of_sound() -> EndOfTurn:
    return Verdicts(SmartTurn(resolve("smart-turn-v3.2", Role.END_OF_TURN)))


def _judge_of_words() -> JudgeWords:
    model = Workshop(Settings()).language_model()
    return cache(lambda messages: model.whole(messages, lambda: False))


def _recogniser() -> VoskRecogniser:
    """A new one each time: Vosk adapts to what it heard before."""
    return VoskRecogniser(resolve("vosk-small-en-us-0.15", Role.ASR))


def cuts_of(utterance: Utterance, decided: Sequence[int]) -> list[Cut]:
    """What the decisions at these samples were to its pauses."""
    starts = [pause.start for pause in utterance.pauses]
    following = [*starts, utterance.end][1:]
    return [
        Cut(pause.kind, any(pause.start <= at < until for at in decided))
        for pause, until in zip(utterance.pauses, following, strict=True)
    ]


def wait_ms(utterance: Utterance, decided: Sequence[int]) -> float:
    """From its end to the first decision after it."""
    after = [at for at in decided if at >= utterance.end]
    return (after[0] - utterance.end) * 1000 / RATE if after else AFTER_S * 1000


def figures(outcome: Outcome, baseline: Outcome) -> list[Row]:
    """The rows of one policy, each beside what the baseline makes of the same."""
    name, target = outcome.name, TARGETS.get(outcome.name)
    usual = float(np.median(baseline.waits_ms))
    wait = row("turn", f"{name}: end of speech to decision", "ms", outcome.waits_ms, baseline=usual)
    cut = row(
        "turn",
        f"{name}: cut-offs",
        "%",
        [outcome.share()],
        target=f"<= {target:g} %" if target else "",
        holds=outcome.share() <= target if target else None,
        baseline=baseline.share(),
    )
    parts = [
        row(
            "turn",
            f"{name}: cut-offs, {kind}",
            "%",
            [outcome.share(kind)],
            baseline=baseline.share(kind),
        )
        | {"n": sum(each.kind == kind for each in outcome.cuts)}
        for kind in outcome.kinds
        if not name.startswith("silence")
    ]
    return [wait, cut | {"n": len(outcome.cuts)}, *parts]
