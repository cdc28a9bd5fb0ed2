"""The daemon: the house on the sound card, under systemd or in a terminal."""

from __future__ import annotations

import ctypes
import faulthandler
import logging
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from edgevoice import app
from edgevoice.adapters import journal
from edgevoice.adapters.gpio import Gpio, LampSpec, open_gpio
from edgevoice.core.commands import Transition, TurnRecord
from edgevoice.core.conversation import Conversation
from edgevoice.core.lexicon import lexicon
from edgevoice.core.table import State
from edgevoice.engines import Workshop
from edgevoice.errors import DeviceError, EdgeVoiceError, OutputError
from edgevoice.runtime.driver import Recorder
from edgevoice.runtime.watchdog import Watchdog
from edgevoice.settings.schema import Settings, tuning
from edgevoice.trace import Recorder as TraceRecorder

log = logging.getLogger(__name__)

_AT_REST = (State.IDLE, State.SUSPENDED, State.FAULTED, State.TERMINATING)
"""No sound is about to come."""
_LOOK_S = 0.2
"""How long a signal may wait."""


class JournalWatcher:
    """Tells the journal of every transition and turn; never a word that was said.

    ``log_words`` is the owner's leave to write what was said after all.
    """

    def __init__(self, language: str, *, log_words: bool) -> None:
        self.reload(language, log_words=log_words)

    def reload(self, language: str, *, log_words: bool) -> None:
        """Tell in another language, and other things."""
        self._labels = lexicon(language).labels
        self._log_words = log_words

    def moved(self, transition: Transition) -> None:
        """One line, and the state for ``systemctl status``."""
        journal.log_transition(transition)
        journal.notify(f"STATUS={self._labels[transition.target]}")

    def turn_over(self, record: TurnRecord) -> None:
        """One line with every latency of the turn."""
        journal.log_turn(record)
        if self._log_words:
            log.info("heard %r, said %r", record.heard, record.played)

    def noticed(self, what: str, fields: Mapping[str, Any]) -> None:
        """One line."""
        journal.warn(what, fields)


class SinkWaker:
    """Keeps the loudspeaker awake in a conversation, so that its first syllable is heard.

    It begins when the device is woken, seconds before it answers.
    """

    def __init__(self, wake: Callable[[bool], None], when: str) -> None:
        """``wake`` is told whether to keep awake; ``when`` is the setting ``audio.keep_awake``."""
        self._wake = wake
        self._when = when
        wake(when == "always")

    def moved(self, transition: Transition) -> None:
        """A conversation begins or ends."""
        if self._when == "conversation":
            self._wake(transition.target.state not in _AT_REST)

    def turn_over(self, record: TurnRecord) -> None:
        """Change nothing."""

    def noticed(self, what: str, fields: Mapping[str, Any]) -> None:
        """Change nothing."""


