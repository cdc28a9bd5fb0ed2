"""``edgevoice devices``, on devices that are given."""

from __future__ import annotations

from typing import Any

import pytest

from edgevoice.adapters import alsa
from edgevoice.adapters.alsa import Device
from edgevoice.adapters.cards import Holder
from edgevoice.cli.main import main


def listed(monkeypatch: pytest.MonkeyPatch, capsys: Any, *devices: Device) -> str:
    monkeypatch.setattr(alsa, "devices", lambda: list(devices))
    assert main(["devices"]) == 0
    return str(capsys.readouterr().out)


def test_names_ids_rates_channels_and_who_uses_them(
    monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    usb = Device("USB (hw:1,0)", 0, 1, 2, (48_000, 44_100), "usb:0d8c:0014@1-1.3")
    held = Device("HAT (hw:2,0)", -1, 2, 0, (), "hw:CARD=hat", (Holder(812, "arecord"),))
    assert listed(monkeypatch, capsys, usb, held).splitlines() == [
        "microphones (audio.input):",
        "  USB (hw:1,0)",
        "      id usb:0d8c:0014@1-1.3, mono, 48000/44100 Hz",
        "  HAT (hw:2,0)",
        "      id hw:CARD=hat, in use by arecord (process 812)",
        "speakers (audio.output):",
        "  USB (hw:1,0)",
        "      id usb:0d8c:0014@1-1.3, up to 2 channels, 48000/44100 Hz",
    ]


def test_none(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    assert listed(monkeypatch, capsys) == "no microphone found\nno speaker found\n"
