"""The linear canceller: what it takes away, what it leaves, and what it costs when silent."""

import numpy as np
import pytest

from edgevoice.adapters.kalman import KalmanEchoFilter
from edgevoice.adapters.room_acoustics import impulse_response

RATE = 16_000


def speech_like(seconds, seed):
    """Noise that comes and goes several times a second, as syllables do."""
    random = np.random.default_rng(seed)
    n = int(seconds * RATE)
    signal = np.convolve(random.normal(0, 1, n), np.ones(8) / 8, "same")
    loudness = np.clip(np.sin(np.arange(n) / RATE * 2 * np.pi * 3) + 0.3, 0, None)
    return signal / signal.std() * loudness * 0.1


def echo_of(far, delay_ms, rt60_s=0.3):
    response = impulse_response(rt60_s, 0.1, RATE)
    response = response / np.linalg.norm(response) * 0.5
    delayed = np.concatenate((np.zeros(delay_ms * 16), np.convolve(far, response)))
    return delayed[: len(far)]


def run(near, far, cancel=None):
    cancel = cancel or KalmanEchoFilter()
    near, far = (np.rint(x * 32767).astype(np.int16) for x in (near, far))
    block = cancel.block
    outs = [
        cancel.process(near[i : i + block], far[i : i + block])
        for i in range(0, len(near) - block + 1, block)
    ]
    return np.concatenate([out.samples for out in outs]) / 32767, cancel


def level_db(signal):
    return 10 * np.log10(np.mean(np.square(signal)) + 1e-12)


@pytest.mark.parametrize("delay_ms", [0, 40, 150, 300])
def test_it_cancels_an_echo_of_any_delay_and_learns_the_delay(delay_ms):
    far = speech_like(8, 1)
    echo = echo_of(far, delay_ms)
    out, cancel = run(echo, far)
    late = slice(5 * RATE, len(out))
    assert level_db(echo[late]) - level_db(out[late]) > 25
    assert cancel.delay_ms == pytest.approx(delay_ms, abs=1)


def test_it_forgets_that_nothing_was_heard_when_it_is_told_to():
    def cancelled_db(forgets):
        far = speech_like(6, 1)
        _, cancel = run(np.zeros(len(far)), far)
        if forgets:
            cancel.forget()
        echo = echo_of(far, 40)
        out, _ = run(echo, far, cancel)
        late = slice(2 * RATE, len(out))
        return level_db(echo[late]) - level_db(out[late])

    assert cancelled_db(True) > cancelled_db(False) + 6
    assert cancelled_db(True) > 20


def test_it_leaves_whoever_speaks_over_the_device_whole():
    far = speech_like(8, 1)
    echo = echo_of(far, 40)
    talker = speech_like(8, 2) * 0.5
    talker[: 5 * RATE] = 0
    out, _ = run(echo + talker, far)
    late = slice(5 * RATE, len(out))
    assert level_db(out[late] - talker[: len(out)][late]) < level_db(talker[late]) - 12


def test_while_the_device_is_silent_nothing_is_changed():
    near = speech_like(2, 3)
    out, cancel = run(near, np.zeros_like(near))
    assert np.abs(out - near[: len(out)]).max() <= 1 / 32767
    silence = np.zeros(cancel.block, np.int16)
    assert cancel.process(silence + 1, silence).echo == 0


def test_the_tail_of_an_echo_is_cancelled_after_the_device_fell_silent():
    far = speech_like(8, 1)
    far[6 * RATE :] = 0
    echo = echo_of(far, 150, rt60_s=0.4)
    out, _ = run(echo, far)
    tail = slice(6 * RATE, 6 * RATE + RATE // 5)
    assert level_db(echo[tail]) - level_db(out[tail]) > 15
