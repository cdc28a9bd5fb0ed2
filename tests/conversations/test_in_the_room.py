"""The demo on the real engines: exit status, files, and what was said."""

import json
import subprocess
import sys
import wave
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tests.adapters.engines import model
from tests.conversations import judge

pytestmark = pytest.mark.engines


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    model("smollm2-135m-instruct-q4_1", "llm")
    out = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-m", "edgevoice", "demo"]
    command += ["--scene", str(judge.SCENE), "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def test_the_conversation_is_held(demo):
    judge.check_turns(json.loads((demo / "report.json").read_text())["turns"])


def test_every_turn_has_its_figures(demo):
    report = json.loads((demo / "report.json").read_text())
    for turn in report["turns"]:
        assert turn["response_ms"] > 0
        assert turn["llm_first_token_ms"] >= 0  # 0: it was drafted
        assert turn["tts_first_audio_ms"] > 0
        cut = turn["interrupted"]
        assert (turn["onset_to_decision_ms"] is not None) == cut
        assert (turn["decision_to_silence_ms"] is not None) == cut
    assert {"rss_mb", "cpu_percent", "xruns"} <= set(report["process"])


def test_the_loudspeaker_said_what_the_report_says(demo):
    with wave.open(str(demo / "conversation.wav")) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (2, 2, 16000)
        both = np.frombuffer(file.readframes(file.getnframes()), np.int16).reshape(-1, 2)
    turns = json.loads((demo / "report.json").read_text())["turns"]
    judge.check_spoken(np.ascontiguousarray(both[:, 1]), turns)


def test_the_trace_replays_bit_for_bit(demo):
    judge.check_replay(demo / "events.jsonl")


def test_the_timeline_is_a_picture_with_the_decisions_on_it(demo):
    text = (demo / "timeline.svg").read_text()
    assert ET.fromstring(text).tag.endswith("svg")
    assert "commit: user.interrupt" in text
    assert "Hey Jarvis" in text
