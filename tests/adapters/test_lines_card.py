"""Lines on a virtual card: PortAudio, ALSA and PulseAudio are real."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgevoice.adapters.alsa import AlsaMicrophone, AlsaSpeaker, Lines
from edgevoice.errors import DeviceError
from edgevoice.ports import Samples
from tests.adapters.test_alsa_card import Ear, Mouth, noise, share_found, unexpected, wait_until
from tests.virtual_card import VirtualCard, missing, virtual_card

pytestmark = pytest.mark.audio


@pytest.fixture(params=[(44_100, 2), (48_000, 2)], ids=["44.1 kHz stereo", "48 kHz stereo"])
def stereo(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[VirtualCard]:
    """A card whose sinks and sources are stereo, at a rate that is not the house's."""
    if packages := missing():
        pytest.skip(f"no virtual sound card: apt install {packages}")
    rate, channels = request.param
    with virtual_card(rate, channels) as card:
        for name, value in card.environment.items():
            monkeypatch.setenv(name, value)
        yield card


def tone(rate: int, seconds: float) -> Samples:
    return (9000 * np.sin(2 * np.pi * 440 * np.arange(int(rate * seconds)) / rate)).astype(np.int16)


def loudness_at(samples: Samples, rate: int, hertz: float) -> float:
    """The share of the energy that lies within 20 Hz of ``hertz``."""
    power = np.abs(np.fft.rfft(samples)) ** 2
    where = np.fft.rfftfreq(len(samples), 1 / rate)
    return float(power[np.abs(where - hertz) < 20].sum() / power.sum())


