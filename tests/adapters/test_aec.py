from __future__ import annotations

import sys

import numpy as np
import pytest

from edgevoice.adapters.aec import LivekitEchoCanceller, Passthrough, WebRtcEchoCanceller
from edgevoice.errors import ConfigError
from edgevoice.ports import FRAME, EchoCanceller, Samples
from tests.adapters.engines import RATE, blocks, recording


def cancelled(near: Samples, far: Samples, canceller: EchoCanceller) -> Samples:
    pairs = zip(blocks(near, FRAME), blocks(far, FRAME), strict=False)
    return np.concatenate([canceller.process(*pair) for pair in pairs])


def decibels(audio: Samples) -> float:
    return float(10 * np.log10(np.mean(audio.astype(float) ** 2) + 1e-9))


def noise(seconds: float, level: float) -> Samples:
    return np.random.default_rng(1).normal(0, level, int(seconds * RATE)).astype(np.int16)


CANCELLERS = pytest.mark.parametrize("canceller", [WebRtcEchoCanceller, LivekitEchoCanceller])


@CANCELLERS
def test_an_echo_is_cancelled_once_the_filter_holds(canceller: type) -> None:
    far = noise(4, 3000)
    near = np.concatenate((np.zeros(40 * 16, np.int16), far // 2))[: len(far)]

    heard = cancelled(near, far, canceller())

    assert decibels(near[2 * RATE :]) - decibels(heard[2 * RATE :]) > 20


@CANCELLERS
def test_without_a_reference_what_is_heard_stays_as_loud(canceller: type) -> None:
    near = noise(2, 3000)

    heard = cancelled(near, np.zeros_like(near), canceller())

    assert decibels(heard[RATE:]) == pytest.approx(decibels(near[RATE:]), abs=1)
    assert heard.dtype == np.int16


def test_passthrough_leaves_all_as_it_is() -> None:
    near = noise(0.01, 3000)
    assert Passthrough().process(near, near) is near


def test_a_canceller_whose_package_is_missing_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "livekit.rtc", None)
    with pytest.raises(ConfigError, match=r"audio\.echo: livekit: .* -m pip install livekit"):
        LivekitEchoCanceller()


@CANCELLERS
@pytest.mark.fixtures
def test_the_echo_of_a_real_loudspeaker_is_cancelled(canceller: type) -> None:
    near = recording("echo/farend_singletalk_mic.wav")
    far = recording("echo/farend_singletalk_lpb.wav")

    heard = cancelled(near, far, canceller())

    settled = slice(2 * RATE, 9 * RATE)
    assert decibels(near[settled]) - decibels(heard[settled]) > 20


@CANCELLERS
@pytest.mark.fixtures
def test_a_real_talker_alone_stays_as_loud(canceller: type) -> None:
    near = recording("echo/nearend_singletalk_mic.wav")
    far = recording("echo/nearend_singletalk_lpb.wav")

    heard = cancelled(near, far, canceller())

    assert decibels(heard) == pytest.approx(decibels(near), abs=1)
