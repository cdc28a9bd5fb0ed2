"""The desk: what each command of the control socket does.

Called on the control socket's thread; what needs the core goes to the driver
(`Driver.submit`, `Driver.look`) and is answered from there.  A command is
answered when the core has taken it, or refused it: the table decides, not
this file.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from edgevoice.core import events as ev
from edgevoice.core.commands import Command, Refused
from edgevoice.core.conversation import Conversation
from edgevoice.runtime.driver import Driver
from edgevoice.system.protocol import Message, ProtocolError, Request
from edgevoice.system.tally import Tally, Waiter, phase

Reload = Callable[[], str]
"""Reads the configuration again; why that was refused, empty when it is in force."""

Done = Callable[[Message], object]
Failed = Callable[[ProtocolError], object]

_EVENTS: dict[str, Callable[[float], ev.Event]] = {
    "start": ev.StartConversation,
    "stop": ev.EndConversation,
    "interrupt": ev.Interrupt,
    "mute": ev.Mute,
    "unmute": ev.Unmute,
    "resume": ev.Resume,
}


class Desk:
    """Carries requests out.  ``done`` and ``failed`` may be called from any thread, once."""

    def __init__(self, driver: Driver, tally: Tally, reload: Reload) -> None:
        self._driver = driver
        self._tally = tally
        self._reload = reload

    def serve(self, request: Request, done: Done, failed: Failed) -> None:
        """Do what ``request`` says."""
        match request.command:
            case "say" | "ask":
                self._speak(request, done, failed)
            case "suspend":
                reason = request.arguments.get("reason", "owner")
                self._submit(ev.Suspend(time.monotonic(), reason), done, failed)
            case "reload":
                self._aside(done, failed)
            case "status":
                self._look(lambda core: done(self._tally.status(core)), failed)
            case "snapshot" | "subscribe":
                self._look(lambda core: done(self._tally.snapshot(core)), failed)
            case name:
                self._submit(_EVENTS[name](time.monotonic()), done, failed)

    def give_up(self) -> None:
        """Let nobody wait for what will not come."""
        self._driver.look(self._tally.give_up)

    def _speak(self, request: Request, done: Done, failed: Failed) -> None:
        is_question = request.command == "ask"
        kind = ev.Ask if is_question else ev.Say
        event = kind(time.monotonic(), request.text)
        if not request.wait:
            self._submit(event, done, failed)
            return
        waiter = Waiter(request.text, is_question, done)
        self._submit(event, lambda _: self._tally.wait_for(waiter), failed)

    def _submit(self, event: ev.Event, done: Done, failed: Failed) -> None:
        def answered(commands: Sequence[Command], core: Conversation) -> None:
            refusals = [c for c in commands if isinstance(c, Refused)]
            if refusals:
                failed(_state_error(refusals[0]))
            else:
                done(_accepted(core))

        if not self._driver.submit(event, answered):
            failed(_busy())

    def _look(self, errand: Callable[[Conversation], object], failed: Failed) -> None:
        if not self._driver.look(errand):
            failed(_busy())

    def _aside(self, done: Done, failed: Failed) -> None:
        """Reading and building may take long: a thread of its own."""

        def work() -> None:
            reason = self._reload()
            if reason:
                failed(ProtocolError("failed", reason))
            else:
                done({})

        threading.Thread(target=work, name="reload", daemon=True).start()


def _accepted(core: Conversation) -> dict[str, Any]:
    return {"state": core.place.state.value, "phase": phase(core.place)}


def _state_error(refused: Refused) -> ProtocolError:
    """CON-002 and the like: the table has no row for it."""
    return ProtocolError("state", f"not possible while {refused.place.value}")


def _busy() -> ProtocolError:
    return ProtocolError("busy", "the conversation takes no more events now")