class TestRatesAndChannels:
    def test_a_stereo_card_plays_mono_bit_for_bit(
        self, stereo: VirtualCard, tmp_path: Path
    ) -> None:
        sound = np.random.default_rng(7).integers(-9000, 9000, stereo.rate // 2, dtype=np.int16)
        mouth, speaker = Mouth(sound), AlsaSpeaker("evspk", stereo.rate)
        with stereo.recording(tmp_path / "played"):
            speaker.start(mouth, unexpected)
            assert mouth.done.wait(20)
            time.sleep(0.1)
            speaker.stop()
        assert share_found(sound, np.fromfile(tmp_path / "played", np.int16)) > 0.9

    @pytest.mark.parametrize("channel", [1, 2])
    def test_a_stereo_card_is_heard_at_its_rate_on_either_channel(
        self, stereo: VirtualCard, channel: int
    ) -> None:
        ear, microphone = Ear(), AlsaMicrophone("evmic", stereo.rate, channel=channel)
        microphone.start(ear, unexpected)
        wait_until(lambda: ear.blocks)
        stereo.hear(tone(stereo.rate, 0.5))
        microphone.stop()
        heard = ear.samples
        assert {len(block) for block in ear.blocks} == {stereo.rate // 100}
        assert loudness_at(heard[heard != 0], stereo.rate, 440) > 0.9


class TestOneStream:
    def test_what_is_played_is_heard_through_one_stream(self, card: VirtualCard) -> None:
        lines, may_play = Lines(duplex="on"), threading.Event()
        ear, mouth = Ear(), Mouth(noise(0.4))

        def fill(block: Samples, at: float) -> None:
            block.fill(0)
            if may_play.is_set():
                mouth(block, at)

        microphone = AlsaMicrophone("evmonitor", lines=lines)
        speaker = AlsaSpeaker("evspk", lines=lines)
        speaker.start(fill, unexpected)
        microphone.start(ear, unexpected)
        assert lines.shared
        may_play.set()
        wait_until(lambda: share_found(mouth.sound, ear.samples) > 0.9 if ear.blocks else False)
        microphone.stop()
        speaker.stop()

    def test_a_microphone_that_is_closed_leaves_the_speaker_playing(
        self, card: VirtualCard
    ) -> None:
        lines = Lines(duplex="on")
        ear, filled = Ear(), list[float]()
        microphone = AlsaMicrophone("evmic", lines=lines)
        speaker = AlsaSpeaker("evspk", lines=lines)
        speaker.start(lambda block, at: filled.append(at), unexpected)
        for _ in range(3):
            microphone.start(ear, unexpected)
            wait_until(lambda: ear.blocks)
            assert lines.shared
            microphone.stop()
            heard, played = len(ear.blocks), len(filled)
            wait_until(lambda played=played: len(filled) > played + 20)  # type: ignore[misc]
            assert len(ear.blocks) == heard
        speaker.stop()


def wait_until_opened(device: AlsaMicrophone | AlsaSpeaker, exchange: Any) -> None:
    """The attempts that the core makes until the device is there again."""

    def opened() -> bool:
        try:
            device.start(exchange, unexpected)
        except DeviceError:
            return False
        return True

    wait_until(opened)


class TestReplug:
    @pytest.fixture
    def cards(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[VirtualCard, VirtualCard]]:
        """Two cards; the microphone of the first is ``othermic`` beside the second's devices."""
        if packages := missing():
            pytest.skip(f"no virtual sound card: apt install {packages}")
        with virtual_card() as one:
            there = one.environment["PULSE_SERVER"]
            pcm = f'capture.pcm {{ type pulse server "{there}" device mic }}'
            with virtual_card(alsa=f"pcm.othermic {{ type asym {pcm} }}") as two:
                for name, value in two.environment.items():
                    monkeypatch.setenv(name, value)
                yield one, two

    @pytest.fixture
    def filled(self) -> list[float]:
        """When the speaker was filled."""
        return []

    @pytest.fixture
    def speaker(self, filled: list[float]) -> Iterator[AlsaSpeaker]:
        speaker = AlsaSpeaker("evspk")
        yield speaker
        speaker.stop()

    @pytest.fixture
    def still_plays(self, filled: list[float]) -> Callable[[], None]:
        def wait() -> None:
            played = len(filled)
            wait_until(lambda: len(filled) > played + 20)

        return wait

    def test_a_microphone_is_lost_and_found_while_the_speaker_plays(
        self,
        cards: tuple[VirtualCard, VirtualCard],
        speaker: AlsaSpeaker,
        filled: list[float],
        still_plays: Callable[[], None],
    ) -> None:
        lost, ear, microphone = list[str](), Ear(), AlsaMicrophone("othermic")
        speaker.start(lambda block, at: filled.append(at), unexpected)
        microphone.start(ear, lost.append)
        wait_until(lambda: ear.blocks)
        cards[0].unplug()
        wait_until(lambda: lost)
        microphone.stop()
        with pytest.raises(DeviceError):
            microphone.start(ear, unexpected)
        still_plays()
        cards[0].plug()
        ear.blocks.clear()
        wait_until_opened(microphone, ear)
        wait_until(lambda: ear.blocks)
        still_plays()
        microphone.stop()

    def test_a_microphone_that_was_not_there_when_the_speaker_was_opened(
        self,
        cards: tuple[VirtualCard, VirtualCard],
        speaker: AlsaSpeaker,
        filled: list[float],
        still_plays: Callable[[], None],
    ) -> None:
        # PortAudio lists at its start what can be opened then: it must look again.
        cards[0].unplug()
        ear, microphone = Ear(), AlsaMicrophone("othermic")
        speaker.start(lambda block, at: filled.append(at), unexpected)
        with pytest.raises(DeviceError, match="not found"):
            microphone.start(ear, unexpected)
        cards[0].plug()
        wait_until_opened(microphone, ear)
        wait_until(lambda: ear.blocks)
        still_plays()
        microphone.stop()

    def test_a_speaker_is_lost_and_found(
        self,
        cards: tuple[VirtualCard, VirtualCard],
        speaker: AlsaSpeaker,
        filled: list[float],
        still_plays: Callable[[], None],
    ) -> None:
        lost = list[str]()
        speaker.start(lambda block, at: filled.append(at), lost.append)
        still_plays()
        cards[1].unplug()
        wait_until(lambda: lost)
        speaker.stop()
        cards[1].plug()
        wait_until_opened(speaker, lambda block, at: filled.append(at))
        still_plays()

    def test_one_stream_for_both_is_lost_and_found(
        self, cards: tuple[VirtualCard, VirtualCard]
    ) -> None:
        lines, lost, ear = Lines(duplex="on"), list[str](), Ear()
        microphone = AlsaMicrophone("evmic", lines=lines)
        speaker = AlsaSpeaker("evspk", lines=lines)
        speaker.start(lambda block, at: None, lost.append)
        microphone.start(ear, lost.append)
        wait_until(lambda: ear.blocks)
        cards[1].unplug()
        wait_until(lambda: len(lost) == 2)
        microphone.stop()
        speaker.stop()
        cards[1].plug()
        ear.blocks.clear()
        wait_until_opened(microphone, ear)
        wait_until_opened(speaker, lambda block, at: None)
        wait_until(lambda: ear.blocks)
        assert lines.shared
        microphone.stop()
        speaker.stop()
