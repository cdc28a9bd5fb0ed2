"""Microphone and speaker on ALSA, through PyAudio and PortAudio.

A card that is microphone and speaker in one gets one stream for both: then its
one clock drives one callback, which hands over what is played with what is
heard, and the echo's delay never changes.  Two cards, or a card that refuses,
have a stream each (`Lines`).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from edgevoice.adapters import portaudio
from edgevoice.adapters.line import End, Line
from edgevoice.adapters.sound_devices import (
    IN,
    OUT,
    RATES,
    Device,
    devices,
    has_capture_device,
)
from edgevoice.errors import DeviceError
from edgevoice.ports import Deliver, Fill

__all__ = ["RATES", "AlsaMicrophone", "AlsaSpeaker", "Device", "Lines", "devices",
           "has_capture_device"]  # fmt: skip

log = logging.getLogger(__name__)

_Failed = Callable[[str], None]


class Lines:
    """The open lines of a microphone and a speaker: one each, or one for both."""

    def __init__(self, period_ms: int = 10, duplex: str = "off") -> None:
        """``period_ms`` is the length of a block and sets the latency.

        ``duplex`` is ``auto`` for one line when both are the same card, ``on`` for one line
        whatever they are, or ``off``.  When one line cannot be opened there are two.
        """
        self._period_ms = period_ms
        self._duplex = duplex
        self._open: dict[End, Line] = {}
        self._guard = threading.Lock()
        """Guards which lines are open; microphone and speaker are opened by different threads."""

    def open(self, end: End) -> None:
        """Open a line for ``end``, or let it share the other's; raises `DeviceError`."""
        with self._guard:
            self._leave(end)
            partner = next(iter(self._open), None)
            if partner is None or not self._share(end, partner):
                self._add(Line([end], self._period_ms))

    def close(self, end: End) -> None:
        """Close the line of ``end``; who shares it goes on alone.  Harmless when it is closed."""
        with self._guard:
            self._leave(end)

    @property
    def shared(self) -> bool:
        """Whether one line serves both."""
        return any(len(line.ends) > 1 for line in self._open.values())

    def _add(self, line: Line) -> None:
        line.open()
        self._open.update(dict.fromkeys(line.ends, line))

    def _leave(self, end: End) -> None:
        line = self._open.get(end)
        if line is None:
            return
        self._remove(line)
        if not line.failed:
            for other in line.ends:
                if other is not end:
                    self._go_on_alone(other)

    def _remove(self, line: Line) -> None:
        line.close()
        for end in line.ends:
            del self._open[end]

    def _go_on_alone(self, end: End) -> None:
        try:
            self._add(Line([end], self._period_ms, end.rate))
        except DeviceError as error:
            end.failed(str(error))

    def _share(self, end: End, partner: End) -> bool:
        """Put both on one line, at the partner's rate; false when that cannot be."""
        if not self._may_share(end, partner):
            return False
        self._remove(self._open[partner])
        try:
            self._add(Line([partner, end], self._period_ms, partner.rate))
        except DeviceError as error:
            log.warning("sound runs on two streams, not on one: %s", error)
            self._duplex = "off"
            self._go_on_alone(partner)
            return False
        log.info("sound runs on one stream: %s and %s are one card", partner, end)
        return True

    def _may_share(self, end: End, partner: End) -> bool:
        if self._duplex == "off" or self._open[partner].failed:
            return False
        if end.wanted_rate not in (0, partner.rate):
            return False
        return self._duplex == "on" or self._are_one_card(end, partner)

    def _are_one_card(self, end: End, partner: End) -> bool:
        try:
            found = portaudio.look(end.find)
        except DeviceError:
            return False
        there = partner.found.place if partner.found else None
        return found.place is not None and there is not None and found.place[0] == there[0]


class _AlsaEnd:
    """What microphone and speaker have in common: the end of a line, opened and closed."""

    def __init__(self, end: End, lines: Lines | None) -> None:
        self._end = end
        self._lines = lines or Lines()

    @property
    def rate(self) -> int:
        """Samples per second; 0 until it is open when it is to be found out."""
        return self._end.rate

    @property
    def xruns(self) -> int:
        """Blocks that were lost or came too late since it was made."""
        return self._end.xruns

    def start(self, exchange: Deliver | Fill, failed: _Failed) -> None:
        """Open the device; raises `DeviceError` when that cannot be done."""
        self._end.exchange, self._end.failed = exchange, failed
        self._lines.open(self._end)

    def stop(self) -> None:
        """Close it, dropping what is buffered; harmless when it is closed."""
        self._lines.close(self._end)


class AlsaMicrophone(_AlsaEnd):
    """The `edgevoice.ports.Microphone` on an ALSA device."""

    def __init__(
        self,
        device: str = "default",
        rate: int = 0,
        lines: Lines | None = None,
        channel: int = 1,
    ) -> None:
        """Open nothing yet.

        ``device`` is a stable id (`edgevoice.adapters.cards`), the name of an ALSA pcm, or any
        part of a device's name that only one device has; ``rate`` 0 takes what it can, the best
        first.  ``lines`` are shared with the speaker.  Of a device with more than one channel
        only ``channel`` is heard, counted from 1.
        """
        super().__init__(End(IN, device, rate, channel), lines)


class AlsaSpeaker(_AlsaEnd):
    """The `edgevoice.ports.Speaker` on an ALSA device; while it is open it plays, if only silence.

    So a sink does not fall asleep for want of sound, unless it takes digital silence for the
    end of it: then `keep_awake` helps.
    """

    def __init__(self, device: str = "default", rate: int = 0, lines: Lines | None = None) -> None:
        """As `AlsaMicrophone`; mono is played on all channels."""
        super().__init__(End(OUT, device, rate), lines)

    def keep_awake(self, awake: bool) -> None:
        """Whether silence is played as noise of one bit, 90 dB down (any thread)."""
        self._end.keep_awake = awake
