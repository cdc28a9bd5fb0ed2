"""What everything does everywhere, written down: ``python -m tests.traces`` writes it anew.

For each place there is a chapter: every event, every way to leave and come back,
and what time alone makes of it afterwards.  A last chapter has the rare stories,
step by step.  Each line is an event that had consequences, with all of them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from enum import Enum
from functools import cache
from pathlib import Path

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.easyturn import POLICIES
from edgevoice.core.events import RATE
from edgevoice.core.stability import StabilityTracker
from edgevoice.core.table import TABLE, Place
from edgevoice.core.tuning import Turn
from tests.core.ear import Ear
from tests.core.reach import talk_at
from tests.core.stories import LEAVE_AND_RETURN, MEANWHILE, STORIES, Act
from tests.core.talk import Talk
from tests.core.world import EVENTS, plain_event

HERE = Path(__file__).parent / "ledger"
AFTERWARDS_S = 12.0
"""How long time alone is watched for; what is still to come is in the last line."""

LONG = 200
"""Characters of a text that is told in full."""

OPEN = tuple(
    place for place in Place if ev.Suspend in TABLE[place] and place is not Place.SUSPENDED
)
FAULTS = tuple(
    (f"Fault {kind.value}", lambda t, kind=kind: ev.Fault(t.now, kind, "think", "boom"))
    for kind in ev.FaultKind
)


# -- as text ------------------------------------------------------------------------------


def plain(value: object) -> str:
    """A value, as short as it can be told from every other."""
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, float):
        return f"{value:.4f}".rstrip("0").rstrip(".")
    if isinstance(value, cmd.Message):
        return value.role if value.role == "system" else f"{value.role} {plain(value.text)}"
    if isinstance(value, ev.Word):
        return f"{value.text} {value.confidence}"
    if isinstance(value, ev.SpokenWord):
        return f"{value.text} {value.start}-{value.end}"
    if isinstance(value, str) and len(value) > LONG:
        return f"{value[:20]!r}…{value[-20:]!r} ({len(value)} characters)"
    if isinstance(value, tuple):
        return f"[{', '.join(map(plain, value))}]"
    return repr(value)


def told(thing: cmd.Command | ev.Event) -> str:
    """A command or an event: its name, and every field that says something."""
    if isinstance(thing, cmd.Transition):
        return f"-> {thing.target.value} ({thing.cause.value}, turn {thing.turn})"
    values = ((f.name, getattr(thing, f.name)) for f in fields(thing) if f.name != "at")
    known = ", ".join(f"{name} {plain(value)}" for name, value in values if value is not None)
    return f"{type(thing).__name__} {known}".rstrip()


def lines(talk: Talk, act: Callable[[Talk], object]) -> Iterator[str]:
    """What follows from ``act``, in seconds since it began."""
    began, written = talk.now, []
    feed = talk.feed

    def written_feed(event: ev.Event) -> list[cmd.Command]:
        commands = feed(event)
        if commands:
            written.append(f"{talk.core.now - began:.3f} {told(event)}")
            if talk.core.why:
                written.append(f"  because: {talk.core.why}")
            written.extend(f"  {told(command)}" for command in commands)
        return commands

    talk.feed = written_feed  # type: ignore[method-assign]
    act(talk)
    yield from written
    yield f"= {state(talk)}"


def state(talk: Talk) -> str:
    """Where it ended, and what is still waited for."""
    core = talk.core
    after = "never" if core.deadline is None else f"{core.deadline - core.now:.3f} s"
    waiting = [*core.questions, *core.announcements]
    return f"{core.place.value}, next in {after}" + (f", {waiting}" if waiting else "")


# -- chapters -------------------------------------------------------------------------------


@cache
def _at(place: Place) -> Talk:
    return talk_at(place)


def at(place: Place) -> Talk:
    """A talk of one's own, in ``place``."""
    talk = _at(place)
    return copy.deepcopy(talk, {id(talk.core.lexicon): talk.core.lexicon})


