"""Barge-in: who stops the device, how soon, and what it makes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from bench import material, peers
from bench.material import Kind
from bench.peers import Peer
from bench.plots import Point, scatter
from bench.rows import Row, row
from bench.trials import Monologue, Outcome, Session
from edgevoice.core.tuning import Tuning, Turn

LEVELS = (6.0, 0.0, -10.0)
"""Of the interrupting voice against the device's at the microphone, dB."""
_MEANT = (Kind.INTERRUPTION, Kind.STRANGER, Kind.ORDER)
"""What should stop it."""
_PUBLISHED = (
    Point("gpt-realtime-1.5 (tau-voice)", 0.42, 2.0),
    Point("grok-voice (tau-voice)", 1.15, 93.0),
)
"""Yield and selectivity that tau-voice's panel measured: seconds, percent of backchannels."""


def sessions() -> list[Session]:
    """Interruptions at every level in turns of rooms, and what is none."""
    plans = [
        *(material.interruptions(level, (1 + i, 3)) for i, level in enumerate(LEVELS)),
        material.strangers(0.0),
        material.soft_acks(0.0, (0, 2, 4)) + material.noises() + material.background(),
    ]
    return [
        Session(room, plan[number :: len(material.ROOMS)], seed=number + 1)
        for plan in plans
        for number, room in enumerate(material.ROOMS)
    ]


def plain_silence() -> Session:
    """The same interruptions for a device that waits for a plain silence."""
    turn = Turn(policy="silence", min_silence_to_speak_ms=700)
    return Session(
        material.ROOMS[0], material.interruptions(0.0, (3,))[:6], tuning=Tuning(turn=turn)
    )


def bystanders() -> list[tuple[Session, int]]:
    """What the peers' strategies hear: the rooms' sounds at 0 dB."""
    sounds = material.interruptions(0.0, (2, 3)) + material.soft_acks(0.0, (0, 2, 4))
    sounds += material.noises()
    count = len(material.ROOMS)
    return [(Session(room, sounds[i::count]), i) for i, room in enumerate(material.ROOMS)]


# -- rows ------------------------------------------------------------------------------------------


def rows(outcomes: Sequence[Outcome], plain: Sequence[Outcome]) -> list[Row]:
    """The figures of the trials."""
    real = [each for each in outcomes if each.kind is Kind.INTERRUPTION]
    clear = [each for each in real if each.level_db >= 0]
    others = [each for each in outcomes if each.kind in (Kind.SOFT_ACK, Kind.NOISE)]
    behind = [each for each in outcomes if each.kind is Kind.BACKGROUND]
    return [
        *_times(clear, outcomes),
        *_shares(real, others, behind),
        *_by_strangers(outcomes),
        *_aftermath(outcomes),
        *_question(clear, plain),
    ]


def _times(clear: Sequence[Outcome], outcomes: Sequence[Outcome]) -> list[Row]:
    fades = [1000 * fade for each in outcomes for fade in each.fades]
    holds = [1000 * each.holds[0] for each in clear if each.holds]
    silent = [1000 * (each.holds[0] + each.fades[0]) for each in clear if each.holds and each.fades]
    ready = [
        1000 * (each.listening - each.commit)
        for each in outcomes
        if each.listening is not None and each.commit is not None
    ]
    commits = [1000 * each.commit for each in clear if each.commit is not None]
    return [
        _held("decision to last audible sample", fades, p99=50),
        row("barge-in", "onset to hold, SER >= 0 dB", "ms", holds),
        _held("onset to last audible sample, SER >= 0 dB", silent, p50=150, p95=250),
        row("barge-in", "onset to verdict, SER >= 0 dB", "ms", commits),
        _held("commit to LISTENING", ready, p99=400),
    ]


def _held(metric: str, values: Sequence[float], **limits: float) -> Row:
    figure = row("barge-in", metric, "ms", values)
    target = ", ".join(f"{name} <= {limit:.0f} ms" for name, limit in limits.items())
    holds = all(figure[name] <= limit for name, limit in limits.items())
    return figure | {"target": target, "holds": holds}


def _shares(
    real: Sequence[Outcome], others: Sequence[Outcome], behind: Sequence[Outcome]
) -> list[Row]:
    figures = []
    for level in LEVELS:
        stopped = [each.commit is not None for each in real if each.level_db == level]
        least = 97 if level >= 0 else None
        figures.append(share(f"interruptions that stop it, SER {level:+.0f} dB", stopped, least))
    for kind in (Kind.SOFT_ACK, Kind.NOISE):
        ignored = [each.commit is None for each in others if each.kind is kind]
        figures.append(share(f"{kind.value}s that do not", ignored, 95))
    unheld = [not each.holds for each in others]
    figures.append(share("of these, not even held", unheld))
    if behind:
        ignored = [each.commit is None for each in behind]
        figures.append(share("people in the background at -15 dB that do not", ignored))
    return figures


def _by_strangers(outcomes: Sequence[Outcome]) -> list[Row]:
    figures = []
    for kind in (Kind.STRANGER, Kind.ORDER):
        stopped = [each.commit is not None for each in outcomes if each.kind is kind]
        figures.append(share(f"{kind.value}, SER +0 dB, that stops it", stopped, 97))
    return figures


