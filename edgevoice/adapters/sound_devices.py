"""Which sound devices there are, and which of them a name means.

PortAudio leaves a device out of its list that another program holds at that
moment, and its indices follow the numbers of the cards.  So a device is found
by its name or stable id, never by its index, and one that is held is found in
what the kernel tells (`edgevoice.adapters.cards`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from edgevoice.adapters import cards, portaudio
from edgevoice.errors import DeviceError

RATES = (16_000, 48_000, 44_100, 32_000, 96_000)
"""Rates that are tried, the best first: at 16 kHz nothing is resampled."""


@dataclass(frozen=True, slots=True)
class Device:
    """A device as PortAudio lists it: channels of each direction, rates in Hz.

    ``key`` is its stable id, empty for what is no hardware but a name of ALSA's.  A device
    that a program holds is not in PortAudio's list: ``index`` is then -1 and no rate is known.
    """

    name: str
    index: int
    inputs: int
    outputs: int
    rates: tuple[int, ...]
    key: str = ""
    holders: tuple[cards.Holder, ...] = ()


@dataclass(frozen=True, slots=True)
class Direction:
    """What we and PyAudio call the things of one direction."""

    noun: str
    channels: str
    default: str
    flag: str

    def holder(self, card: int, device: int) -> cards.Holder | None:
        """Who else has a device of a card open in this direction."""
        return cards.holder(card, device, capture=self is IN)

    def holders(self, found: Found) -> list[cards.Holder]:
        """Who keeps us from a device; of one that is no hardware, whoever has any card open."""
        if found.place is None:
            return cards.holders(capture=self is IN)
        holder = self.holder(*found.place)
        return [holder] if holder else []


IN = Direction("microphone", "maxInputChannels", "defaultInputDevice", "input")
OUT = Direction("speaker", "maxOutputChannels", "defaultOutputDevice", "output")


def devices() -> list[Device]:
    """All ALSA devices.  Opens each of them briefly, so it takes its time."""
    listed = portaudio.look(lambda audio: [_describe(audio, info) for info in _listed(audio)])
    places = {cards.hw(device.name) for device in listed}
    return listed + [_held(pcm) for pcm in cards.pcms() if pcm.place not in places]


def has_capture_device() -> bool:
    """Whether there is anything to listen with; takes some 50 ms."""
    return portaudio.look(lambda audio: any(info[IN.channels] for info in _listed(audio)))


@dataclass(frozen=True, slots=True)
class Found:
    """A device that a name led to; ``pin`` finds this one again, empty if it is no hardware."""

    index: int
    name: str
    pin: str = ""

    @property
    def place(self) -> tuple[int, int] | None:
        """Card and device number of hardware, for now."""
        return cards.hw(self.name)


def find(audio: Any, name: str, direction: Direction, pin: str = "") -> Found:
    """Find the device that ``name`` means.

    The device of an earlier find, ``pin``, comes first.  Else a stable id, the exact name, or
    any part of a name, in any case, that only one device has.  Raises `DeviceError`, which
    names the devices that there are, or the program that holds the one that is meant.
    """
    able = [info for info in _listed(audio) if info[direction.channels]]
    again = _by_key(able, pin)
    if again:
        return _found(again[0])
    matching = _matching(audio, able, name, direction)
    if len(matching) == 1 or (matching and cards.is_key(name)):
        return _found(matching[0])
    what = f'{direction.noun} "{name}"'
    if matching:
        names = ", ".join(info["name"] for info in matching)
        raise DeviceError(f"{what} is ambiguous", f"name one of: {names}")
    _refuse_held(name, direction, what)
    if not able:
        raise DeviceError(
            f"no {direction.noun} found",
            "plug one in, end the program that uses it, or join the group audio",
        )
    names = ", ".join(info["name"] for info in able)
    raise DeviceError(f"{what} not found", f"known: {names}")


def busy(what: str, by: list[cards.Holder]) -> DeviceError:
    """The error that ``what`` is in use, and by whom as far as is known."""
    if not by:
        return DeviceError(
            f"{what} is busy", "end the program that uses it (fuser -v /dev/snd/* names it)"
        )
    names = " and ".join(map(str, by))
    return DeviceError(f"{what} is busy: {names} has it open", "end that program")


def _matching(
    audio: Any, able: list[dict[str, Any]], name: str, direction: Direction
) -> list[dict[str, Any]]:
    if cards.is_key(name):
        return _by_key(able, name)
    exact = [info for info in able if info["name"] == name]
    if name == "default" and not exact:  # a card without an ALSA default in this direction
        chosen = _host(audio)[direction.default]
        return [info for info in able if info["index"] == chosen]
    return exact or [info for info in able if name.casefold() in info["name"].casefold()]


def _by_key(able: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    meant = {pcm.place for pcm in cards.pcms() if cards.means(key, pcm.card, pcm.device)}
    return [info for info in able if cards.hw(info["name"]) in meant]


def _found(info: dict[str, Any]) -> Found:
    return Found(int(info["index"]), info["name"], _key(info["name"]))


def _key(name: str) -> str:
    pcm = _pcm(name)
    return pcm.key if pcm else ""


def _pcm(name: str) -> cards.Pcm | None:
    """The hardware behind a name of PortAudio's."""
    return next((pcm for pcm in cards.pcms() if pcm.place == cards.hw(name)), None)


