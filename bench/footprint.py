"""What the daemon costs while it waits for the wake word, and how soon it is ready.

The daemon runs as a service does, on a virtual sound card on which nobody speaks; memory and
processor time are those of its whole process.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.rows import Row, row
from tests.virtual_card import VirtualCard, virtual_card

STARTS = 5
SAMPLES = 20
SETTLE_S = 5.0
"""After READY: the first breaths are not what idling costs."""

_MEMORY_MB = 520
_CPU_PERCENT = 12
_READY_S = 6
_TICK = os.sysconf("SC_CLK_TCK")


def rows() -> list[Row]:
    """The figures of the suite; takes about two minutes."""
    ready, memory, processor = [], [], []
    with virtual_card() as card:
        with _daemon(card):
            pass  # the files are in memory from now on: the starts are warm
        for _ in range(STARTS):
            with _daemon(card) as (process, seconds):
                ready.append(seconds)
                time.sleep(SETTLE_S)
                for _ in range(SAMPLES // STARTS):
                    processor.append(_cpu_percent(process.pid))
                    memory.append(_resident_mb(process.pid))
    return [
        _row("resident memory, idle", "MB", memory, _MEMORY_MB),
        _row("processor, idle", "% of a core", processor, _CPU_PERCENT),
        _row("start to READY, warm", "s", ready, _READY_S),
    ]


def _row(metric: str, unit: str, values: list[float], limit: float) -> Row:
    figure = row("footprint", metric, unit, values, target=f"p50 <= {limit}")
    return figure | {"holds": figure["p50"] <= limit}


@contextmanager
def _daemon(card: VirtualCard) -> Iterator[tuple[subprocess.Popen[bytes], float]]:
    """A running daemon, and the seconds from its start to READY."""
    with (
        TemporaryDirectory() as directory,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard,
    ):
        heard.bind(f"{directory}/notify")
        config = Path(directory, "edgevoice.yaml")
        config.write_text("gpio: {enabled: 'off'}\n")
        began = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "edgevoice", "run", "--config", str(config)],
            env=os.environ | card.environment | {"NOTIFY_SOCKET": f"{directory}/notify"},
            stderr=subprocess.DEVNULL,
        )
        heard.settimeout(120)
        while heard.recv(4096) != b"READY=1":
            pass
        try:
            yield process, time.monotonic() - began
        finally:
            process.terminate()
            process.wait()


def _resident_mb(pid: int) -> float:
    (line,) = (
        line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmRSS" in line
    )
    return int(line.split()[1]) / 1024


def _cpu_percent(pid: int, seconds: float = 2.0) -> float:
    began, before = time.monotonic(), _cpu_ticks(pid)
    time.sleep(seconds)
    spent = (_cpu_ticks(pid) - before) / _TICK
    return 100 * spent / (time.monotonic() - began)


def _cpu_ticks(pid: int) -> int:
    """User and system time; the name in parentheses before them may hold spaces."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
