"""The short sounds."""

import numpy as np
import pytest

from edgevoice.stages.earcons import earcon

NAMES = ("ready", "wake", "close", "mute", "error", "alarm")


@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000])
@pytest.mark.parametrize("name", NAMES)
def test_it_is_softer_than_speech_and_ends_without_a_click(name, rate):
    sound = earcon(name, rate) / 32768
    assert sound.ndim == 1
    assert 0.05 < np.abs(sound).max() < 0.15
    assert np.abs(sound[[0, -1]]).max() < 0.005
    assert 0.2 < len(sound) / rate < 1.0


def test_an_unknown_one_is_a_mistake():
    with pytest.raises(KeyError):
        earcon("gong", 16_000)