def _refuse_held(name: str, direction: Direction, what: str) -> None:
    """Say so when the device is only missing because a program holds it."""
    for pcm in cards.pcms():
        meant = cards.means(name, pcm.card, pcm.device) or name.casefold() in pcm.label.casefold()
        if (pcm.inputs if direction is IN else pcm.outputs) and (meant or name == "default"):
            holder = direction.holder(pcm.card.number, pcm.device)
            if holder is not None:
                raise busy(what, [holder])


def _host(audio: Any) -> dict[str, Any]:
    try:
        host: dict[str, Any] = audio.get_host_api_info_by_type(portaudio.library().paALSA)
    except OSError as error:
        raise DeviceError("PortAudio was built without ALSA", "install libportaudio2") from error
    return host


def _listed(audio: Any) -> list[dict[str, Any]]:
    host = _host(audio)
    return [
        audio.get_device_info_by_host_api_device_index(host["index"], number)
        for number in range(host["deviceCount"])
    ]


def _describe(audio: Any, info: dict[str, Any]) -> Device:
    pcm = _pcm(info["name"])
    return Device(
        name=info["name"],
        index=int(info["index"]),
        inputs=int(info[IN.channels]),
        outputs=int(info[OUT.channels]),
        rates=tuple(rate for rate in RATES if _supports(audio, info, rate)),
        key=pcm.key if pcm else "",
        holders=_holders(pcm) if pcm else (),
    )


def _held(pcm: cards.Pcm) -> Device:
    """A device that PortAudio does not list, because somebody has it open."""
    return Device(pcm.label, -1, pcm.inputs, pcm.outputs, (), pcm.key, _holders(pcm))


def _holders(pcm: cards.Pcm) -> tuple[cards.Holder, ...]:
    found = (direction.holder(pcm.card.number, pcm.device) for direction in (IN, OUT))
    return tuple(dict.fromkeys(one for one in found if one is not None))


def _supports(audio: Any, info: dict[str, Any], rate: int) -> bool:
    """Whether each direction that the device has runs at ``rate``."""
    able = [direction.flag for direction in (IN, OUT) if info[direction.channels]]
    try:
        return all(_runs(audio, info["index"], flag, rate) for flag in able)
    except ValueError:
        return False


def _runs(audio: Any, index: int, flag: str, rate: int) -> bool:
    settings = {"device": index, "channels": 1, "format": portaudio.library().paInt16}
    named = {f"{flag}_{name}": value for name, value in settings.items()}
    return bool(audio.is_format_supported(rate, **named))
