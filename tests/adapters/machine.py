"""A machine with sound cards: a tree of files like those that the kernel shows."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Plugged:
    """A card to plug in.  Without a port it is soldered on."""

    id: str
    name: str
    pcm: str
    able: str
    port: str = ""


HDMI = Plugged("vc4hdmi0", "vc4-hdmi-0", "MAI PCM i2s-hifi-0", "playback 1")
USB = Plugged("Device", "USB PnP Sound Device", "USB Audio", "playback 1 : capture 1", "1-1.3")
TWIN = Plugged("Device_1", "USB PnP Sound Device", "USB Audio", "capture 1", "1-1.4")


class Machine:
    """A root directory with the files that the kernel would show of three cards."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.plug(HDMI, USB, TWIN)

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def plug(self, *cards: Plugged | None) -> None:
        """Have these cards, numbered in this order; None is a number that is not taken."""
        shutil.rmtree(self.root / "sys", ignore_errors=True)
        lines, pcms = [], []
        for number, card in enumerate(cards):
            if card is None:
                continue
            lines += [f"{number:2} [{card.id:15}]: driver - {card.name}", f"{'':22}{card.name}"]
            pcms.append(f"{number:02}-00: {card.pcm} : {card.pcm} : {card.able}")
            if card.port:
                self._plug_usb(number, card.port)
        self.write("proc/asound/cards", "\n".join(lines) + "\n")
        self.write("proc/asound/pcm", "\n".join(pcms) + "\n")

    def _plug_usb(self, number: int, port: str) -> None:
        usb = self.root / "sys/devices/usb1" / port
        (usb / f"{port}:1.0").mkdir(parents=True)
        (usb / "idVendor").write_text("0d8c\n")
        (usb / "idProduct").write_text("0014\n")
        card = self.root / f"sys/class/sound/card{number}"
        card.mkdir(parents=True)
        (card / "device").symlink_to(usb / f"{port}:1.0")

    def runs(self, pid: int, program: str, *files: str) -> None:
        """A process that has these files open."""
        self.write(f"proc/{pid}/comm", f"{program}\n")
        self.write(f"proc/{pid}/status", f"Name:\t{program}\nTgid:\t{pid}\n")
        (self.root / f"proc/{pid}/fd").mkdir()
        for number, file in enumerate(files):
            (self.root / f"proc/{pid}/fd/{number}").symlink_to(file)

    def open_by(self, thread: int, pcm: str) -> None:
        """ALSA tells that a thread has ``pcm``, such as ``card1/pcm0c``, open."""
        status = f"state: RUNNING\nowner_pid   : {thread}\ntrigger_time: 1.0\n"
        self.write(f"proc/asound/{pcm}/sub0/status", status)
