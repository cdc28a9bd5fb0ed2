"""The sound cards on trees of files like those of the kernel."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from edgevoice.adapters import cards
from edgevoice.adapters.cards import Card, Holder

CARDS = """\
 0 [vc4hdmi0       ]: vc4-hdmi - vc4-hdmi-0
                      vc4-hdmi-0
 1 [Device         ]: USB-Audio - USB PnP Sound Device
                      C-Media Electronics Inc. USB PnP Sound Device at usb-1.3, full speed
 2 [Device_1       ]: USB-Audio - USB PnP Sound Device
                      C-Media Electronics Inc. USB PnP Sound Device at usb-1.4, full speed
"""
PCM = """\
00-00: MAI PCM i2s-hifi-0 : MAI PCM i2s-hifi-0 : playback 1
01-00: USB Audio : USB Audio : playback 1 : capture 1
02-00: USB Audio : USB Audio : capture 1
"""


class Machine:
    """A root directory with the files that the kernel would show."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("proc/asound/cards", CARDS)
        self.write("proc/asound/pcm", PCM)
        for number, port in ((1, "1-1.3"), (2, "1-1.4")):
            self.plug(number, port)

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def plug(self, number: int, port: str) -> None:
        usb = self.root / "sys/devices/usb1" / port
        (usb / f"{port}:1.0").mkdir(parents=True)
        (usb / "idVendor").write_text("0d8c\n")
        (usb / "idProduct").write_text("0014\n")
        card = self.root / f"sys/class/sound/card{number}"
        card.mkdir(parents=True)
        (card / "device").symlink_to(usb / f"{port}:1.0")

    def runs(self, pid: int, program: str, *files: str) -> None:
        self.write(f"proc/{pid}/comm", f"{program}\n")
        self.write(f"proc/{pid}/status", f"Name:\t{program}\nTgid:\t{pid}\n")
        (self.root / f"proc/{pid}/fd").mkdir()
        for number, file in enumerate(files):
            (self.root / f"proc/{pid}/fd/{number}").symlink_to(file)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(cards, "ROOT", tmp_path)
    return Machine(tmp_path)


def test_cards_have_ids_that_stay(machine: Machine) -> None:
    assert [card.key for card in cards.cards()] == [
        "hw:CARD=vc4hdmi0",
        "usb:0d8c:0014@1-1.3",
        "usb:0d8c:0014@1-1.4",
    ]


def test_devices_are_named_as_portaudio_names_them(machine: Machine) -> None:
    hdmi, usb, microphone = cards.pcms()
    assert hdmi.label == "vc4-hdmi-0: MAI PCM i2s-hifi-0 (hw:0,0)"
    assert usb.label == "USB PnP Sound Device: USB Audio (hw:1,0)"
    assert (usb.inputs, usb.outputs) == (1, 1)
    assert (microphone.inputs, microphone.outputs) == (1, 0)
    assert cards.hw(usb.label) == (1, 0)
    assert cards.hw("default") is None


@pytest.mark.parametrize(
    ("key", "numbers"),
    [
        ("usb:0d8c:0014", [1, 2]),
        ("usb:0D8C:0014@1-1.4", [2]),
        ("usb:0d8c:0014@1-1.5", []),
        ("hw:CARD=vc4hdmi0", [0]),
        ("hw:CARD=Device,DEV=0", [1]),
        ("hw:CARD=Device,DEV=1", []),
    ],
)
def test_a_key_means_a_device(machine: Machine, key: str, numbers: list[int]) -> None:
    assert cards.is_key(key)
    meant = [p.card.number for p in cards.pcms() if cards.means(key, p.card, p.device)]
    assert meant == numbers


@pytest.mark.parametrize("name", ["default", "USB PnP", "hw:1,0", "usb:1234", "hw:CARD="])
def test_other_names_are_no_keys(name: str) -> None:
    assert not cards.is_key(name)
    assert not cards.means(name, Card(1, "Device", "USB"), 0)


def test_a_machine_without_sound(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cards, "ROOT", tmp_path)
    assert cards.cards() == ()
    assert cards.pcms() == []
    assert cards.holders(capture=True) == []


class TestHolder:
    def open_by(self, machine: Machine, thread: int) -> None:
        status = f"state: RUNNING\nowner_pid   : {thread}\ntrigger_time: 1.0\n"
        machine.write("proc/asound/card1/pcm0c/sub0/status", status)

    def test_alsa_tells_the_owner(self, machine: Machine) -> None:
        machine.runs(812, "pulseaudio")
        self.open_by(machine, 812)
        found = cards.holder(1, 0, capture=True)
        assert found == Holder(812, "pulseaudio")
        assert str(found) == "pulseaudio (process 812)"
        assert cards.holder(1, 0, capture=False) is None
        assert cards.holders(capture=True) == [found]

    def test_a_thread_of_the_owner_is_told_as_its_process(self, machine: Machine) -> None:
        machine.runs(812, "arecord")
        machine.write("proc/815/status", "Name:\tarecord-io\nTgid:\t812\n")
        self.open_by(machine, 815)
        assert cards.holder(1, 0, capture=True) == Holder(812, "arecord")

    def test_an_owner_that_is_hidden_has_at_least_a_number(self, machine: Machine) -> None:
        self.open_by(machine, 812)
        assert str(cards.holder(1, 0, capture=True)) == "process 812"

    def test_a_closed_device_has_none(self, machine: Machine) -> None:
        machine.write("proc/asound/card1/pcm0c/sub0/status", "closed\n")
        assert cards.holder(1, 0, capture=True) is None

    def test_open_files_tell_where_alsa_does_not(self, machine: Machine) -> None:
        machine.runs(31, "cat", "/dev/snd/pcmC1D0p")
        machine.runs(32, "arecord", "/dev/null", "/dev/snd/pcmC1D0c")
        assert cards.holder(1, 0, capture=True) == Holder(32, "arecord")

    def test_we_are_not_told_of_ourselves(self, machine: Machine) -> None:
        machine.runs(os.getpid(), "edgevoice", "/dev/snd/pcmC1D0c")
        self.open_by(machine, os.getpid())
        assert cards.holder(1, 0, capture=True) is None
