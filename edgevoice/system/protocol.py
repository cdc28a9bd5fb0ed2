"""The language of the control socket: JSON objects, one on each line.

Pure: bytes in, messages out.  A client sends requests (`Request`), the daemon
sends messages: an object with a ``type``, a ``payload`` and, when it answers a
request that had one, its ``id``.  docs/control.md describes every message.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

VERSION = 1
"""Raised when an old client would misunderstand; new fields and events do not raise it."""

MAX_LINE = 65_536
"""Bytes of a request, with its line end.  The longest text is far shorter."""

MAX_TEXT = 4_000
"""Characters to say or to ask at once: some five minutes of speech."""

EVENTS = ("state", "turn", "partial", "levels")
"""What may be subscribed to."""

Message: TypeAlias = dict[str, Any]
Id: TypeAlias = str | int | None


class ProtocolError(Exception):
    """A request that cannot be carried out; ``code`` is for programs, the text for people."""

    def __init__(self, code: str, text: str, request: Id = None) -> None:
        super().__init__(text)
        self.code = code
        self.request = request


@dataclass(frozen=True, slots=True)
class Argument:
    """What a command may be told beside its name; ``type`` is the JSON value's."""

    type: type
    required: bool = False


_TEXT = {"text": Argument(str, required=True), "wait": Argument(bool)}

COMMANDS: Mapping[str, Mapping[str, Argument]] = MappingProxyType(
    {
        "start": {},
        "stop": {},
        "interrupt": {},
        "mute": {},
        "unmute": {},
        "say": _TEXT,
        "ask": _TEXT,
        "suspend": {"reason": Argument(str)},
        "resume": {},
        "reload": {},
        "snapshot": {},
        "status": {},
        "subscribe": {"events": Argument(list)},
    }
)
"""Every command and its arguments."""


@dataclass(frozen=True, slots=True)
class Request:
    """One well-formed request: a known command with arguments that are its own."""

    command: str
    arguments: Mapping[str, Any]
    id: Id = None

    @property
    def text(self) -> str:
        """The argument of that name."""
        return str(self.arguments["text"])

    @property
    def wait(self) -> bool:
        """Whether the answer is wanted when all is done, not when it is accepted."""
        return bool(self.arguments.get("wait", False))


# -- lines ------------------------------------------------------------------------------


class Lines:
    """Cuts a stream of bytes into lines, whatever comes; keeps `MAX_LINE` bytes at most."""

    def __init__(self) -> None:
        self._begun = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """Yield each line that is now complete, without its end, and None for one too long."""
        *complete, rest = data.split(b"\n")
        for part in complete:
            if not self._skipping and self._fits(part):
                yield bytes(self._begun + part)
            elif not self._skipping:
                yield None
            self._skipping = False
            self._begun.clear()
        yield from self._keep(rest)

    def _keep(self, rest: bytes) -> Iterator[None]:
        if self._skipping:
            return
        if self._fits(rest):
            self._begun += rest
            return
        self._skipping = True
        self._begun.clear()
        yield None

    def _fits(self, part: bytes) -> bool:
        return len(self._begun) + len(part) < MAX_LINE


def encode(message: Message) -> bytes:
    """A message as a line; ASCII, so that no text can break it."""
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


# -- requests ---------------------------------------------------------------------------


def parse(line: bytes | None) -> Request:
    """The request in a line of `Lines`; raises `ProtocolError`, which says what is wrong."""
    entry = _object(line)
    request = _id(entry)
    try:
        return _request(entry, request)
    except ProtocolError as error:
        error.request = request
        raise


def _object(line: bytes | None) -> Message:
    if line is None:
        raise ProtocolError("too_long", f"a request has fewer than {MAX_LINE} bytes")
    try:
        entry = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", None) or type(error).__name__
        raise ProtocolError("malformed", f"not a line of JSON in UTF-8 ({reason})") from None
    if not isinstance(entry, dict):
        raise ProtocolError("malformed", 'not a JSON object such as {"command": "status"}')
    return entry


def _id(entry: Message) -> Id:
    value: Id = entry.pop("id", None)
    is_id = value is None or type(value) is int or (type(value) is str and len(value) <= 100)
    if not is_id:
        raise ProtocolError("malformed", "an id is a whole number or a text of 100 characters")
    return value


def _request(entry: Message, request: Id) -> Request:
    command = entry.pop("command", None)
    known = COMMANDS.get(command) if isinstance(command, str) else None
    if known is None:
        raise ProtocolError("unknown_command", f"command is one of {', '.join(COMMANDS)}")
    for name, value in entry.items():
        _check(command, known, name, value)
    for name, argument in known.items():
        if argument.required and name not in entry:
            raise ProtocolError("argument", f"{command} needs {name}")
    return Request(command, MappingProxyType(entry), request)


def _check(command: str, known: Mapping[str, Argument], name: str, value: Any) -> None:
    argument = known.get(name)
    if argument is None:
        takes = f"takes only {', '.join(known)}" if known else "takes no arguments"
        raise ProtocolError("argument", f"{command} {takes}, not {name!r:.60}")
    if type(value) is not argument.type:
        raise ProtocolError("argument", f"{name} of {command} is no {_JSON[argument.type]}")
    if isinstance(value, str):
        _check_text(command, name, value)
    elif isinstance(value, list) and not all(event in EVENTS for event in value):
        raise ProtocolError("argument", f"{name} is a list of any of {', '.join(EVENTS)}")


_JSON = {str: "text", bool: "true or false", list: "list"}


def _check_text(command: str, name: str, value: str) -> None:
    if not value.strip():
        raise ProtocolError("argument", f"{name} of {command} is empty")
    if len(value) > MAX_TEXT:
        raise ProtocolError("argument", f"{name} of {command} exceeds {MAX_TEXT} characters")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:  # JSON can spell half a surrogate pair; no engine can
        raise ProtocolError("argument", f"{name} of {command} is no Unicode text") from None


# -- messages ---------------------------------------------------------------------------


def hello(version: str) -> Message:
    """The first line of a connection."""
    payload = {"product": "edgevoice", "version": version, "protocol": VERSION}
    return {"type": "hello", "payload": payload}


def event(kind: str, payload: Message) -> Message:
    """Something happened: one of `EVENTS`."""
    return {"type": kind, "payload": payload}


def reply(request: Id, payload: Message) -> Message:
    """A request was carried out."""
    return {"type": "reply", "id": request, "payload": payload}


def refusal(error: ProtocolError) -> Message:
    """A request was not carried out."""
    payload = {"code": error.code, "message": str(error)}
    return {"type": "error", "id": error.request, "payload": payload}
