"""The ALSA adapter on a virtual card: PortAudio, ALSA and PulseAudio are real."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgevoice.adapters.alsa import AlsaMicrophone, AlsaSpeaker, devices, has_capture_device
from edgevoice.errors import DeviceError
from edgevoice.ports import Samples
from tests.virtual_card import VirtualCard, virtual_card

pytestmark = pytest.mark.audio

PIECE = 320


def noise(seconds: float) -> Samples:
    return np.random.default_rng(7).integers(-9000, 9000, int(16_000 * seconds), dtype=np.int16)


def share_found(sent: Samples, heard: Samples) -> float:
    """The share of 20 ms pieces of ``sent`` that are in ``heard`` bit for bit."""
    whole = heard.tobytes()
    pieces = [sent[i : i + PIECE].tobytes() for i in range(0, len(sent) - PIECE + 1, PIECE)]
    return sum(piece in whole for piece in pieces) / len(pieces)


def unexpected(reason: str) -> None:
    raise AssertionError(reason)


class Ear:
    """Keeps what a microphone delivers, with its times."""

    def __init__(self) -> None:
        self.blocks: list[Samples] = []
        self.arrivals: list[float] = []
        self.times: list[float] = []

    def __call__(self, block: Samples, at: float) -> None:
        self.blocks.append(block)
        self.arrivals.append(time.monotonic())
        self.times.append(at)

    @property
    def samples(self) -> Samples:
        return np.concatenate(self.blocks)

    def time_of(self, sample: int, rate: int = 16_000) -> float:
        """When ``sample`` was captured, by the time its block came with."""
        ends = np.cumsum([len(block) for block in self.blocks])
        block = int(np.searchsorted(ends, sample, side="right"))
        return self.times[block] - (int(ends[block]) - 1 - sample) / rate


class Mouth:
    """Plays one sound and then silence."""

    def __init__(self, sound: Samples) -> None:
        self.sound = sound
        self.position = 0
        self.done = threading.Event()

    def __call__(self, block: Samples, at: float) -> None:
        part = self.sound[self.position : self.position + len(block)]
        block[:] = 0
        block[: len(part)] = part
        self.position += len(part)
        if self.position == len(self.sound):
            self.done.set()


def wait_until(true: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline, "nothing came"
        time.sleep(0.01)


def test_the_microphone_hears_what_the_card_is_given(card: VirtualCard) -> None:
    ear, microphone = Ear(), AlsaMicrophone("evmic")
    microphone.start(ear, unexpected)
    wait_until(lambda: ear.blocks)
    card.hear(noise(0.4))
    wait_until(lambda: share_found(noise(0.4), ear.samples) > 0.9)
    microphone.stop()
    assert microphone.rate == 16_000
    assert {len(block) for block in ear.blocks} == {160}
    assert all(at <= arrival for at, arrival in zip(ear.times, ear.arrivals, strict=True))


def test_the_speaker_plays_bit_for_bit(card: VirtualCard, tmp_path: Path) -> None:
    mouth, speaker = Mouth(noise(0.4)), AlsaSpeaker("evspk")
    with card.recording(tmp_path / "played"):
        speaker.start(mouth, unexpected)
        assert mouth.done.wait(20)
        time.sleep(0.1)  # stop() drops what is buffered
        speaker.stop()
    played = np.fromfile(tmp_path / "played", np.int16)
    assert share_found(noise(0.4), played) > 0.9


def test_stop_and_start_again_ten_times(card: VirtualCard) -> None:
    microphone = AlsaMicrophone()
    for _ in range(10):
        ear = Ear()
        microphone.start(ear, unexpected)
        wait_until(lambda ear=ear: ear.blocks)  # type: ignore[misc]
        microphone.stop()
        count = len(ear.blocks)
        time.sleep(0.03)
        assert len(ear.blocks) == count


def test_forty_lines_of_alsa_stay_off_standard_error(
    card: VirtualCard, capfd: pytest.CaptureFixture[str]
) -> None:
    assert has_capture_device()
    microphone = AlsaMicrophone()
    microphone.start(lambda *_: None, unexpected)
    microphone.stop()
    os.write(2, b"but ours do not\n")
    assert capfd.readouterr().err == "but ours do not\n"


def test_devices_of_the_card(card: VirtualCard) -> None:
    found = {device.name: device for device in devices()}
    assert found["evmic"].inputs > 0
    assert found["evmic"].outputs == 0
    assert found["evspk"].outputs > 0
    assert 16_000 in found["evmic"].rates
    assert found["only48"].rates == (48_000,)


def test_a_48_khz_only_device_opens_at_48_khz(card: VirtualCard) -> None:
    # ALSA really refuses 16 kHz here.  No audio comes: PortAudio and a plug on top of the
    # pulse plugin do not get along, so audio at 48 kHz is proved by the next test.
    microphone = AlsaMicrophone("only48")
    microphone.start(lambda *_: None, lambda _: None)
    microphone.stop()
    assert microphone.rate == 48_000
    with pytest.raises(DeviceError, match=r'"only48" does not open at 16000 Hz'):
        AlsaMicrophone("only48", rate=16_000).start(lambda *_: None, unexpected)


def test_capture_at_48_khz(card: VirtualCard) -> None:
    ear, microphone = Ear(), AlsaMicrophone("evmic", rate=48_000)
    microphone.start(ear, unexpected)
    wait_until(lambda: len(ear.blocks) > 20)
    microphone.stop()
    assert {len(block) for block in ear.blocks} == {480}


def test_names_that_are_missing_or_ambiguous(card: VirtualCard) -> None:
    with pytest.raises(DeviceError, match=r'^microphone "USB" not found; known: .*evmic'):
        AlsaMicrophone("USB").start(lambda *_: None, unexpected)
    with pytest.raises(DeviceError, match=r'^microphone "ev" is ambiguous; name one of: evmic, '):
        AlsaMicrophone("ev").start(lambda *_: None, unexpected)


def test_no_capture_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALSA_CONFIG_PATH", "/usr/share/alsa/alsa.conf")
    monkeypatch.setenv("PULSE_SERVER", "unix:/nowhere")
    if Path("/proc/asound/cards").exists():
        pytest.skip("this machine has a sound card of its own")
    assert not has_capture_device()
    with pytest.raises(DeviceError, match=r"^no microphone found; plug one in"):
        AlsaMicrophone().start(lambda *_: None, unexpected)


def test_unplugged_while_open(card: VirtualCard, monkeypatch: pytest.MonkeyPatch) -> None:
    with virtual_card() as other:
        for name, value in other.environment.items():
            monkeypatch.setenv(name, value)
        ear, failed, reasons = Ear(), threading.Event(), list[str]()
        microphone = AlsaMicrophone()
        microphone.start(ear, lambda reason: (reasons.append(reason), failed.set()))  # type: ignore[func-returns-value]
        wait_until(lambda: ear.blocks)
        started = time.monotonic()
        other.unplug()
        assert failed.wait(20)
        print(f"unplugged: told after {(time.monotonic() - started) * 1e3:.0f} ms: {reasons}")
        microphone.stop()
        with pytest.raises(DeviceError):
            microphone.start(ear, unexpected)
    assert len(reasons) == 1


def test_round_trip(card: VirtualCard) -> None:
    click = np.zeros(16_000, np.int16)
    click[8_000] = 30_000
    heard_at: list[float] = []
    mouth, ear = Mouth(click), Ear()

    def fill(block: Samples, at: float) -> None:
        mouth(block, at)
        if block.any():
            heard_at.extend([time.monotonic(), at])

    microphone, speaker = AlsaMicrophone("evmonitor"), AlsaSpeaker("evspk")
    microphone.start(ear, unexpected)
    speaker.start(fill, unexpected)
    wait_until(lambda: ear.blocks and ear.samples.max() == 30_000)
    speaker.stop()
    microphone.stop()
    captured = ear.time_of(int(ear.samples.argmax()))
    written, promised = heard_at
    print(
        f"round trip: {(captured - written) * 1e3:.1f} ms from the callback to the capture time; "
        f"promised {(promised - written) * 1e3:.1f} ms"
    )
    assert (ear.samples == 30_000).sum() == 1


def test_hold_to_silence(card: VirtualCard) -> None:
    held, decided = threading.Event(), list[float]()

    def fill(block: Samples, at: float) -> None:
        block[:] = 0 if held.is_set() else 5_000

    for pause in (0.5, 0.5031, 0.5067):
        held.clear()
        ear = Ear()
        microphone, speaker = AlsaMicrophone("evmonitor"), AlsaSpeaker("evspk")
        microphone.start(ear, unexpected)
        speaker.start(fill, unexpected)
        time.sleep(pause)
        decided.append(time.monotonic())
        held.set()
        wait_until(lambda ear=ear: not any(block.any() for block in ear.blocks[-10:]))  # type: ignore[misc]
        speaker.stop()
        microphone.stop()
        last = int(np.flatnonzero(ear.samples)[-1])
        print(f"hold to silence: {(ear.time_of(last) - decided[-1]) * 1e3:.1f} ms")
        assert ear.samples[last] == 5_000
