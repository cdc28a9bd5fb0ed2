"""What the daemon tells the service manager, and what it makes of its signals.

The daemon is the real one on a virtual card; the test is its service manager.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from edgevoice.errors import ConfigError
from tests.adapters.engines import model
from tests.patience import until
from tests.virtual_card import missing, virtual_card

pytestmark = [pytest.mark.engines, pytest.mark.audio, pytest.mark.systemd]

WATCHDOG_S = 4.0


class Manager:
    """Starts the daemon and hears its notifications."""

    def __init__(self, directory, card):
        self.config = directory / "edgevoice.yaml"
        self.config.write_text("gpio: {enabled: 'off'}\n")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(directory / "notify"))
        self.heard, self.log = [], []
        environment = os.environ | card.environment
        environment["NOTIFY_SOCKET"] = str(directory / "notify")
        environment["WATCHDOG_USEC"] = str(round(WATCHDOG_S * 1e6))
        self.daemon = subprocess.Popen(
            [sys.executable, "-m", "edgevoice", "run", "--config", str(self.config)],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for work in (self._hear, self._read):
            threading.Thread(target=work, daemon=True).start()

    def _hear(self):
        while True:
            self.heard.append(self.socket.recv(4096).decode())

    def _read(self):
        self.log.extend(self.daemon.stderr)

    def wait_for(self, line, count=1):
        """Until so many notifications had this line."""
        until(lambda: self._count(line) >= count or self.daemon.poll() is not None)
        assert self.daemon.poll() is None, "".join(self.log)

    def _count(self, line):
        return sum(line in message.splitlines() for message in self.heard)

    def reload(self, text):
        """Change the configuration; the log lines that came of it."""
        self.config.write_text(text)
        told, before = len(self.log), self._count("READY=1")
        self.daemon.send_signal(signal.SIGHUP)
        self.wait_for("READY=1", before + 1)
        until(lambda: any("configuration" in line for line in self.log[told:]))
        return "".join(self.log[told:])


@pytest.fixture(scope="module")
def card():
    if packages := missing():
        pytest.skip(f"no virtual sound card: apt install {packages}")
    model("smollm2-135m-instruct-q4_1", "llm")
    with virtual_card() as card:
        yield card


@pytest.fixture(scope="module")
def manager(card, tmp_path_factory):
    manager = Manager(tmp_path_factory.mktemp("service"), card)
    manager.wait_for("READY=1")
    yield manager
    manager.daemon.kill()
    manager.daemon.wait()


def test_it_is_ready_when_the_core_has_heard_and_moved(manager):
    before_ready = manager.heard[: manager.heard.index("READY=1")]
    assert not [message for message in before_ready if "WATCHDOG" in message]
    manager.wait_for("STATUS=○ Ready")


def test_it_feeds_the_watchdog(manager):
    manager.wait_for("WATCHDOG=1", manager._count("WATCHDOG=1") + 2)


def test_a_reload_says_what_is_in_force_and_what_is_not(manager):
    log = manager.reload(
        "gpio: {enabled: 'off'}\naudio: {volume: 50, period_ms: 20}\ntts: {length_scale: 1.2}\n"
    )
    assert "in force: audio.volume; as soon as nobody talks: tts.length_scale; " in log
    assert "after a restart: audio.period_ms" in log
    until(lambda: any("speak has the engine of the new" in line for line in manager.log))
    reloading = next(message for message in manager.heard if message.startswith("RELOADING=1"))
    asked_at = int(reloading.splitlines()[1].removeprefix("MONOTONIC_USEC=")) / 1e6
    assert 0 <= time.monotonic() - asked_at < 300


def test_a_broken_configuration_is_refused_with_its_line_and_it_runs_on(manager):
    log = manager.reload("gpio: {enabled: 'off'}\naudio: {volume: loud}\n")
    assert "refused" in log
    assert f"{manager.config}:2: audio.volume" in log
    manager.wait_for("WATCHDOG=1", manager._count("WATCHDOG=1") + 1)


def test_a_model_that_is_missing_is_refused_before_anything_changes(manager):
    log = manager.reload("gpio: {enabled: 'off'}\nllm: {model: /no/such.gguf}\n")
    assert "refused" in log
    assert "/no/such.gguf" in log


def test_a_pulled_cable_is_no_reason_to_starve_the_watchdog(manager, card):
    card.unplug()
    manager.wait_for("STATUS=↻ Recovering")
    manager.wait_for("WATCHDOG=1", manager._count("WATCHDOG=1") + 3)


def test_it_ends_when_it_is_told_to(manager):
    manager.daemon.send_signal(signal.SIGTERM)
    assert manager.daemon.wait(timeout=20) == 0, "".join(manager.log)
    assert "STOPPING=1" in manager.heard
    assert "Traceback" not in "".join(manager.log)


def test_a_broken_configuration_at_the_start_has_an_exit_status_of_its_own(tmp_path):
    config = tmp_path / "edgevoice.yaml"
    config.write_text("audio: {volume: loud}\n")
    done = subprocess.run(
        [sys.executable, "-m", "edgevoice", "run", "--config", str(config)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == ConfigError.status
    assert done.stderr.startswith(f"edgevoice: {config}:1: audio.volume")
