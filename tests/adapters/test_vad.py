from __future__ import annotations

import numpy as np
import pytest

from edgevoice.adapters.vad import SileroDetector
from edgevoice.ports import Samples
from tests.adapters.engines import RATE, blocks, recording, silence, spoken


def probabilities(audio: Samples) -> list[float]:
    detector = SileroDetector()
    return [detector.probability(chunk) for chunk in blocks(audio, detector.chunk)]


def test_speech_is_speech() -> None:
    said = probabilities(np.concatenate((silence(0.3), spoken("what is the time in berlin now"))))
    assert np.mean(said[15:40]) > 0.7


def test_silence_and_noise_are_none() -> None:
    noise = np.random.default_rng(1).normal(0, 1000, RATE).astype(np.int16)
    assert max(probabilities(silence(1))) < 0.1
    assert max(probabilities(noise)[5:]) < 0.3


@pytest.mark.fixtures
def test_a_car_horn_is_no_speech() -> None:
    assert np.median(probabilities(recording("noise/car_horn.wav"))) < 0.1
