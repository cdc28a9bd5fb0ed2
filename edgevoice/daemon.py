"""The daemon: the house on the sound card, under systemd or in a terminal."""

from __future__ import annotations

import logging
import secrets
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from edgevoice import app
from edgevoice.adapters import journal
from edgevoice.adapters.gpio import Gpio, open_gpio
from edgevoice.core.commands import Transition, TurnRecord
from edgevoice.core.conversation import Conversation
from edgevoice.core.lexicon import lexicon
from edgevoice.engines import Workshop
from edgevoice.errors import DeviceError, OutputError
from edgevoice.runtime.driver import Recorder, all_of
from edgevoice.settings.schema import Settings, tuning
from edgevoice.system.control import Control
from edgevoice.system.desk import Desk
from edgevoice.system.endpoint import Endpoint
from edgevoice.system.places import home
from edgevoice.system.tally import Tally
from edgevoice.trace import Recorder as TraceRecorder

log = logging.getLogger(__name__)


class JournalWatcher:
    """Tells the journal of every transition and turn; never a word that was said.

    ``log_words`` is the owner's leave to write what was said after all.
    """

    def __init__(self, language: str, *, log_words: bool) -> None:
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
        log.warning("%s %s", what, " ".join(f"{name}={value}" for name, value in fields.items()))


def serve(settings: Settings, trace: Path | None) -> int:
    """Run until SIGTERM, SIGINT or a fatal fault; the exit status.

    Raises `edgevoice.errors.EdgeVoiceError` when a device or a model cannot be
    used at the start.
    """
    from edgevoice.adapters.alsa import AlsaMicrophone, AlsaSpeaker

    logging.basicConfig(level=settings.log.level.upper(), handlers=[journal.journal_handler()])
    audio = settings.audio
    microphone = AlsaMicrophone(audio.input, audio.input_rate, audio.period_ms)
    speaker = AlsaSpeaker(audio.output, audio.output_rate, audio.period_ms)
    asked = _stop_on_signals()
    with ExitStack() as stack:
        control = _control(settings, stack)
        tally = _tally(settings, control)
        recorder = stack.enter_context(_recorder(settings, trace, tally))
        pins = _pins(settings)
        world = app.World(microphone, speaker, pins.lamps, pins.button)
        engines = Workshop(settings).all()
        watcher = JournalWatcher(settings.language, log_words=settings.privacy.log_transcripts)
        device = stack.enter_context(app.EdgeVoice(settings, world, engines, [watcher], recorder))
        if control is not None:
            control.attach(Desk(device.driver, tally), lambda: _levels(device, tally))
        journal.notify("READY=1")
        while not device.wait(0.2) and not asked.is_set():
            pass
        journal.notify("STOPPING=1")
    return device.status


def _pins(settings: Settings) -> Gpio:
    """Lamp and button; nothing, with a line that says why, where there are no pins."""
    gpio = settings.gpio
    if gpio.enabled == "off":
        return open_gpio()
    pins = open_gpio(lamps=gpio.led_pins, button=gpio.button_pin, active_high=gpio.led_active_high)
    if pins.reason and gpio.enabled == "on":
        raise DeviceError(f"no button or lamp: {pins.reason}", "or set gpio.enabled to auto")
    if pins.reason:
        log.info("no button or lamp: %s", pins.reason)
    return pins


def _stop_on_signals() -> threading.Event:
    """Set when SIGTERM or SIGINT has asked for the end."""
    asked = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: asked.set())
    return asked


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
