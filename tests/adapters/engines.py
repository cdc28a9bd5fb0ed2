"""Real models, recordings and made speech for the tests of the engines."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import wave
from pathlib import Path

import numpy as np
import pytest
import soxr

from edgevoice.errors import ModelError
from edgevoice.models.paths import models_directory, resolve
from edgevoice.ports import Samples

RATE = 16_000


def model(name: str, role: str) -> Path:
    """Path of an intact model of the starter set."""
    try:
        return resolve(name, role, models_directory())
    except ModelError as missing:
        pytest.skip(str(missing))


def recording(name: str) -> Samples:
    """A wav file of the recordings, at 16 kHz."""
    default = Path(__file__).parents[3] / "shared" / "fixtures"
    folder = Path(os.environ.get("EDGEVOICE_FIXTURES") or default)
    if not folder.is_dir():
        pytest.skip(f"no recordings in {folder}; set EDGEVOICE_FIXTURES")
    return _wav((folder / name).read_bytes())


def spoken(text: str, voice: str = "en-us", words_per_minute: int = 165) -> Samples:
    """Speech of espeak-ng at 16 kHz."""
    if not shutil.which("espeak-ng"):
        pytest.skip("espeak-ng is missing: apt install espeak-ng")
    command = ["espeak-ng", "-v", voice, "-s", str(words_per_minute), "--stdout", text]
    return _wav(subprocess.run(command, capture_output=True, check=True).stdout)


def silence(seconds: float) -> Samples:
    return np.zeros(int(seconds * RATE), np.int16)


def blocks(audio: Samples, size: int) -> list[Samples]:
    """Whole blocks of ``size`` samples."""
    return [audio[at : at + size] for at in range(0, len(audio) - size + 1, size)]


def _wav(content: bytes) -> Samples:
    with wave.open(io.BytesIO(content)) as file:
        rate = file.getframerate()
        # espeak-ng streams: its header promises more samples than there are.
        samples = np.frombuffer(file.readframes(len(content)), np.int16)
    return samples if rate == RATE else soxr.resample(samples, rate, RATE)
