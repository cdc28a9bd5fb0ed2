"""The sound cards as the kernel knows them: stable ids, and who holds which.

The number of a card follows the order in which the cards were found, so it
changes over a reboot or when a plug is pulled.  What stays is the id that ALSA
gives a card, and for a USB device its vendor, product and the port it is
plugged into: two devices of one make differ in the port alone.

Everything is read from ``/proc/asound`` and ``/sys/class/sound``; a machine
without sound has neither, and then there are no cards.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/")

_CARD = re.compile(r"^\s*(\d+) \[(\S*)\s*\]: .*? - (.*)$")
_DEV = r"(?:,dev=(?P<device>\d+))?"
_USB = re.compile(r"usb:(?P<make>[0-9a-f]{4}:[0-9a-f]{4})(?:@(?P<port>[-.0-9]+))?" + _DEV)
_HW = re.compile(r"hw:card=(?P<id>[^,]+)" + _DEV)


@dataclass(frozen=True, slots=True)
class Card:
    """A sound card.  ``usb`` is vendor:product in hexadecimal and ``port`` the path of its plug."""

    number: int
    id: str
    name: str
    usb: str = ""
    port: str = ""

    @property
    def key(self) -> str:
        """What it is called for good, whatever its number becomes."""
        return f"usb:{self.usb}@{self.port}" if self.usb else f"hw:CARD={self.id}"


@dataclass(frozen=True, slots=True)
class Pcm:
    """One device of a card, with its number of substreams."""

    card: Card
    device: int
    name: str
    inputs: int
    outputs: int

    @property
    def place(self) -> tuple[int, int]:
        """Card and device number, for now."""
        return self.card.number, self.device

    @property
    def label(self) -> str:
        """About what PortAudio calls it; of a device's name it may leave the card's out."""
        return f"{self.card.name}: {self.name} (hw:{self.card.number},{self.device})"

    @property
    def key(self) -> str:
        """The card's, and the number of the device unless it is the first."""
        return f"{self.card.key},DEV={self.device}" if self.device else self.card.key


@dataclass(frozen=True, slots=True)
class Holder:
    """A program that has a device open; its name is empty where it is hidden from us."""

    pid: int
    program: str

    def __str__(self) -> str:
        return f"{self.program} (process {self.pid})" if self.program else f"process {self.pid}"


def cards() -> tuple[Card, ...]:
    """All cards that are plugged in, by number."""
    found = []
    for line in _lines(ROOT / "proc/asound/cards"):
        if match := _CARD.match(line):
            number = int(match[1])
            found.append(Card(number, match[2], match[3].strip(), *_usb(number)))
    return tuple(found)


def pcms() -> list[Pcm]:
    """All their devices."""
    by_number = {card.number: card for card in cards()}
    found = []
    for line in _lines(ROOT / "proc/asound/pcm"):
        place, *rest = line.split(": ", 1)
        fields = [field.strip() for field in "".join(rest).split(" : ")]
        number, _, device = place.partition("-")
        if number.isdigit() and int(number) in by_number and len(fields) > 1:
            able = dict(field.split() for field in fields[2:] if field.count(" ") == 1)
            inputs, outputs = int(able.get("capture", 0)), int(able.get("playback", 0))
            found.append(Pcm(by_number[int(number)], int(device), fields[1], inputs, outputs))
    return found


def is_key(name: str) -> bool:
    """Whether ``name`` is written as a stable id, such as ``usb:0d8c:0014`` or ``hw:CARD=Device``.

    A USB id without ``@port`` is any device of that make; ``,DEV=1`` is a card's second device.
    """
    name = name.casefold()
    return bool(_USB.fullmatch(name) or _HW.fullmatch(name))


def means(key: str, card: Card, device: int) -> bool:
    """Whether the stable id ``key`` is that of ``device`` of ``card``."""
    match = _USB.fullmatch(key.casefold()) or _HW.fullmatch(key.casefold())
    if match is None or match["device"] not in (None, str(device)):
        return False
    if match.re is _USB:
        return match["make"] == card.usb and match["port"] in (None, card.port)
    return match["id"] == card.id.casefold()


def hw(name: str) -> tuple[int, int] | None:
    """Card and device number out of the name that PortAudio has for hardware."""
    match = re.search(r"\(?hw:(\d+),(\d+)\)?$", name)
    return (int(match[1]), int(match[2])) if match else None


def holder(card: int, device: int, *, capture: bool) -> Holder | None:
    """Who else has this device open, if anybody has.

    ALSA tells the owner to everybody; where it does not, the files that other
    processes have open are looked through, as far as that is allowed.
    """
    direction = "c" if capture else "p"
    status = f"proc/asound/card{card}/pcm{device}{direction}/sub*/status"
    for path in sorted(ROOT.glob(status)):
        for line in _lines(path):
            key, _, value = line.partition(":")
            if key.strip() == "owner_pid" and _is_other(int(value)):
                return _holder(int(value))
    return next(_with_open_file(f"/dev/snd/pcmC{card}D{device}{direction}"), None)


def holders(*, capture: bool) -> list[Holder]:
    """Who else has any device of that direction open."""
    able = [pcm for pcm in pcms() if (pcm.inputs if capture else pcm.outputs)]
    found = (holder(pcm.card.number, pcm.device, capture=capture) for pcm in able)
    return list(dict.fromkeys(one for one in found if one is not None))


def _usb(number: int) -> tuple[str, str]:
    """Vendor:product and port of a USB card; two empty strings of any other."""
    interface = (ROOT / f"sys/class/sound/card{number}/device").resolve()
    vendor = _lines(interface.parent / "idVendor")
    product = _lines(interface.parent / "idProduct")
    if not vendor or not product:
        return "", ""
    return f"{vendor[0]}:{product[0]}".casefold(), interface.name.partition(":")[0]


def _with_open_file(device: str) -> Iterator[Holder]:
    for process in (ROOT / "proc").glob("[0-9]*"):
        if _is_other(int(process.name)) and _has_open(process, device):
            yield _holder(int(process.name))


def _has_open(process: Path, device: str) -> bool:
    try:
        return any(os.readlink(file) == device for file in (process / "fd").iterdir())
    except OSError:  # it has ended, or is none of our business
        return False


def _is_other(pid: int) -> bool:
    return _process_of(pid) != os.getpid()


def _process_of(thread: int) -> int:
    """The process of a thread: ALSA tells the thread that opened the device."""
    for line in _lines(ROOT / f"proc/{thread}/status"):
        key, _, value = line.partition(":")
        if key == "Tgid":
            return int(value)
    return thread


def _holder(thread: int) -> Holder:
    pid = _process_of(thread)
    return Holder(pid, "".join(_lines(ROOT / f"proc/{pid}/comm")[:1]))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(errors="replace").splitlines()
    except OSError:
        return []
