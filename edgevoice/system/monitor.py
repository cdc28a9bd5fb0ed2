"""The live view of the daemon: a screen on a terminal, else a line for each event.

Plain ANSI sequences and no library: a terminal knows how to clear a line, and the command
must start at once on a small machine.
"""

from __future__ import annotations

import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TextIO

from edgevoice.system.client import Client
from edgevoice.system.protocol import EVENTS, Message
from edgevoice.system.view import (
    duration,
    meter,
    metrics_lines,
    place,
    printable,
    status_lines,
    turn_table,
)

_DRAW_S = 0.08
"""Between two drawings: as often as levels come, and no busier when everything happens."""
_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
"""The alternate screen without a cursor, and back."""
_HOME, _CLEAR_LINE, _CLEAR_REST = "\x1b[H", "\x1b[K", "\x1b[J"


@dataclass
class Picture:
    """What is known by now, for one screen."""

    version: str
    metrics: dict[str, Any]
    turns: deque[dict[str, Any]]
    state: dict[str, Any] = field(default_factory=dict)
    since: float = 0.0
    """When the state began, on this machine's monotonic clock."""
    moves: deque[str] = field(default_factory=lambda: deque(maxlen=50))
    levels: dict[str, float] = field(default_factory=dict)
    words: str = ""

    def take(self, message: Message) -> None:
        """Something happened."""
        payload = message["payload"]
        match message["type"]:
            case "state":
                self._move(payload)
            case "turn" if "latenciesMs" in payload:
                outcome = payload["event"].removeprefix("turn-")
                self.turns.append({**payload, "outcome": outcome})
            case "partial":
                self.words = payload["text"]
            case "levels":
                self.levels = payload

    def _move(self, state: dict[str, Any]) -> None:
        if self.state:
            stayed = duration((time.monotonic() - self.since) * 1000)
            self.moves.append(f"{place(self.state):30} {stayed:>12}   {state['metadata']['cause']}")
        self.state, self.since = state, time.monotonic()

    def lines(self, width: int, height: int) -> list[str]:
        """The screen, no larger than that."""
        bars = max(20, width - 14)
        now = duration((time.monotonic() - self.since) * 1000)
        head = [
            f"edgevoice {self.version}",
            f"{self.state['localizedLabel']}  {place(self.state)}  {now}  {self.state['turnId']}",
            "",
            *(f"{name:12} {meter(self.levels.get(key, 0.0), bars)}" for name, key in _METERS),
            printable(self.words, width),
        ]
        foot = ["", *metrics_lines(self.metrics), "Ctrl-C ends this view"]
        room = max(0, height - len(head) - len(foot))
        body = self._body(room)
        return [line[:width] for line in [*head, *body, *foot]][:height]

    def _body(self, room: int) -> list[str]:
        """Half of the room for the newest turns, the rest for the newest moves."""
        table = turn_table(list(self.turns)[-max(1, room // 2 - 3) :])
        moves = list(self.moves)[-max(0, room - len(table) - 1) :] if room > len(table) + 1 else []
        return ["", *table, *moves][:room]


_METERS = (("microphone", "microphone"), ("echo-free", "cancelled"), ("speaker", "speaker"))


def watch(daemon: Client, terminal: TextIO) -> None:
    """Draw until Ctrl-C, and leave the terminal as it was."""
    picture = _picture(daemon)
    drawn = 0.0
    try:
        with _screen(terminal):
            for message in daemon.events(EVENTS):
                picture.take(message)
                if "latenciesMs" in message["payload"]:
                    picture.metrics = daemon.request("status")["metrics"]
                if time.monotonic() - drawn >= _DRAW_S:
                    drawn = time.monotonic()
                    _draw(picture, terminal)
    except KeyboardInterrupt:
        return


def follow(daemon: Client, tell: Callable[[str], object]) -> None:
    """A line for each event until Ctrl-C; first the status."""
    try:
        for line in status_lines(daemon.request("status")):
            tell(line)
        for message in daemon.events([kind for kind in EVENTS if kind != "levels"]):
            tell(line_of(message))
    except KeyboardInterrupt:
        return


def line_of(message: Message) -> str:
    """An event in one line."""
    payload = message["payload"]
    match message["type"]:
        case "state":
            cause = payload["metadata"]["cause"]
            return f"{payload['since']}  {place(payload)}  {cause}  {payload['turnId']}"
        case "turn":
            known = payload.get("latenciesMs", {})
            figures = "  ".join(f"{name} {value:.0f} ms" for name, value in known.items())
            return f"{payload['event']}  {payload['turnId']}  {payload['role']}  {figures}".rstrip()
        case "partial":
            return f"heard  {payload['turnId']}  {printable(payload['text'], 1000)}"
        case other:
            return str(other)


def _picture(daemon: Client) -> Picture:
    status = daemon.request("status")
    turns = deque(status["turns"], maxlen=20)
    return Picture(daemon.hello["version"], status["metrics"], turns)


def _draw(picture: Picture, terminal: TextIO) -> None:
    try:
        size = os.get_terminal_size(terminal.fileno())
    except OSError:
        size = os.terminal_size((80, 24))
    lines = picture.lines(size.columns - 1, size.lines - 1)
    terminal.write(_HOME + "".join(f"{line}{_CLEAR_LINE}\r\n" for line in lines) + _CLEAR_REST)
    terminal.flush()


@contextmanager
def _screen(terminal: TextIO) -> Iterator[None]:
    def end(*_: object) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    terminal.write(_ENTER)
    try:
        yield
    finally:
        terminal.write(_LEAVE)
        terminal.flush()
