"""``edgevoice replay``: feed a recorded trace to a fresh core and compare."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edgevoice.core.conversation import Conversation
    from edgevoice.core.table import Place
    from edgevoice.core.tuning import Tuning
    from edgevoice.trace import Step


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "replay", help="feed a trace to a fresh core; it must give the same commands"
    )
    parser.add_argument("trace", metavar="TRACE", help="events.jsonl of a demo or of run --trace")
    parser.add_argument("--until", metavar="LINE", type=int, help="stop after this line")
    parser.add_argument(
        "--explain", action="store_true", help="say why the core did what it did, or did nothing"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0 when every line gave what was recorded; `DataError` for the first that did not."""
    from edgevoice.core.table import Place
    from edgevoice.errors import DataError
    from edgevoice.trace import replay

    path = Path(args.trace)
    place, told = Place.PREPARING, ""
    events = commands = 0
    for step, core, difference in replay(path):
        if args.until is not None and step.line > args.until:
            break
        events += 1
        commands += len(step.commands)
        if difference is not None:
            raise DataError(
                f"{path}:{difference.line}: the replay gives "
                f"{json.dumps(difference.replayed)} instead of {json.dumps(difference.recorded)}",
                "the trace is from another version, or was edited",
            )
        if args.explain and (core.why or step.commands):
            line = explained(step, place, core)
            if step.commands or _kind(line) != told:  # of frames for which it waits, the first
                print(f"{step.line}: {line}")
            told = _kind(line)
        place = core.place
    print(f"{path}: {events} events gave the same {commands} commands")
    return 0


def explained(step: Step, place: Place, core: Conversation) -> str:
    """One line: what happened in ``place``, the rule that took it, and why it did what it did.

    Where the conversation moved by a decision, the thresholds it was made by follow.
    """
    from edgevoice.core.table import TABLE

    names = ", ".join(command["is"] for command in step.commands) or "nothing"
    row = TABLE[place].get(type(step.event))
    line = f"{place.value}: {type(step.event).__name__} -> {names}"
    line += f"  by {row.rule}" if row else "  by no rule"
    if core.why:
        line += f" because {core.why}"
    if core.why and core.place is not place and type(step.event).__name__ in _HEARD:
        line += _thresholds(place, core.tuning)
    return line


def _kind(line: str) -> str:
    """The line without its figures."""
    return re.sub(r"\d+", "", line.partition(" (")[0])


def _thresholds(place: Place, tuning: Tuning) -> str:
    section, names = _DECIDED_BY.get(place.value, ("", ()))
    settings = [f"{name} {getattr(getattr(tuning, section), name)}" for name in names]
    return f" [{section}: {', '.join(settings)}]" if settings else ""


_HEARD = ("SoundFrame", "Transcript", "Tick")
"""What a decision by those settings comes from; a button or a wake word needs none."""

_DECIDED_BY = {
    "listening": (
        "turn",
        (
            "min_silence_to_speak_ms",
            "min_silence_short_utterance_ms",
            "min_confidence_to_speak",
            "stability_threshold",
            "text_settle_ms",
            "sure_probability",
            "whole_probability",
            "unfinished_probability",
            "finished_probability",
            "incomplete_extra_ms",
            "doubtful_extra_ms",
            "hysteresis_window_ms",
            "whole_sooner_ms",
        ),
    ),
    "speaking.playing": (
        "barge_in",
        ("onset_ms", "interrupt_energy_threshold", "interrupt_vad_threshold"),
    ),
    "speaking.held": (
        "barge_in",
        ("min_words", "commit_ms", "resume_silence_ms", "echo_overlap"),
    ),
}
"""The settings that decide when the conversation leaves a place by the user's voice."""
