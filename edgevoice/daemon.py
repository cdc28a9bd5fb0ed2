"""The daemon: the house on the sound card, under systemd or in a terminal."""

from __future__ import annotations

import ctypes
import faulthandler
import logging
import math
import os
import secrets
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

from edgevoice import app, devices
from edgevoice.adapters import journal
from edgevoice.adapters.gpio import Gpio
from edgevoice.core.commands import Transition, TurnRecord
from edgevoice.core.conversation import Conversation
from edgevoice.core.lexicon import lexicon
from edgevoice.core.table import State
from edgevoice.engines import Workshop
from edgevoice.errors import DeviceError, EdgeVoiceError, OutputError
from edgevoice.runtime.driver import Recorder, all_of
from edgevoice.runtime.watchdog import Watchdog
from edgevoice.settings.schema import Settings, tuning
from edgevoice.system.control import Control
from edgevoice.system.desk import Desk
from edgevoice.system.endpoint import Endpoint
from edgevoice.system.places import home
from edgevoice.system.tally import Tally
from edgevoice.trace import Recorder as TraceRecorder

log = logging.getLogger(__name__)

_AT_REST = (State.IDLE, State.SUSPENDED, State.FAULTED, State.TERMINATING)
"""No sound is about to come."""
_LOOK_S = 0.2
"""How long a signal may wait."""


class JournalWatcher:
    """Tells the journal of every transition and turn; never a word that was said.

    ``words`` is the owner's leave to write what was said after all.
    """

    def __init__(self, language: str, *, words: bool) -> None:
        self.reload(language, words=words)

    def reload(self, language: str, *, words: bool) -> None:
        """Tell in another language, and other things."""
        self._labels = lexicon(language).labels
        self._words = words

    def moved(self, transition: Transition) -> None:
        """One line, and the state for ``systemctl status``."""
        journal.log_transition(transition)
        journal.notify(f"STATUS={self._labels[transition.target]}")

    def turn_over(self, record: TurnRecord) -> None:
        """One line with every latency of the turn."""
        journal.log_turn(record)
        if self._words:
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


class Teller(Protocol):
    """Who tells the owner what happens."""

    def reload(self, language: str, *, words: bool) -> None:
        """Tell in another language, and with or without what was said."""


class Reloader:
    """Reads the configuration again and puts it in force; callable from any thread."""

    def __init__(
        self, device: app.EdgeVoice, tellers: Sequence[Teller], read: Callable[[], Settings]
    ) -> None:
        self._device = device
        self._tellers = tellers
        self._read = read
        self._one_at_a_time = threading.Lock()

    def __call__(self) -> str:
        """Why it was refused, one reason a line; empty when it is in force."""
        with self._one_at_a_time:
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
        for teller in self._tellers:
            teller.reload(settings.language, words=settings.privacy.log_transcripts)
        log.info("the configuration was read again; %s", changed)
        return ""


def serve(settings: Settings, trace: Path | None, reread: Callable[[], Settings]) -> int:
    """Run until SIGTERM, SIGINT or a fatal fault; the exit status.

    ``reread`` reads the configuration again on SIGHUP.  Raises
    `edgevoice.errors.EdgeVoiceError` when a device or a model cannot be used at the start.
    """
    # What crashes, and what the watchdog aborts, leaves the place of each thread in the journal.
    faulthandler.enable()
    logging.basicConfig(level=settings.log.level.upper(), handlers=[journal.journal_handler()])
    microphone, speaker = devices.sound(settings)
    hung_up = _note_signals(signal.SIGHUP)
    # A terminal that is closed sends the same signal, and nobody wants to be listened to then.
    closed = (signal.SIGHUP,) if os.isatty(0) else ()
    asked = _note_signals(signal.SIGTERM, signal.SIGINT, *closed)
    with ExitStack() as stack:
        control = _control(settings, stack)
        tally = _tally(settings, control)
        recorder = stack.enter_context(_recorder(settings, trace, tally))
        pins = _pins(settings)
        world = app.World(microphone, speaker, pins.lamps, pins.button)
        engines = Workshop(settings).all()
        _give_memory_back()
        watcher = JournalWatcher(settings.language, words=settings.privacy.log_transcripts)
        waker = SinkWaker(speaker.keep_awake, settings.audio.keep_awake)
        device = stack.enter_context(
            app.EdgeVoice(settings, world, engines, [watcher, waker], recorder)
        )
        reload = Reloader(device, [watcher, tally], reread)
        if control is not None:
            control.attach(Desk(device.driver, tally, reload), lambda: _levels(device, tally))
        journal.notify("READY=1")
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
    pins = devices.pins(settings)
    if pins.reason and settings.gpio.enabled == "on":
        raise DeviceError(f"button and lamp: {pins.reason}", "or set gpio.enabled to auto")
    if pins.reason and settings.gpio.enabled == "auto":
        log.info("button and lamp: %s", pins.reason)
    return pins


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


def _control(settings: Settings, stack: ExitStack) -> Control | None:
    """The control socket, which also keeps a second daemon away; None where there can be none."""
    path = home(settings.control.socket)
    if path is None:
        log.warning("no control socket: no directory for it can be written to")
        return None
    return stack.enter_context(Control(Endpoint(path)))


def _tally(settings: Settings, control: Control | None) -> Tally:
    publish = control.publish if control is not None else lambda kind, payload: None
    words = settings.privacy.log_transcripts
    return Tally(settings.language, words, publish, session=secrets.token_hex(8))


def _levels(device: app.EdgeVoice, tally: Tally) -> dict[str, float]:
    """RMS of full scale: what the microphone hears, what is left of it, what is played."""
    cancelled, speaker = tally.levels
    return {"microphone": device.listen.level, "cancelled": cancelled, "speaker": speaker}


@contextmanager
def _recorder(
    settings: Settings, trace: Path | None, tally: Tally
) -> Iterator[Callable[[Conversation], Recorder]]:
    """Everything that is shown each event: the trace, if one is asked for, and the tally."""
    if trace is None:
        yield lambda core: tally
        return
    try:
        file = trace.open("w", encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{trace}: {error.strerror}", "name another file") from None
    with file:
        yield lambda core: all_of([TraceRecorder(file, tuning(settings), core.since), tally])
