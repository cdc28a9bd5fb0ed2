from __future__ import annotations

import numpy as np
import pytest

from edgevoice.adapters.room_acoustics import (
    active_level,
    coloured_noise,
    convolve,
    gain,
    impulse_response,
    reverberation_time,
)

RATE = 16_000


@pytest.mark.parametrize("rt60_s", [0.2, 0.35, 0.6])
@pytest.mark.parametrize("distance", [0.1, 1.0])
def test_the_response_decays_in_the_time_asked_for(rt60_s: float, distance: float) -> None:
    response = impulse_response(rt60_s, distance, RATE)
    assert reverberation_time(response, RATE) == pytest.approx(rt60_s, rel=0.05)


def test_the_measured_time_is_that_of_a_known_decay() -> None:
    time = np.arange(RATE) / RATE
    decay = np.random.default_rng(1).standard_normal(RATE) * 10 ** (-3 * time / 0.4)
    assert reverberation_time(decay, RATE) == pytest.approx(0.4, rel=0.03)


def test_the_direct_sound_comes_first_and_is_loudest() -> None:
    response = impulse_response(0.4, 0.3, RATE)
    assert response[0] == pytest.approx(1.0)
    assert np.abs(response[1:]).max() < 1.0


def test_the_nearest_reflection_comes_when_geometry_says() -> None:
    # The image in the wall the device stands at, 0.8 m behind it (MICROPHONE), at 0.5 m.
    response = impulse_response(0.4, 0.5, RATE)
    source = np.array([1.9, 0.8, 1.1]) + 0.5 * np.array([0.36, 0.86, 0.36]) / np.linalg.norm(
        [0.36, 0.86, 0.36]
    )
    image = source * [1, -1, 1]
    way = np.linalg.norm(image - [1.9, 0.8, 1.1]) - 0.5
    arrival = round(float(way) / 343.0 * RATE)
    assert response[arrival] > 5 * np.abs(response[arrival - 10 : arrival - 1]).max()


def test_open_air_has_no_reflections() -> None:
    assert impulse_response(0, 0.3, RATE).tolist() == [1.0]


def test_a_farther_source_has_more_of_the_room_in_it() -> None:
    def reverberant(distance: float) -> float:
        return float(np.sum(impulse_response(0.4, distance, RATE)[1:] ** 2))

    assert reverberant(1.0) > 10 * reverberant(0.1)


@pytest.mark.parametrize(("colour", "per_octave"), [("white", 0), ("pink", -3), ("brown", -6)])
def test_noise_falls_as_its_colour_says(colour: str, per_octave: float) -> None:
    noise = coloured_noise(colour, 2**17, np.random.default_rng(1))
    power = np.abs(np.fft.rfft(noise)) ** 2
    low, high = power[1000:2000].mean(), power[8000:16000].mean()
    assert 10 * np.log10(high / low) / 3 == pytest.approx(per_octave, abs=0.2)
    assert np.mean(noise**2) == pytest.approx(1.0)


def test_pauses_do_not_count_in_the_level() -> None:
    noise = np.random.default_rng(1).standard_normal(RATE)
    with_pause = np.concatenate((noise, np.zeros(3 * RATE), noise))
    assert active_level(with_pause, RATE) == pytest.approx(active_level(noise, RATE), rel=0.01)
    assert active_level(np.zeros(RATE), RATE) == 0.0


def test_convolving_is_convolving() -> None:
    random = np.random.default_rng(1)
    signal, response = random.standard_normal(500), random.standard_normal(70)
    np.testing.assert_allclose(convolve(signal, response), np.convolve(signal, response))


def test_decibels() -> None:
    assert gain(-20) == pytest.approx(0.1)
