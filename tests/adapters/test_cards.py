"""The sound cards on trees of files like those of the kernel."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from edgevoice.adapters import cards
from edgevoice.adapters.cards import Card, Holder
from tests.adapters.machine import Machine


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
    def test_alsa_tells_the_owner(self, machine: Machine) -> None:
        machine.runs(812, "pulseaudio")
        machine.open_by(812, "card1/pcm0c")
        found = cards.holder(1, 0, capture=True)
        assert found == Holder(812, "pulseaudio")
        assert str(found) == "pulseaudio (process 812)"
        assert cards.holder(1, 0, capture=False) is None
        assert cards.holders(capture=True) == [found]

    def test_a_thread_of_the_owner_is_told_as_its_process(self, machine: Machine) -> None:
        machine.runs(812, "arecord")
        machine.write("proc/815/status", "Name:\tarecord-io\nTgid:\t812\n")
        machine.open_by(815, "card1/pcm0c")
        assert cards.holder(1, 0, capture=True) == Holder(812, "arecord")

    def test_an_owner_that_is_hidden_has_at_least_a_number(self, machine: Machine) -> None:
        machine.open_by(812, "card1/pcm0c")
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
        machine.open_by(os.getpid(), "card1/pcm0c")
        assert cards.holder(1, 0, capture=True) is None