def share(metric: str, hits: Sequence[bool], least: int | None = None) -> Row:
    """A share in percent; its percentiles are of single trials and tell nothing."""
    percent = 100 * float(np.mean(hits))
    figure = row("barge-in", metric, "%", [percent])
    figure |= {"n": len(hits)}
    if least is not None:
        figure |= {"target": f">= {least} %", "holds": percent >= least}
    return figure


def _aftermath(outcomes: Sequence[Outcome]) -> list[Row]:
    lost = [float(n) for each in outcomes for n in each.lost]
    repeated = [float(n) for each in outcomes for n in each.repeated]
    wrong = [float(each.history_wrong) for each in outcomes if each.history_wrong is not None]
    return [
        _counted("words lost on resume", lost, 0),
        _counted("words repeated on resume", repeated, 1),
        _counted("history against what was heard, words wrong", wrong, 1),
    ]


def _counted(metric: str, values: Sequence[float], most: int) -> Row:
    figure = row("barge-in", metric, "words", values or [0.0], target=f"p99 <= {most}")
    return figure | {"n": len(values), "holds": figure["p99"] <= most}


def _question(clear: Sequence[Outcome], plain: Sequence[Outcome]) -> list[Row]:
    """How soon the interruption is taken for a question, against a plain silence of 0.7 s."""
    ours, theirs = _asked(clear), _asked(plain)
    metric = "end of the interruption to its question asked (baseline: policy silence, 0.7 s)"
    baseline = float(np.median(theirs)) if theirs else None
    return [row("barge-in", metric, "ms", ours, baseline=baseline)]


def _asked(outcomes: Iterable[Outcome]) -> list[float]:
    return [
        1000 * (each.asked - each.length_s)
        for each in outcomes
        if each.asked is not None and each.question
    ]


def own_voice(monologues: Sequence[Monologue]) -> list[Row]:
    """What the device made of its own voice, over all rooms."""
    played = sum(each.played_s for each in monologues)
    commits = sum(len(each.commits) for each in monologues)
    holds = [60 * len(each.holds) / each.played_s for each in monologues]
    wakes = sum(each.wakes for each in monologues)
    talked = f"{played / 60:.0f} min of its own speech in {len(monologues)} rooms"
    return [
        _exactly(f"false commits in {talked}", "commits", commits),
        row("barge-in", "false holds a minute, a room", "1/min", holds)
        | {"target": "mean <= 1", "holds": float(np.mean(holds)) <= 1},
        _exactly(f"wakes by its own voice in {talked}", "wakes", wakes),
    ]


def _exactly(metric: str, unit: str, count: int) -> Row:
    figure = row("barge-in", metric, unit, [float(count)], target="0")
    return figure | {"holds": count == 0}


# -- against others --------------------------------------------------------------------------------


def against(
    outcomes: Sequence[Outcome], stood_by: Sequence[Mapping[str, Peer]], plot: Path
) -> list[Row]:
    """The peers' strategies on the same sounds; leaves the chart in ``plot``."""
    merged = {name: _merged([each[name] for each in stood_by]) for name in peers.STRATEGIES}
    figures = [figure for name, peer in merged.items() for figure in _peer_rows(name, peer)]
    points = [_point(name, peer) for name, peer in merged.items()]
    points += [*_PUBLISHED, _our_point(outcomes)]
    title = "How soon it yields against how much it ignores"
    x_unit, y_unit = "s to silence", "% of soft-acks and noises ignored"
    plot.write_text(scatter(points, title, x_unit, y_unit, 1.5))
    return figures


def _merged(parts: Sequence[Peer]) -> Peer:
    whole = Peer()
    for part in parts:
        whole.yields += part.yields
        whole.ignored += part.ignored
        whole.own_voice += part.own_voice
        whole.alone_s += part.alone_s
    return whole


def _peer_rows(name: str, peer: Peer) -> list[Row]:
    times = [1000 * each for each in peer.yields if each is not None]
    yields = [each is not None for each in peer.yields]
    own = 60 * peer.own_voice / peer.alone_s
    return [
        row("barge-in", f"{name}: onset to stop", "ms", times or [float("nan")]),
        share(f"{name}: interruptions that stop it", yields),
        share(f"{name}: soft-acks and noises that do not", peer.ignored),
        row("barge-in", f"{name}: stops a minute for its own voice", "1/min", [own]),
    ]


def _point(name: str, peer: Peer) -> Point:
    times = [each for each in peer.yields if each is not None]
    return Point(
        name, float(np.median(times)) if times else 9.9, 100 * float(np.mean(peer.ignored))
    )


def _our_point(outcomes: Sequence[Outcome]) -> Point:
    times = [
        each.holds[0] + each.fades[0]
        for each in outcomes
        if each.kind is Kind.INTERRUPTION and each.level_db == 0 and each.commit and each.fades
    ]
    others = [each for each in outcomes if each.kind in (Kind.SOFT_ACK, Kind.NOISE)]
    ignored = 100 * float(np.mean([each.commit is None for each in others]))
    return Point("edgevoice", float(np.median(times)), ignored, ours=True)


def misses(outcomes: Sequence[Outcome]) -> list[str]:
    """One line for each trial that went wrong, with what was said, most frequent first."""
    wrong = [each for each in outcomes if (each.kind in _MEANT) == (each.commit is None)]
    counts = Counter(
        (each.kind.value, f"{each.level_db:+.0f} dB", each.text, _reason(each)) for each in wrong
    )
    return [" | ".join((*case, str(count))) for case, count in counts.most_common()]


def _reason(outcome: Outcome) -> str:
    return outcome.why or "no evidence"