class Reloader:
    """Reads the configuration again and puts it in force; callable from any thread."""

    def __init__(
        self, device: app.EdgeVoice, watcher: JournalWatcher, read: Callable[[], Settings]
    ) -> None:
        self._device = device
        self._watcher = watcher
        self._read = read

    def __call__(self) -> str:
        """Why it was refused, one reason a line; empty when it is in force."""
        journal.notify(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")
        try:
            return self._reload()
        finally:
            journal.notify("READY=1")

    def _reload(self) -> str:
        try:
            settings = self._read()
            changed = self._device.reload(settings)
        except EdgeVoiceError as error:
            for line in str(error).splitlines():
                log.error("the new configuration is refused: %s", line)
            return str(error)
        logging.getLogger().setLevel(settings.log.level.upper())
        self._watcher.reload(settings.language, log_words=settings.privacy.log_transcripts)
        log.info("the configuration was read again; %s", changed)
        return ""


def serve(settings: Settings, trace: Path | None, reread: Callable[[], Settings]) -> int:
    """Run until SIGTERM, SIGINT or a fatal fault; the exit status.

    ``reread`` reads the configuration again on SIGHUP.  Raises
    `edgevoice.errors.EdgeVoiceError` when a device or a model cannot be used at the start.
    """
    from edgevoice.adapters.alsa import AlsaMicrophone, AlsaSpeaker, Lines

    # What crashes, and what the watchdog aborts, leaves the place of each thread in the journal.
    faulthandler.enable()
    logging.basicConfig(level=settings.log.level.upper(), handlers=[journal.journal_handler()])
    audio = settings.audio
    lines = Lines(audio.period_ms, audio.duplex)
    microphone = AlsaMicrophone(audio.input, audio.input_rate, lines, audio.input_channel)
    speaker = AlsaSpeaker(audio.output, audio.output_rate, lines)
    hung_up = _note_signals(signal.SIGHUP)
    # A terminal that is closed sends the same signal, and nobody wants to be listened to then.
    closed = (signal.SIGHUP,) if os.isatty(0) else ()
    asked = _note_signals(signal.SIGTERM, signal.SIGINT, *closed)
    with ExitStack() as stack:
        recorder = stack.enter_context(_recorder(settings, trace))
        pins = _pins(settings)
        world = app.World(microphone, speaker, pins.lamps, pins.button)
        engines = Workshop(settings).all()
        _give_memory_back()
        watcher = JournalWatcher(settings.language, log_words=settings.privacy.log_transcripts)
        waker = SinkWaker(speaker.keep_awake, audio.keep_awake)
        device = stack.enter_context(
            app.EdgeVoice(settings, world, engines, [watcher, waker], recorder)
        )
        journal.notify("READY=1")
        reload = Reloader(device, watcher, reread)
        watchdog = _watchdog(device)
        while not device.wait(_LOOK_S) and not asked.is_set():
            watchdog.look()
            if hung_up.is_set():
                hung_up.clear()
                reload()
            device.look_after()
        journal.notify("STOPPING=1")
    return device.status


def _pins(settings: Settings) -> Gpio:
    """Lamp and button; nothing, with a line that says why, where there are no pins."""
    gpio = settings.gpio
    if gpio.enabled == "off":
        return open_gpio()
    pins = open_gpio(_lamp(settings), gpio.button_pin, gpio.chip if gpio.chip >= 0 else None)
    if pins.reason and gpio.enabled == "on":
        raise DeviceError(f"button and lamp: {pins.reason}", "or set gpio.enabled to auto")
    if pins.reason:
        log.info("button and lamp: %s", pins.reason)
    return pins


def _lamp(settings: Settings) -> LampSpec | None:
    gpio = settings.gpio
    if gpio.led_kind == "none" or (gpio.led_kind == "pins" and not gpio.led_pins):
        return None
    return LampSpec(
        kind=gpio.led_kind,
        pins=gpio.led_pins,
        active_high=gpio.led_active_high,
        count=gpio.led_count,
        spi=gpio.led_spi,
        power_pin=gpio.led_power_pin if gpio.led_power_pin >= 0 else None,
        brightness=gpio.led_brightness / 100,
    )


def _give_memory_back() -> None:
    """To the system, what loading the engines side by side has left in the allocator: 11 MB."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it
    if trim is not None:
        trim(0)


def _watchdog(device: app.EdgeVoice) -> Watchdog:
    """Feeds the service manager four times as often as it asks for, or never if it does not."""
    every_s = (journal.watchdog_s() or math.inf) / 4
    return Watchdog(device.progress, lambda: journal.notify("WATCHDOG=1"), every_s)


def _note_signals(*numbers: signal.Signals) -> threading.Event:
    """Set when one of them comes."""
    noted = threading.Event()
    for number in numbers:
        signal.signal(number, lambda _number, _frame: noted.set())
    return noted


@contextmanager
def _recorder(
    settings: Settings, trace: Path | None
) -> Iterator[Callable[[Conversation], Recorder] | None]:
    if trace is None:
        yield None
        return
    try:
        file = trace.open("w", encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{trace}: {error.strerror}", "name another file") from None
    with file:
        yield lambda core: TraceRecorder(file, tuning(settings), core.since)
