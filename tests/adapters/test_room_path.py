from __future__ import annotations

import numpy as np
import pytest

from edgevoice.adapters.room_acoustics import Signal
from edgevoice.adapters.room_path import Convolver, EchoPath, RateConverter

BLOCK = 160


@pytest.mark.parametrize("taps", [1, BLOCK, BLOCK + 1, 1234])
def test_streaming_is_the_same_as_convolving_at_once(taps: int) -> None:
    random = np.random.default_rng(1)
    signal, response = random.standard_normal(20 * BLOCK), random.standard_normal(taps)
    convolver = Convolver(response, BLOCK)
    streamed = np.concatenate([convolver(block) for block in signal.reshape(-1, BLOCK)])
    np.testing.assert_allclose(streamed, np.convolve(signal, response)[: len(signal)], atol=1e-9)


def _converted(signal: Signal, ratio: float, blocks: int) -> Signal:
    converter = RateConverter(ratio)
    converter.push(signal)
    return np.concatenate([converter.pull(BLOCK) for _ in range(blocks)])


def test_equal_clocks_change_nothing() -> None:
    signal = np.random.default_rng(1).standard_normal(50 * BLOCK)
    np.testing.assert_array_equal(_converted(signal, 1.0, 40), signal[: 40 * BLOCK])


@pytest.mark.parametrize("ratio", [1.0001, 0.9997, 22_050 / 16_000, 3.0, 0.5])
def test_a_tone_keeps_its_frequency_and_its_phase(ratio: float) -> None:
    def tone(time: Signal) -> Signal:
        return np.sin(2 * np.pi * 1000 / 16_000 * time)

    signal = tone(np.arange(round(70 * BLOCK * ratio)) / ratio)
    expected = tone(np.arange(60 * BLOCK, dtype=np.float64))
    error = (_converted(signal, ratio, 60) - expected)[BLOCK:]
    assert 10 * np.log10(np.mean(error**2) / 0.5) < -60


def test_what_the_slower_clock_cannot_hold_is_filtered_out() -> None:
    high = np.sin(2 * np.pi * 11_000 / 48_000 * np.arange(3 * 60 * BLOCK))
    assert np.abs(_converted(high, 3.0, 50)[BLOCK:]).max() < 0.01


def _arrivals(path: EchoPath, blocks: int, samples: np.ndarray) -> tuple[Signal, Signal]:
    leaving, arriving = [], []
    path.play(samples)
    for _ in range(blocks):
        out, heard = path.propagate()
        leaving.append(out)
        arriving.append(heard)
    return np.concatenate(leaving), np.concatenate(arriving)


@pytest.mark.parametrize("delay", [0, 1, 159, 160, 640, 4800])
def test_the_delay_is_right_to_the_sample(delay: int) -> None:
    click = np.zeros(60 * BLOCK, np.int16)
    click[BLOCK] = 16_384
    leaving, arriving = _arrivals(EchoPath(np.array([0.5]), delay, BLOCK), 50, click)
    assert leaving[BLOCK] == 0.5
    assert np.flatnonzero(np.abs(arriving) > 1e-9).tolist() == [BLOCK + delay]
    assert arriving[BLOCK + delay] == pytest.approx(0.25)


@pytest.mark.parametrize("drift_ppm", [-300, 100, 300])
def test_the_loudspeaker_drifts_as_asked(drift_ppm: float) -> None:
    seconds, blocks = 30, 3000
    samples = np.zeros((seconds + 1) * 16_000, np.int16)
    samples[1000], samples[-17_000] = 16_384, 16_384
    path = EchoPath(np.ones(1), 0, BLOCK, ratio=1 + drift_ppm / 1e6)
    _, arriving = _arrivals(path, blocks, samples)
    first, last = int(np.argmax(arriving[:8000])), 8000 + int(np.argmax(arriving[8000:]))
    played = len(samples) - 17_000 - 1000
    assert (played / (last - first) - 1) * 1e6 == pytest.approx(drift_ppm, abs=3)


def test_distortion_bends_what_is_loud_and_leaves_what_is_soft() -> None:
    samples = np.zeros(3 * BLOCK, np.int16)
    samples[0], samples[1] = 327, 32_767
    leaving, _ = _arrivals(EchoPath(np.ones(1), 0, BLOCK, distortion=2.0), 1, samples)
    assert leaving[0] == pytest.approx(327 / 32_768, rel=1e-3)
    assert leaving[1] == pytest.approx(np.tanh(2.0) / 2, rel=1e-3)
