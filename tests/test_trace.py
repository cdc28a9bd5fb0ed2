"""Traces: what is recorded replays bit for bit, and what is no trace is told in one line."""

from __future__ import annotations

import dataclasses
import io
import json
import types
import typing
from enum import Enum
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevoice import trace
from edgevoice.cli.main import main
from edgevoice.core import events as ev
from edgevoice.core.tuning import Tuning
from edgevoice.errors import DataError
from tests.traces.scripts import SCRIPTS, path_of, record

EVENTS = sorted(
    (kind for kind in vars(ev).values() if isinstance(kind, type) and issubclass(kind, ev.Event)),
    key=lambda kind: kind.__name__,
)
PLAIN = {
    bool: st.booleans(),
    int: st.integers(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    str: st.text(),
}


def anything(kind):
    """A strategy for every value of an annotated type."""
    if kind in PLAIN:
        return PLAIN[kind]
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType:
        return st.one_of(*(st.none() if k is type(None) else anything(k) for k in inner))
    if origin in (tuple, list, frozenset):
        return st.lists(anything(inner[0]), max_size=3).map(origin)
    if issubclass(kind, Enum):
        return st.sampled_from(kind)
    hints = typing.get_type_hints(kind)
    return st.builds(kind, **{f.name: anything(hints[f.name]) for f in dataclasses.fields(kind)})


def through_json(item):
    return json.loads(json.dumps(trace.encode(item)))


# -- round trips --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_every_event_comes_back_as_it_was(kind, data):
    event = data.draw(anything(kind))
    assert trace.decode(kind, through_json(event)) == event


@given(tuning=anything(Tuning))
def test_every_tuning_comes_back_as_it_was(tuning):
    assert trace.decode(Tuning, through_json(tuning)) == tuning


@pytest.mark.parametrize("text", ["line\nend", "other\u2028line\x85ends\x0b", "half \ud800 a pair"])
def test_whatever_was_said_fits_into_a_line(text, tmp_path):
    path = tmp_path / "events.jsonl"
    with path.open("w", encoding="utf-8") as file:
        recorder = trace.Recorder(file, Tuning(), 1.5)
        recorder(ev.Ask(2.0, text), [])
    tuning, born, steps = trace.read(path)
    assert (tuning, born) == (Tuning(), 1.5)
    assert list(steps) == [trace.Step(2, ev.Ask(2.0, text), [])]


# -- golden traces --------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_golden_trace_replays_bit_for_bit(name, capsys):
    assert main(["replay", str(path_of(name))]) == 0
    lines = path_of(name).read_text(encoding="utf-8").splitlines()
    commands = sum(len(json.loads(line)["commands"]) for line in lines[1:])
    said = f"{len(lines) - 1} events gave the same {commands} commands"
    assert said in capsys.readouterr().out


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_golden_trace_is_what_its_script_gives_today(name):
    file = io.StringIO()
    talk = record(name, file)
    hint = "the core decides otherwise now; if that is meant: python -m tests.traces"
    assert file.getvalue() == path_of(name).read_text(encoding="utf-8"), hint
    assert talk.core.refused == 0


# -- a changed trace --------------------------------------------------------------------------


@pytest.fixture
def usual(tmp_path):
    """A copy of the usual conversation, and its lines."""
    path = tmp_path / "events.jsonl"
    path.write_bytes(path_of("usual").read_bytes())
    return path


def change(path, number, old, new):
    lines = path.read_text(encoding="utf-8").split("\n")
    assert old in lines[number - 1]
    lines[number - 1] = lines[number - 1].replace(old, new)
    path.write_text("\n".join(lines), encoding="utf-8")


def line_with(path, text):
    lines = path.read_text(encoding="utf-8").split("\n")
    return next(number for number, line in enumerate(lines, 1) if text in line)


def refused(path, capsys, *options):
    """The one line that a replay fails with."""
    assert main(["replay", str(path), *options]) == DataError.status == 65
    (line,) = capsys.readouterr().err.splitlines()
    assert "Traceback" not in line
    return line


def test_a_changed_command_is_told_with_file_and_line(usual, capsys):
    number = line_with(usual, '"is":"Generate"')
    change(usual, number, 'capital of france"}', 'capital of spain"}')
    line = refused(usual, capsys)
    assert line.startswith(f"edgevoice: {usual}:{number}: the replay gives ")
    assert "capital of spain" in line
    assert "capital of france" in line


def test_a_changed_event_is_told_where_it_makes_a_difference(usual, capsys):
    change(usual, line_with(usual, '"is":"WakeHeard"'), "WakeHeard", "Ready")
    assert f"{usual}:" in refused(usual, capsys)


def test_a_changed_tuning_is_told_where_it_makes_a_difference(usual, capsys):
    change(usual, 1, '"follow_up_s":8.0', '"follow_up_s":9.0')
    assert f"{usual}:{line_with(usual, 'user.silent')}:" in refused(usual, capsys)


# -- no trace -------------------------------------------------------------------------------------


BROKEN = {
    "empty": (1, None, "", "not JSON"),
    "not JSON": (1, '{"edgevoice"', "edgevoice", "not JSON"),
    "not an object": (1, None, "[1, 2]\n", "not a JSON object"),
    "something else": (1, None, '{"hello": "world"}\n', "no edgevoice trace"),
    "other version": (1, '{"edgevoice":1', '{"edgevoice":99', "trace version 99"),
    "no tuning": (1, '"tuning"', '"turning"', "no tuning of this version"),
    "tuning of a wrong type": (1, '"first_token_s":8.0', '"first_token_s":"8"', "'8' is no float"),
    "unknown setting": (1, '"first_token_s"', '"last_token_s"', "last_token_s"),
    "unknown language": (1, '"language":"en"', '"language":"xx"', "no word lists for 'xx'"),
    "impossible setting": (1, '"breaker_faults":3', '"breaker_faults":-3', "non-negative"),
    "time of birth in words": (1, '"born":0.0', '"born":"noon"', "'noon' is no float"),
    "unknown event": (2, '"is":"Ready"', '"is":"Steady"', "Steady"),
    "a class that is no event": (
        2,
        '{"is":"Ready","at":0.0}',
        '{"is":"Word","text":"at","confidence":1.0}',
        "Word",
    ),
    "missing field": (3, '"phrase":', '"phase":', "phase"),
    "field of a wrong type": (3, '"score":0.9', '"score":"high"', "'high' is no float"),
    "truth for a number": (3, '"end":0', '"end":true', "True is no int"),
    "no commands": (3, '"commands":[', '"comments":[', "commands"),
    "commands of a wrong type": (2, '"commands":[', '"commands":null,"x":[', "None is no list"),
    "huge number": (3, '"score":0.9', '"score":1' + "0" * 400, "OverflowError"),
    "too huge number": (3, '"score":0.9', '"score":1' + "0" * 5000, "not JSON"),
    "too deep": (2, "{", "[" * 100_000 + "{", "not JSON"),
    "empty line": (3, '{"event"', "\n" + '{"event"', "not JSON"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_trace_is_one_clear_line(kind, usual, capsys):
    number, old, new, told = BROKEN[kind]
    if old is None:
        usual.write_text(new, encoding="utf-8")
    else:
        change(usual, number, old, new)
    line = refused(usual, capsys)
    assert line.startswith(f"edgevoice: {usual}:{number}: ")
    assert told in line
    assert len(line) < 300


def test_a_truncated_last_line_is_told(usual, capsys):
    whole = usual.read_bytes()
    usual.write_bytes(whole[:-20])
    assert f"{usual}:{len(whole.splitlines())}: not JSON" in refused(usual, capsys)


@pytest.mark.parametrize("content", [b"\x00\xff\xfe\x80RIFF", b"\x1f\x8b\x08\x00" * 99])
def test_a_binary_file_is_told(content, usual, capsys):
    usual.write_bytes(content)
    assert f"{usual}: cannot be read" in refused(usual, capsys)


def test_a_missing_file_is_told(tmp_path, capsys):
    assert "gone.jsonl: cannot be read" in refused(tmp_path / "gone.jsonl", capsys)


# -- options -------------------------------------------------------------------------------


def test_until_stops_after_that_line(usual, capsys):
    number = line_with(usual, '"is":"Generate"')
    change(usual, number, 'france"}', 'spain"}')
    assert main(["replay", str(usual), "--until", str(number - 1)]) == 0
    assert f"{number - 2} events gave the same" in capsys.readouterr().out
    assert f":{number}:" in refused(usual, capsys, "--until", str(number))


def test_explain_tells_once_of_what_it_waits_for(capsys):
    assert main(["replay", str(path_of("usual")), "--explain"]) == 0
    lines = [line.partition(": ")[2] for line in capsys.readouterr().out.splitlines()]
    waits = [line for line in lines if "SoundFrame -> nothing" in line]
    assert 0 < len(waits) < len(path_of("usual").read_text().splitlines()) // 10
    assert all(
        line.partition(" (")[0] != before.partition(" (")[0]
        for before, line in pairwise(lines)
        if "nothing" in line
    )


@pytest.mark.parametrize(
    ("name", "begin", "rule", "values", "thresholds"),
    [
        (
            "usual",
            "listening: SoundFrame -> Transition",
            "frame_in_listening",
            "transition_to_SPEAK_eot (silence 600 ms",
            "[turn: min_silence_to_speak_ms 400, ",
        ),
        (
            "interruption",
            "speaking.playing: SoundFrame -> Recognise, HoldPlayback, Transition",
            "frame_while_playing",
            "energy 0.1000, vad 0.95",
            "[barge_in: onset_ms 60, interrupt_energy_threshold 0.015, ",
        ),
        (
            "interruption",
            "speaking.held: Transcript -> ",
            "transcript_while_held",
            "commit by words (2 words)",
            "[barge_in: min_words 2, commit_ms 800, ",
        ),
        (
            "soft_ack",
            "speaking.held: ",
            "frame_while_held",
            "resume by silence (1 words)",
            "resume_silence_ms 300",
        ),
    ],
    ids=["turn", "hold", "commit", "resume"],
)
def test_explain_gives_rule_values_and_thresholds(name, begin, rule, values, thresholds, capsys):
    assert main(["replay", str(path_of(name)), "--explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    told = [line for line in lines if thresholds in line]
    assert any(begin in line and f"by {rule} because" in line and values in line for line in told)
