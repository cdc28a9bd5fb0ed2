"""A daemon without a sound card: the app on tiny engines, with a control socket."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from edgevoice import app
from edgevoice.core.table import Place
from edgevoice.settings.schema import Settings
from edgevoice.system.control import Control
from edgevoice.system.desk import Desk
from edgevoice.system.endpoint import Endpoint
from edgevoice.system.tally import Tally
from tests.patience import until
from tests.test_app import PHRASE, SILENT, VOICE, Outside, Witness, engines


class House:
    """The app with its control socket, and a clockwork that lets sound flow."""

    def __init__(self, path, *, words=False, reload=str, engines=None, pace_s=0.0):
        """``pace_s`` is waited beside each 20 ms of sound: real engines take their time."""
        self.path = path
        self.outside = Outside()
        self.witness = Witness(self.outside.log)
        self._asked = threading.Event()
        self.control = Control(Endpoint(path))
        self.tally = Tally("en", words, self.control.publish, session="s")
        self._reload = reload
        self._engines = engines
        self._pace_s = pace_s
        self._ended = threading.Event()

    def _flow(self):
        for value in self._heard():
            self.outside.step(value)
            if self._ended.wait(self._pace_s):
                return

    def _heard(self):
        """What the microphone hears: to the sample, however busy the machine is."""
        while True:
            yield SILENT
            if self._asked.is_set():
                yield PHRASE  # once: a phrase that goes on would wake it twice
                while self.witness.places[-1] is not Place.LISTENING:
                    yield SILENT
                yield from [VOICE] * 40
                self._asked.clear()

    def speak(self):
        """A question by voice, after the wake phrase."""
        self._asked.set()
        until(lambda: not self._asked.is_set())

    @contextmanager
    def running(self) -> Iterator[House]:
        parts = self._engines or engines()
        with (
            self.control,
            app.EdgeVoice(
                Settings(), self.outside.world(), parts, [self.witness], lambda core: self.tally
            ) as self.device,
        ):
            self.outside.follow(self.device)
            clockwork = threading.Thread(target=self._flow)
            clockwork.start()
            until(lambda: self.witness.places)
            levels = {"microphone": 0.5, "cancelled": 0.25, "speaker": 0.125}
            self.control.attach(
                Desk(self.device.driver, self.tally, self._reload), lambda: dict(levels)
            )
            yield self
            self._ended.set()
            clockwork.join()


class Wire:
    """A raw connection: what a client of another hand might send."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self._file = self.socket.makefile("rb")
        self.hello = self.receive()

    def send(self, line):
        data = line if isinstance(line, bytes) else json.dumps(line).encode()
        self.socket.sendall(data + b"\n")

    def receive(self):
        line = self._file.readline()
        return json.loads(line) if line else None

    def ask(self, line):
        """Send, and the next reply or error."""
        self.send(line)
        while (message := self.receive())["type"] not in ("reply", "error"):
            pass
        return message

    def await_event(self, kind, **payload):
        """The next event of a kind with these things in it."""
        while True:
            message = self.receive()
            found = message["payload"]
            if message["type"] == kind and all(found[k] == v for k, v in payload.items()):
                return found

    def close(self):
        self._file.close()
        self.socket.close()
