"""One boot for all tests; `make test-appliance` has made what the machine is made of."""

from __future__ import annotations

import os
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.appliance.machine import Machine

_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "edgevoice"
_PARTS = Path(os.environ.get("EDGEVOICE_APPLIANCE") or _CACHE / "appliance")
_BOOT_S = 600.0
_RATE = 16_000


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Say ok or fail of each check."""
    if report.when == "call" and report.outcome in ("passed", "failed"):
        return report.outcome, "", "ok" if report.passed else "FAIL"
    return None


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """The machine, booted, its service on the way up."""
    machine = Machine(_PARTS, tmp_path_factory.mktemp("appliance"))
    try:
        write_question(machine.share / "question.wav")
        machine.start(_BOOT_S)
        # What is read from the host's side in mid-test would cost the guest time.
        machine.run("cp /mnt/host/question.wav /run/")
        yield machine
    finally:
        machine.close()


def write_question(path: Path) -> None:
    """The wake word and a question in one breath, in the demo's talker's voice."""
    from edgevoice.adapters.talker import voice
    from edgevoice.engines import Workshop
    from edgevoice.settings.schema import Settings, Tts

    def make(_voice: Path | None, length_scale: float) -> object:
        return Workshop(Settings(tts=Tts(length_scale=length_scale))).synthesiser()

    speech = voice(None, make)("Hey Jarvis, what is the capital of France?", _RATE)  # type: ignore[arg-type]
    samples = (speech / np.abs(speech).max() * 16_000).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(_RATE)
        file.writeframes(samples.tobytes())
