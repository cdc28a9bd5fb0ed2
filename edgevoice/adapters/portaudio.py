"""PortAudio as a library: opened in silence, and with a list of devices that is up to date.

PortAudio reads the list of devices when it is initialised first, and again only
after everybody has terminated it.  So when the list is out of date all open
lines let go for a moment to have it read again (`admit`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from edgevoice.adapters import cards
from edgevoice.errors import DeviceError

lock = threading.Lock()
"""Guards PortAudio's opening and closing calls, which are not thread-safe, the guests, and
descriptor 2."""

T = TypeVar("T")


class Guest(Protocol):
    """Whoever keeps PortAudio initialised.  Both calls are made by the holder of `lock`."""

    def let_go(self) -> None:
        """Terminate it for a moment."""

    def take_up(self) -> None:
        """Go on; must not raise."""


_guests: list[Guest] = []
_listed_cards: tuple[cards.Card, ...] = ()
"""The cards that there were when PortAudio read its list."""


def admit(guest: Guest, choose: Callable[[Any], T]) -> tuple[Any, T]:
    """Initialise PortAudio for ``guest``, and let it ``choose`` from the devices.

    The list is read anew when cards have come or gone since it was read, or when the
    choice fails with a `DeviceError`; all other guests let go for that moment, some 100 ms
    in which their sound is interrupted.  Raises what ``choose`` raises at last.
    The caller holds `lock`.
    """
    if not _guests or cards.cards() == _listed_cards:
        try:
            return readmit(guest, choose)
        except DeviceError:
            if not _guests:
                raise
    return _relisted(guest, choose)


def readmit(guest: Guest, choose: Callable[[Any], T]) -> tuple[Any, T]:
    """The same with the list as it is, for a guest that had let go."""
    global _listed_cards
    if not _guests:
        _listed_cards = cards.cards()
    audio = initialised()
    try:
        chosen = choose(audio)
    except BaseException:
        audio.terminate()
        raise
    _guests.append(guest)
    return audio, chosen


def dismiss(guest: Guest, audio: Any) -> None:
    """Terminate the PyAudio of ``guest``.  The caller holds `lock`."""
    if guest in _guests:
        _guests.remove(guest)
    audio.terminate()


def look(choose: Callable[[Any], T]) -> T:
    """What ``choose`` finds in the list of devices as it is."""
    with quietly():
        audio = initialised()
        try:
            return choose(audio)
        finally:
            audio.terminate()


def _relisted(guest: Guest, choose: Callable[[Any], T]) -> tuple[Any, T]:
    others = tuple(_guests)
    for other in others:
        other.let_go()
    try:
        return readmit(guest, choose)
    finally:
        for other in others:
            other.take_up()


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
