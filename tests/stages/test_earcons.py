"""The short sounds, as the ear and the echo cancellers want them."""

import numpy as np
import pytest

from edgevoice.stages.earcons import earcon

NAMES = ("ready", "wake", "close", "mute", "error", "alarm")
OCTAVES_HZ = (125, 250, 500, 1000, 2000, 4000)


@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000])
@pytest.mark.parametrize("name", NAMES)
def test_it_is_softer_than_speech_and_ends_without_a_click(name, rate):
    sound = earcon(name, rate) / 32768
    assert sound.ndim == 1
    assert 0.1 < np.abs(sound).max() < 0.25
    assert np.abs(sound[[0, -1]]).max() < 0.005
    assert 0.2 < len(sound) / rate < 1.0


def test_the_room_can_be_learned_from_what_is_heard_at_the_start():
    assert min(octaves("ready")) > 0.001


def test_who_goes_on_after_the_wake_word_is_not_drowned_by_noise():
    assert min(octaves("wake")) < 0.0001


def octaves(name):
    """The share of the sound's power in each octave."""
    power = np.square(np.abs(np.fft.rfft(earcon(name, 16_000))))
    hertz = np.fft.rfftfreq(len(earcon(name, 16_000)), 1 / 16_000)
    bands = [power[(hertz >= low) & (hertz < 2 * low)].sum() for low in OCTAVES_HZ]
    return np.array(bands) / power.sum()


def test_an_unknown_one_is_a_mistake():
    with pytest.raises(KeyError):
        earcon("gong", 16_000)