def chapter(place: Place) -> Iterator[str]:
    """Everything that can happen in ``place``."""
    for kind in EVENTS:
        yield f"# {kind.__name__}"
        yield from lines(
            at(place), lambda talk, kind=kind: _once(talk, plain_event(kind, talk.core))
        )
    for name, fault in FAULTS:
        yield f"# {name}"
        yield from lines(at(place), lambda talk, fault=fault: _once(talk, fault(talk)))
    for name, (leave, back) in LEAVE_AND_RETURN.items() if place in OPEN else ():
        yield f"# {name}"
        yield from lines(at(place), lambda talk, leave=leave, back=back: _away(talk, leave, back))
    for event in MEANWHILE if place in OPEN else ():
        yield f"# suspend, {event.__name__}, resume"
        yield from lines(at(place), lambda talk, event=event: _meanwhile(talk, event))


def _once(talk: Talk, event: ev.Event) -> None:
    talk.feed(event)
    talk.pass_time(AFTERWARDS_S)


def _away(talk: Talk, leave: Act, back: Act) -> None:
    leave(talk)
    talk.pass_time(2)
    back(talk)
    talk.pass_time(AFTERWARDS_S)


def _meanwhile(talk: Talk, event: type[ev.Event]) -> None:
    talk.feed(ev.Suspend(talk.now, "reload"))
    talk.feed(plain_event(event, talk.core))
    talk.feed(ev.Resume(talk.now))
    talk.pass_time(AFTERWARDS_S)


def stories() -> Iterator[str]:
    """What is told step by step."""
    for name, (tuning, story) in STORIES.items():
        yield f"# {name.replace('_', ' ')}"
        yield from lines(Talk(tuning, ready=False), story)


def turns() -> Iterator[str]:
    """What each turn policy makes of the same sounds, whenever its mind changes."""
    for policy in POLICIES:
        for overlaps in (False, True):
            yield f"# {policy}{', the window inside the wait' if overlaps else ''}"
            ear = Ear(Turn(policy=policy, hysteresis_overlaps_silence=overlaps), noise=0.002)
            yield from _decisions(ear)


SOUNDS = (
    ("", 300, 0.001, 0.02),
    ("", 60, 0.012, 0.35),
    ("yes", 400, 0.1, 0.95),
    ("yes", 700, 0.001, 0.02),
    ("yes", 100, 0.3, 0.1),
    ("yes", 300, 0.3, 0.1),
    ("tell me of the", 300, 0.019, 0.71),
    ("tell me of the", 2000, 0.001, 0.1),
    ("tell me of the sea and the moon", 300, 0.03, 0.4),
    ("tell me of the sea and the moon", 150, 0.001, 0.5),
    ("tell me of the sea and the moon", 900, 0.001, 0.1),
    ("tell me of the sea and the moon", 300, 0.014, 0.65),
    ("four", 900, 0.001, 0.02),
    ("a b", 900, 0.001, 0.02),
)
"""What is heard by then, for how long in milliseconds, and the frames' energy and probability."""


def _decisions(ear: Ear) -> Iterator[str]:
    tracker, told_last = StabilityTracker(), None
    for text, milliseconds, energy, vad in SOUNDS:
        tracker.update(text, ear.now)
        if text != ear.heard.text:
            ear.hears(text, confidence=None if text == "four" else 0.7)
        for _ in range(milliseconds // 10):
            ear.heard = replace(ear.heard, stability=tracker.stability(ear.now))
            decision = ear.frame(energy, vad)
            mind = decision.state, decision.reason[:7], decision.blocked_by, decision.speaking
            if mind != told_last:
                told_last = mind
                policy = ear.policy
                spoken = f"{policy.speech_started_at} to {policy.speech_ended_at}"
                yield f"{ear.now / RATE:.2f} {decision.state.value} {decision.explain()}, {spoken}"


CHAPTERS: dict[str, Callable[[], Iterator[str]]] = {
    **{place.value: lambda place=place: chapter(place) for place in Place},  # type: ignore[misc]
    "stories": stories,
    "turns": turns,
}


def path_of(name: str) -> Path:
    """Where a chapter lies."""
    return HERE / f"{name}.txt"


def text(name: str) -> str:
    """A chapter as it is today."""
    return "\n".join(CHAPTERS[name]()) + "\n"


def rewrite() -> Iterator[Path]:
    """Write every chapter anew."""
    for name in CHAPTERS:
        path_of(name).write_text(text(name), encoding="utf-8")
        yield path_of(name)
