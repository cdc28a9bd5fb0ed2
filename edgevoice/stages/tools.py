"""Tools: run what was asked for, each call on a thread of its own.

Threads ``tool-NAME``.  Commanded by the driver, which never waits for them: a call
begins at once, and is called off by a flag that the tool looks at.  One that does not
look is left behind; it keeps a place of its own tool, and of no other.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter

from edgevoice.core.commands import CancelTool, RunTool
from edgevoice.core.events import TaskBeat, ToolDone
from edgevoice.ports import Outcome, Toolbox
from edgevoice.runtime.stage import Post

AT_ONCE = 2
"""Calls of one tool at a time: one that was called off and still ends, and the next."""


class _Call:
    """One call, as its tool sees it."""

    def __init__(self, command: RunTool, events: Post) -> None:
        self.command = command
        self._emit = events
        self._over = threading.Event()

    def cancel(self) -> None:
        """Nobody waits any more."""
        self._over.set()

    def cancelled(self) -> bool:
        """Whether nobody waits any more."""
        return self._over.is_set()

    def beat(self) -> None:
        """The work goes on."""
        if not self.cancelled():
            self._emit(TaskBeat(time.monotonic(), self.command.turn, self.command.call))


class Tools:
    """Runs the tools of a toolbox."""

    def __init__(self, events: Post, toolbox: Toolbox) -> None:
        self._emit = events
        self._toolbox = toolbox
        self._lock = threading.Lock()
        self._calls: dict[tuple[int, int], _Call] = {}
        self._at_once: Counter[str] = Counter()
        self._threads: set[threading.Thread] = set()

    # -- the driver's thread ------------------------------------------------------------

    def run(self, command: RunTool) -> None:
        """Begin a call."""
        call = _Call(command, self._emit)
        with self._lock:
            full = self._at_once[command.name] >= AT_ONCE
            if not full:
                self._at_once[command.name] += 1
                self._calls[command.turn, command.call] = call
                thread = threading.Thread(
                    target=self._work, args=(call,), name=f"tool-{command.name}"[:15], daemon=True
                )
                self._threads.add(thread)
        if full:
            busy = {"error": f"{command.name} is still busy with earlier calls"}
            self._tell(call, Outcome(json.dumps(busy)))
        else:
            thread.start()

    def cancel(self, command: CancelTool) -> None:
        """Call one off."""
        with self._lock:
            call = self._calls.get((command.turn, command.call))
        if call is not None:
            call.cancel()

    def stop(self, timeout: float = 2.0) -> None:
        """Call off all of them, and wait a moment for those that listen."""
        with self._lock:
            calls, threads = [*self._calls.values()], [*self._threads]
        for call in calls:
            call.cancel()
        deadline = time.monotonic() + timeout
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    # -- a thread of its own ----------------------------------------------------------------

    def _work(self, call: _Call) -> None:
        command = call.command
        try:
            outcome = self._toolbox.run(command.name, command.arguments, call)
        finally:
            with self._lock:
                self._at_once[command.name] -= 1
                self._calls.pop((command.turn, command.call), None)
                self._threads.discard(threading.current_thread())
        self._tell(call, outcome)

    def _tell(self, call: _Call, outcome: Outcome) -> None:
        """Hand the result over; of a call that was called off nobody wants one."""
        if call.cancelled():
            return
        command = call.command
        self._emit(
            ToolDone(time.monotonic(), command.turn, command.call, outcome.result, outcome.spoken)
        )
        if outcome.then is not None:
            self._emit(outcome.then)
