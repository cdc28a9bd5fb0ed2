"""The system journal and the service manager, through systemd-python.

Everything goes through `logging`; an upper-case name in ``extra`` becomes a
field of the journal, and is appended to the line where there is no journal.

What was said never gets here: of a turn only its numbers are taken.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping

from edgevoice.core.commands import Transition, TurnRecord

_log = logging.getLogger("edgevoice")


def journal_handler() -> logging.Handler:
    """A handler for the journal if that is where standard error goes, else for standard error."""
    if _stderr_is_the_journal():
        try:
            from systemd.journal import JournalHandler
        except ImportError:  # built without libsystemd: the journal still takes our lines
            pass
        else:
            handler: logging.Handler = JournalHandler(SYSLOG_IDENTIFIER="edgevoice")
            # Else logging.basicConfig() gives it one that repeats the level and the name.
            handler.setFormatter(logging.Formatter())
            return handler
    stderr = logging.StreamHandler()
    stderr.setFormatter(_WithFields("%(levelname)s %(name)s: %(message)s"))
    return stderr


def send(message: str, **fields: object) -> None:
    """Log ``message`` with ``fields``, named without ``EDGEVOICE_``; None is left out."""
    _send(logging.INFO, message, fields)


def warn(what: str, fields: Mapping[str, object]) -> None:
    """Log that something unusual happened, with its circumstances."""
    told = (f"{name}={value}" for name, value in fields.items())
    _send(logging.WARNING, " ".join([what, *told]), fields)


def _send(level: int, message: str, fields: Mapping[str, object]) -> None:
    named = {f"EDGEVOICE_{name.upper()}": value for name, value in fields.items()}
    known = {name: value for name, value in named.items() if value is not None}
    _log.log(level, message, extra=known, stacklevel=3)


def log_transition(moved: Transition) -> None:
    """Log that the conversation moved."""
    send(
        f"{moved.source.value} → {moved.target.value} ({moved.cause.value})",
        state=moved.target.state.value,
        place=moved.target.value,
        **{"from": moved.source.value},
        cause=moved.cause.value,
        turn=moved.turn,
    )


def log_turn(record: TurnRecord) -> None:
    """Log that a turn is over and how long its parts took, in ms; none of its words."""
    send(
        f"turn {record.turn} {'was interrupted' if record.interrupted else 'is over'}",
        turn=record.turn,
        eot_ms=_rounded(record.eot_ms),
        response_ms=_rounded(record.response_ms),
        llm_first_token_ms=_rounded(record.llm_first_token_ms),
        tts_first_audio_ms=_rounded(record.tts_first_audio_ms),
        barge_in_ms=_rounded(_sum(record.onset_to_decision_ms, record.decision_to_silence_ms)),
    )


def notify(state: str) -> bool:
    """Tell the service manager, as in sd_notify(3); whether there is one that was told."""
    if "NOTIFY_SOCKET" not in os.environ:
        return False
    from systemd.daemon import notify as sd_notify

    return bool(sd_notify(state))


def watchdog_s() -> float | None:
    """Seconds within which the service manager wants to be fed, as in sd_watchdog_enabled(3)."""
    mine = os.environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    wanted = os.environ.get("WATCHDOG_USEC", "")
    return int(wanted) / 1e6 if mine and wanted.isdecimal() and int(wanted) else None


class _WithFields(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = [f"{k}={v}" for k, v in vars(record).items() if k.startswith("EDGEVOICE_")]
        return " ".join([super().format(record), *fields])


def _stderr_is_the_journal() -> bool:
    """Whether JOURNAL_STREAM names the file that standard error is, as systemd.exec(5) asks."""
    try:
        there = os.fstat(sys.stderr.fileno())
    except (OSError, ValueError):  # closed, or replaced by something that is no file
        return False
    return os.environ.get("JOURNAL_STREAM") == f"{there.st_dev}:{there.st_ino}"


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second


def _rounded(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else round(milliseconds, 1)
