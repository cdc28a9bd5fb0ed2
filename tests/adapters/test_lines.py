"""Devices that go, come back under another number, are held, or are two in one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgevoice.adapters import alsa, cards, portaudio
from edgevoice.adapters.alsa import AlsaMicrophone, AlsaSpeaker, Lines
from edgevoice.errors import DeviceError
from tests.adapters.fake_portaudio import BUSY, NO_TIME, FakePortAudio
from tests.adapters.machine import HDMI, TWIN, USB, Machine

USB_KEY = "usb:0d8c:0014@1-1.3"


def ignore(*_: Any) -> None:
    """Take anything."""


class House:
    """Cards, and a PortAudio that lists what is on them and is not held."""

    def __init__(self, root: Path, audio: FakePortAudio) -> None:
        self.machine = Machine(root)
        self.audio = audio
        self.relist()

    def plug(self, *plugged: Any) -> None:
        self.machine.plug(*plugged)
        self.relist()

    def relist(self, *, but: int = -1) -> None:
        """What PortAudio will find when it looks next, without the card of that number."""
        able = [pcm for pcm in cards.pcms() if pcm.card.number != but]
        self.audio.devices = tuple((pcm.label, pcm.inputs, pcm.outputs) for pcm in able)

    def opened_at(self, flag: str) -> str:
        """The device that was opened last, as PortAudio listed it."""
        return str(self.audio.listed[self.audio.stream.settings[f"{flag}_device_index"]][0])


@pytest.fixture
def house(install: Any, tmp_path: Path) -> House:
    return House(tmp_path, install(FakePortAudio(rates=(16_000, 48_000))))


def error_of(device: AlsaMicrophone | AlsaSpeaker) -> str:
    with pytest.raises(DeviceError) as caught:
        device.start(ignore, ignore)
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestFindingAgain:
    @pytest.mark.parametrize("name", [USB_KEY, "hw:CARD=Device", "Device: USB Audio (hw:1"])
    def test_under_another_number(self, house: House, name: str) -> None:
        microphone = AlsaMicrophone(name)
        microphone.start(ignore, ignore)
        assert house.opened_at("input").endswith("(hw:1,0)")
        microphone.stop()
        house.plug(TWIN, HDMI, None, USB)
        microphone.start(ignore, ignore)
        assert house.opened_at("input").endswith("(hw:3,0)")
        microphone.stop()

    def test_while_the_speaker_plays_which_goes_on_after_a_moment(self, house: House) -> None:
        speaker, microphone = AlsaSpeaker("vc4-hdmi"), AlsaMicrophone(USB_KEY)
        speaker.start(ignore, ignore)
        microphone.start(ignore, ignore)
        microphone.stop()
        house.plug(None, TWIN, HDMI, USB)
        opened = len(house.audio.opened)
        microphone.start(ignore, ignore)
        again, new = house.audio.opened[opened:]
        assert "output" in again.settings
        assert again.active
        assert house.audio.listed[again.settings["output_device_index"]][0].endswith("(hw:2,0)")
        assert "input" in new.settings
        assert house.opened_at("input").endswith("(hw:3,0)")
        microphone.stop()
        speaker.stop()
        assert house.audio.initialised == 0

    def test_nobody_is_disturbed_when_the_list_is_up_to_date(self, house: House) -> None:
        speaker, microphone = AlsaSpeaker("vc4-hdmi"), AlsaMicrophone(USB_KEY)
        speaker.start(ignore, ignore)
        microphone.start(ignore, ignore)
        assert len(house.audio.opened) == 2

    def test_a_device_of_another_port_is_not_taken_for_it(self, house: House) -> None:
        microphone = AlsaMicrophone(USB_KEY)
        microphone.start(ignore, ignore)
        microphone.stop()
        house.plug(HDMI, TWIN)
        assert error_of(microphone).startswith(f'microphone "{USB_KEY}" not found; known: USB')

    def test_a_make_without_a_port_is_any_of_it_but_first_the_one_it_was(
        self, house: House
    ) -> None:
        house.plug(HDMI, TWIN)
        microphone = AlsaMicrophone("usb:0d8c:0014")
        microphone.start(ignore, ignore)
        microphone.stop()
        house.plug(HDMI, USB, TWIN)
        microphone.start(ignore, ignore)
        assert house.opened_at("input").endswith("(hw:2,0)")
        microphone.stop()
        house.plug(HDMI, USB)
        microphone.start(ignore, ignore)
        assert house.opened_at("input").endswith("(hw:1,0)")
        microphone.stop()

    def test_a_speaker_that_went_meanwhile_is_told_to_be_lost(self, house: House) -> None:
        reasons: list[str] = []
        speaker, microphone = AlsaSpeaker("vc4-hdmi"), AlsaMicrophone(USB_KEY)
        speaker.start(ignore, reasons.append)
        house.plug(TWIN, USB)
        microphone.start(ignore, ignore)
        while not reasons:
            pass
        assert reasons[0].startswith('speaker "vc4-hdmi" is gone (speaker "vc4-hdmi" not found')
        microphone.stop()
        speaker.stop()
        assert house.audio.initialised == 0


class TestBusy:
    def test_portaudio_says_so(self, house: House) -> None:
        house.machine.runs(812, "arecord")
        house.machine.open_by(812, "card1/pcm0c")
        house.audio.busy = True
        assert error_of(AlsaMicrophone(USB_KEY)) == (
            f'microphone "{USB_KEY}" is busy: arecord (process 812) has it open; end that program'
        )

    @pytest.mark.parametrize("name", [USB_KEY, "USB PnP", "default"])
    def test_portaudio_leaves_it_out(self, house: House, name: str) -> None:
        house.machine.runs(812, "arecord")
        house.machine.open_by(812, "card1/pcm0c")
        house.plug(HDMI, USB)
        house.relist(but=1)
        assert error_of(AlsaMicrophone(name)).endswith(
            "is busy: arecord (process 812) has it open; end that program"
        )

    def test_the_other_direction_is_no_reason(self, house: House) -> None:
        house.machine.runs(812, "aplay")
        house.machine.open_by(812, "card1/pcm0p")
        house.relist(but=1)
        assert "not found" in error_of(AlsaMicrophone(USB_KEY))

    def test_a_name_of_alsas_is_held_by_whoever_holds_a_card(self, house: House) -> None:
        house.machine.runs(7, "mpd")
        house.machine.open_by(7, "card0/pcm0p")
        house.audio.devices = (("default", 2, 2),)
        house.audio.busy = True
        assert "mpd (process 7) has it open" in error_of(AlsaSpeaker())

    def test_nobody_known(self, house: House) -> None:
        house.audio.busy = True
        assert "fuser -v" in error_of(AlsaMicrophone(USB_KEY))

    def test_devices_in_use_are_listed_all_the_same(self, house: House) -> None:
        house.machine.runs(812, "arecord")
        house.machine.open_by(812, "card1/pcm0c")
        house.relist(but=1)
        by_key = {device.key: device for device in alsa.devices()}
        held = by_key[USB_KEY]
        assert held.name == "USB PnP Sound Device: USB Audio (hw:1,0)"
        assert [str(holder) for holder in held.holders] == ["arecord (process 812)"]
        assert by_key["hw:CARD=vc4hdmi0"].rates == (16_000, 48_000)


class TestChannels:
    def test_a_stereo_microphone_is_heard_on_its_left(self, house: House) -> None:
        house.audio.channels = range(2, 3)
        heard: list[Any] = []
        AlsaMicrophone(USB_KEY).start(lambda block, at: heard.extend(block), ignore)
        both = np.array([1, -1, 2, -2, 3, -3], np.int16)
        house.audio.stream.call_back(both.tobytes(), 3, NO_TIME, 0)
        assert heard == [1, 2, 3]

    def test_or_on_the_channel_it_is_wired_to(self, house: House) -> None:
        heard: list[Any] = []
        AlsaMicrophone(USB_KEY, channel=2).start(lambda block, at: heard.extend(block), ignore)
        assert house.audio.stream.settings["channels"] == 2
        both = np.array([1, -1, 2, -2], np.int16)
        house.audio.stream.call_back(both.tobytes(), 2, NO_TIME, 0)
        assert heard == [-1, -2]

    def test_a_stereo_speaker_plays_on_both(self, house: House) -> None:
        house.audio.channels = range(2, 3)

        def fill(block: Any, at: float) -> None:
            block[:] = np.arange(len(block))

        AlsaSpeaker(USB_KEY).start(fill, ignore)
        played, _ = house.audio.stream.call_back(None, 160, NO_TIME, 0)
        samples = np.frombuffer(played, np.int16)
        assert samples[0::2].tolist() == samples[1::2].tolist() == list(range(160))


class TestOneStream:
    def start(self, house: House, duplex: str = "auto", microphone: str = USB_KEY) -> Any:
        lines = Lines(duplex=duplex)
        mic, speaker = AlsaMicrophone(microphone, lines=lines), AlsaSpeaker(USB_KEY, lines=lines)
        self.told: list[str] = []
        self.order: list[str] = []
        speaker.start(lambda block, at: self.order.append("played"), self.told.append)
        mic.start(lambda block, at: self.order.append(f"heard {len(block)}"), self.told.append)
        return mic, speaker, lines

    def test_for_a_card_that_is_both(self, house: House) -> None:
        mic, speaker, lines = self.start(house)
        assert lines.shared
        assert house.audio.initialised == 1
        settings = house.audio.stream.settings
        assert settings["input"] is settings["output"] is True
        block = bytes(320)
        assert house.audio.stream.call_back(block, 160, NO_TIME, 0) == (block, 0)
        assert self.order == ["played", "heard 160"]
        house.audio.stream.call_back(block, 160, NO_TIME, 2)
        assert (mic.xruns, speaker.xruns) == (1, 0)

    def test_two_cards_have_two(self, house: House) -> None:
        _, _, lines = self.start(house, microphone="usb:0d8c:0014@1-1.4")
        assert not lines.shared
        assert len(house.audio.opened) == 2  # and the speaker's was not opened twice

    def test_two_cards_have_one_when_it_is_asked_for(self, house: House) -> None:
        assert self.start(house, "on", "usb:0d8c:0014@1-1.4")[2].shared

    def test_never_when_it_is_off(self, house: House) -> None:
        assert not self.start(house, "off")[2].shared

    def test_a_microphone_with_a_rate_of_its_own_has_a_stream_of_its_own(
        self, house: House
    ) -> None:
        lines = Lines(duplex="auto")
        AlsaSpeaker(USB_KEY, 16_000, lines).start(ignore, ignore)
        AlsaMicrophone(USB_KEY, 48_000, lines).start(ignore, ignore)
        assert not lines.shared

    def test_a_card_that_refuses_gets_two(
        self, house: House, caplog: pytest.LogCaptureFixture
    ) -> None:
        house.audio.one_way = True
        mic, speaker, lines = self.start(house)
        assert not lines.shared
        assert (mic.rate, speaker.rate) == (16_000, 16_000)
        assert house.audio.initialised == 2
        assert "sound runs on two streams, not on one" in caplog.text
        assert self.told == []

    def test_a_microphone_that_is_closed_is_really_closed(self, house: House) -> None:
        mic, speaker, lines = self.start(house)
        mic.stop()
        assert not lines.shared
        assert "input" not in house.audio.stream.settings
        assert house.audio.initialised == 1
        mic.start(ignore, ignore)
        assert lines.shared
        speaker.stop()
        assert "output" not in house.audio.stream.settings
        mic.stop()
        assert house.audio.initialised == 0

    def test_both_are_told_when_it_dies_and_both_come_back(self, house: House) -> None:
        mic, speaker, lines = self.start(house)
        house.audio.stream.active = False
        while len(self.told) < 2:
            pass
        assert sorted(self.told) == [
            f'microphone "{USB_KEY}" stopped by itself',
            f'speaker "{USB_KEY}" stopped by itself',
        ]
        house.plug(HDMI)
        assert "no microphone found" in error_of(mic)
        assert len(self.told) == 2  # the speaker knows already
        house.plug(HDMI, TWIN, USB)
        mic.start(ignore, ignore)
        speaker.start(ignore, ignore)
        assert lines.shared
        assert house.opened_at("output").endswith("(hw:2,0)")

    def test_who_is_left_alone_and_cannot_go_on_is_told(self, house: House) -> None:
        mic, _, _ = self.start(house)
        house.audio.busy = True
        mic.stop()
        assert "is busy" in self.told[0]


def test_the_code_for_busy_is_portaudios() -> None:
    assert portaudio.library().paDeviceUnavailable != 0
    import pyaudio

    assert pyaudio.paDeviceUnavailable == BUSY
    assert (pyaudio.paContinue, pyaudio.paAbort) == (0, 2)
    assert pyaudio.paInputOverflow | pyaudio.paInputUnderflow == 3
    assert pyaudio.paOutputOverflow | pyaudio.paOutputUnderflow == 12
