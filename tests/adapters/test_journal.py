from __future__ import annotations

import json
import logging
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from edgevoice.adapters import journal
from edgevoice.core.commands import Transition, TurnRecord
from edgevoice.core.table import Cause, Place

MOVED = Transition(1.0, Place.IDLE, Place.LISTENING, Cause.WAKE_DETECTED, 7)
SECRET = "swordfish"
TURN = TurnRecord(
    turn=7,
    at=2.0,
    heard=SECRET,
    answered=SECRET,
    played=SECRET,
    interrupted=True,
    eot_ms=450.04,
    response_ms=611.0,
    llm_first_token_ms=None,
    tts_first_audio_ms=20.0,
    onset_to_decision_ms=64.0,
    decision_to_silence_ms=22.5,
    commit_to_listening_ms=50.0,
    holds=1,
    drafts=2,
    wasted_tokens=9,
)
TURN_FIELDS = {
    "EDGEVOICE_TURN": "7",
    "EDGEVOICE_EOT_MS": "450.0",
    "EDGEVOICE_RESPONSE_MS": "611.0",
    "EDGEVOICE_TTS_FIRST_AUDIO_MS": "20.0",
    "EDGEVOICE_BARGE_IN_MS": "86.5",
}


@contextmanager
def logged() -> Iterator[None]:
    """Log as the daemon does while this lasts."""
    logger, handler = logging.getLogger("edgevoice"), journal.journal_handler()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield
    logger.removeHandler(handler)
    logger.setLevel(before)


def test_fields_are_readable_without_a_journal(capsys: pytest.CaptureFixture[str]) -> None:
    with logged():
        journal.log_transition(MOVED)
    assert capsys.readouterr().err == (
        "INFO edgevoice: idle → listening (wake.detected) EDGEVOICE_STATE=listening "
        "EDGEVOICE_PLACE=listening EDGEVOICE_FROM=idle EDGEVOICE_CAUSE=wake.detected "
        "EDGEVOICE_TURN=7\n"
    )


def test_a_turn_has_numbers_and_no_words(capsys: pytest.CaptureFixture[str]) -> None:
    with logged():
        journal.log_turn(TURN)
    line = capsys.readouterr().err
    assert line.startswith("INFO edgevoice: turn 7 was interrupted ")
    assert dict(word.split("=") for word in line.split() if "=" in word) == TURN_FIELDS
    assert SECRET not in line


def test_another_stream_than_standard_error_is_no_journal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here = tmp_path.stat()
    monkeypatch.setenv("JOURNAL_STREAM", f"{here.st_dev}:{here.st_ino}")
    assert isinstance(journal.journal_handler(), logging.StreamHandler)


def test_notify(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        assert journal.notify("READY=1\nSTATUS=Listening")
        assert manager.recv(100) == b"READY=1\nSTATUS=Listening"


def test_notify_without_a_service_manager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    assert not journal.notify("WATCHDOG=1")


JOURNALD = "/lib/systemd/systemd-journald"

IN_ITS_OWN_NAMESPACES = f"""
set -e
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/journal /run/log/journal
mount -t tmpfs tmpfs /var/log
tr -d '-' < /proc/sys/kernel/random/uuid > /run/machine-id
mount --bind /run/machine-id /etc/machine-id
{JOURNALD} &
for _ in $(seq 200); do [ -S /run/systemd/journal/stdout ] && break; sleep 0.02; done
# systemd-cat leaves out the variable that the service manager sets.
systemd-cat bash -c 'JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec "$@"' stderr "$@"
journalctl --sync
journalctl --no-pager --output=json SYSLOG_IDENTIFIER=edgevoice
"""

PROGRAM = """
import logging
from edgevoice.adapters import journal
from tests.adapters.test_journal import MOVED, TURN

logging.basicConfig(level=logging.INFO, handlers=[journal.journal_handler()])
journal.log_transition(MOVED)
journal.log_turn(TURN)
"""


def why_no_journald() -> str:
    if not Path(JOURNALD).exists() or shutil.which("unshare") is None:
        return "systemd-journald or unshare is not installed"
    attempt = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "mount", "-t", "tmpfs"]
    mounted = subprocess.run([*attempt, "none", "/run"], capture_output=True, check=False)
    return "" if mounted.returncode == 0 else "namespaces of one's own need root"


@pytest.mark.systemd
def test_fields_in_a_real_journal() -> None:
    if reason := why_no_journald():
        pytest.skip(reason)
    unshare = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "bash", "-c"]
    done = subprocess.run(
        [*unshare, IN_ITS_OWN_NAMESPACES, "journald", sys.executable, "-c", PROGRAM],
        env=os.environ | {"PYTHONPATH": os.getcwd(), "SYSTEMD_COLORS": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    moved, turn = map(json.loads, done.stdout.splitlines())
    assert moved["MESSAGE"] == "idle → listening (wake.detected)"
    assert moved["EDGEVOICE_STATE"] == "listening"
    assert moved["EDGEVOICE_FROM"] == "idle"
    assert moved["EDGEVOICE_CAUSE"] == "wake.detected"
    assert moved["CODE_FUNC"] == "log_transition"
    assert {name: turn[name] for name in TURN_FIELDS} == TURN_FIELDS
    assert "EDGEVOICE_LLM_FIRST_TOKEN_MS" not in turn
    assert SECRET not in done.stdout
