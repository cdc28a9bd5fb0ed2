"""What a conversation must have been, whichever way its sound went."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from edgevoice.adapters.vosk import VoskRecogniser
from edgevoice.core.lexicon import words
from edgevoice.ports import Samples
from tests.adapters.engines import model

SCENE = Path(__file__).with_name("short.yaml")


def records(trace: Path) -> list[dict[str, Any]]:
    """The turns of a trace."""
    steps = [json.loads(line) for line in trace.read_text().splitlines()[1:]]
    return [c for step in steps for c in step["commands"] if c["is"] == "TurnRecord"]


def check_turns(turns: list[dict[str, Any]]) -> None:
    """The short scene as it must go, whatever the recogniser makes of a word in a noisy room."""
    first, *others = turns
    assert "france" in first["heard"]
    assert first["played"]
    assert not first["interrupted"]
    cut = [turn for turn in others if turn["interrupted"]]
    assert cut
    for turn in cut:
        assert turn["answered"].startswith(re.sub(r"\W+$", "", turn["played"]))
        assert len(turn["played"]) < len(turn["answered"])
    assert any("germany" in turn["heard"] for turn in others)


def check_replay(trace: Path) -> None:
    """The trace gives the same commands in a fresh core; a test that fails shows why each."""
    command = [sys.executable, "-m", "edgevoice", "replay", "--explain", str(trace)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stderr


def spoken_words(loudspeaker: Samples) -> list[str]:
    """What Vosk makes of what left the loudspeaker, at 16 kHz."""
    recogniser = VoskRecogniser(model("vosk-small-en-us-0.15", "asr"))
    recogniser.begin()
    quiet = np.concatenate((loudspeaker, np.zeros(8000, np.int16)))
    for at in range(0, len(quiet), 480):
        recogniser.accept(quiet[at : at + 480])
    return words(recogniser.flush().text)


def check_spoken(loudspeaker: Samples, turns: list[dict[str, Any]]) -> None:
    """Most of the words that are said to have been played can be heard, in order."""
    from edgevoice.core.bargein import overlap

    played = [word for turn in turns for word in words(turn["played"])]
    assert overlap(played, spoken_words(loudspeaker)) > 0.7
