"""PortAudio as a library: opened in silence, and which ALSA devices it knows.

PortAudio reads the list of devices when it is initialised first, and again only
after everybody has terminated it.  It leaves out a device that another program
holds at that moment.  So a device is found by its name, never by its index.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from edgevoice.errors import DeviceError

RATES = (16_000, 48_000, 44_100, 32_000, 96_000)
"""Rates that are tried, the best first: at 16 kHz nothing is resampled."""

lock = threading.Lock()
"""Guards PortAudio's opening and closing calls, which are not thread-safe, and descriptor 2."""


@dataclass(frozen=True, slots=True)
class Device:
    """A device as PortAudio lists it: channels of each direction, rates in Hz."""

    name: str
    index: int
    inputs: int
    outputs: int
    rates: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Direction:
    """What we and PyAudio call the things of one direction."""

    noun: str
    channels: str
    default: str
    flag: str


IN = Direction("microphone", "maxInputChannels", "defaultInputDevice", "input")
OUT = Direction("speaker", "maxOutputChannels", "defaultOutputDevice", "output")


def devices() -> list[Device]:
    """All ALSA devices.  Opens each of them briefly, so it takes its time."""
    with _briefly() as audio:
        return [_describe(audio, info) for info in _listed(audio)]


def has_capture_device() -> bool:
    """Whether there is anything to listen with; takes some 50 ms."""
    with _briefly() as audio:
        return any(info[IN.channels] for info in _listed(audio))


def library() -> Any:
    """The module ``pyaudio``; raises `DeviceError` where it cannot be loaded."""
    try:
        import pyaudio
    except ImportError as error:
        raise DeviceError(
            f"PyAudio cannot be loaded ({error})", "install libportaudio2, or make setup again"
        ) from error
    return pyaudio


def initialised() -> Any:
    """A PyAudio.  PortAudio counts them and ends with the last that is terminated."""
    return library().PyAudio()


@contextmanager
def quietly() -> Iterator[None]:
    """Have PortAudio alone, and its forty lines of ALSA's complaints go nowhere."""
    with lock:
        stderr = os.dup(2)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        try:
            yield
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)


def find(audio: Any, name: str, direction: Direction) -> int:
    """The index of the device that ``name`` means, for now.

    An exact name wins; else any part of a name, in any case, that only one device has.
    Raises `DeviceError`, which names the devices that there are.
    """
    able = [info for info in _listed(audio) if info[direction.channels]]
    if not able:
        raise DeviceError(
            f"no {direction.noun} found",
            "plug one in, end the program that uses it, or join the group audio",
        )
    exact = [info for info in able if info["name"] == name]
    if name == "default" and not exact:  # a card without an ALSA default in this direction
        return int(_host(audio)[direction.default])
    matching = exact or [info for info in able if name.casefold() in info["name"].casefold()]
    if len(matching) == 1:
        return int(matching[0]["index"])
    names = ", ".join(info["name"] for info in matching or able)
    what = f'{direction.noun} "{name}"'
    if matching:
        raise DeviceError(f"{what} is ambiguous", f"name one of: {names}")
    raise DeviceError(f"{what} not found", f"known: {names}")


@contextmanager
def _briefly() -> Iterator[Any]:
    with quietly():
        audio = initialised()
        try:
            yield audio
        finally:
            audio.terminate()


def _host(audio: Any) -> dict[str, Any]:
    try:
        host: dict[str, Any] = audio.get_host_api_info_by_type(library().paALSA)
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
    return Device(
        name=info["name"],
        index=int(info["index"]),
        inputs=int(info[IN.channels]),
        outputs=int(info[OUT.channels]),
        rates=tuple(rate for rate in RATES if _supports(audio, info, rate)),
    )


def _supports(audio: Any, info: dict[str, Any], rate: int) -> bool:
    """Whether each direction that the device has runs at ``rate``."""
    able = [direction.flag for direction in (IN, OUT) if info[direction.channels]]
    try:
        return all(_runs(audio, info["index"], flag, rate) for flag in able)
    except ValueError:
        return False


def _runs(audio: Any, index: int, flag: str, rate: int) -> bool:
    settings = {"device": index, "channels": 1, "format": library().paInt16}
    named = {f"{flag}_{name}": value for name, value in settings.items()}
    return bool(audio.is_format_supported(rate, **named))
