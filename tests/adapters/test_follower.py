import numpy as np
import pytest

from edgevoice.adapters.follower import ClockFollower

RATE, BLOCK = 16_000, 160


def tone(frequency, places):
    return 12_000 * np.sin(2 * np.pi * frequency / RATE * places)


def followed(follower, samples, blocks=BLOCK):
    parts = [follower.process(samples[i : i + blocks]) for i in range(0, len(samples), blocks)]
    return np.concatenate(parts).astype(np.float64)


def signal_to_error_db(made, wanted):
    return 10 * np.log10(np.mean(wanted**2) / np.mean((made - wanted)[100:] ** 2))


@pytest.mark.parametrize("ppm", [-300, -20, 0, 100, 300])
@pytest.mark.parametrize("frequency", [300, 3000, 6000])
def test_the_sound_is_what_the_other_clock_would_have_played(ppm, frequency):
    follower = ClockFollower()
    follower.follow(ppm)
    samples = np.rint(tone(frequency, np.arange(5 * RATE))).astype(np.int16)
    made = followed(follower, samples)
    places = np.arange(len(made)) * (1 + ppm / 1e6)
    assert signal_to_error_db(made, tone(frequency, places)) > 55


@pytest.mark.parametrize("ppm", [-300, 300])
def test_no_sample_is_lost_over_minutes(ppm):
    follower = ClockFollower()
    follower.follow(ppm)
    second = np.zeros(RATE, np.int16)
    came = sum(len(follower.process(second)) for _ in range(600))
    assert came == pytest.approx(600 * RATE / (1 + ppm / 1e6), abs=20)


def test_a_change_neither_jumps_nor_clicks():
    follower = ClockFollower()
    samples = np.rint(tone(440, np.arange(2 * RATE))).astype(np.int16)
    before = followed(follower, samples[:RATE])
    follower.follow(300)
    made = np.concatenate((before, followed(follower, samples[RATE:])))
    bend = np.abs(np.diff(made, 2))[100:]
    assert bend.max() < 12_000 * (2 * np.pi * 440 / RATE) ** 2 * 1.1


def test_a_lump_is_followed_as_evenly_as_its_frames():
    one, other = ClockFollower(), ClockFollower()
    samples = np.rint(tone(1000, np.arange(3 * RATE))).astype(np.int16)
    for follower in (one, other):
        follower.follow(300)
    np.testing.assert_array_equal(followed(one, samples), followed(other, samples, 10 * BLOCK))


def test_silence_stays_silence():
    follower = ClockFollower()
    follower.follow(100)
    assert not followed(follower, np.zeros(RATE, np.int16)).any()
