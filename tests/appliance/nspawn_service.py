"""The shipped unit under a real systemd: the daemon with all its engines, hardened.

Not collected by default: ``pytest tests/appliance/nspawn_service.py``, as make test-appliance does.
The sound card is a virtual one outside of the container, reached through its socket.
"""

import json
import sys
import time
from pathlib import Path

import pytest

from edgevoice.models.paths import models_directory
from tests.adapters.engines import model
from tests.appliance.nspawn import Machine, machine, missing
from tests.patience import until
from tests.virtual_card import missing as missing_card
from tests.virtual_card import virtual_card

pytestmark = [pytest.mark.engines, pytest.mark.audio, pytest.mark.systemd]

HOUSE = Path(__file__).parents[2]
SYSTEMD = HOUSE / "systemd"
UNIT = "edgevoice.service"
CONFIG = "/etc/edgevoice/edgevoice.yaml"
WATCHDOG_S = 8

# Unlike on a device: where Python, models and the sound card are, and shorter waits.
HERE = f"""
[Unit]
StartLimitIntervalSec=0
[Service]
ExecStart=
ExecStart=/opt/python/bin/python3 -m edgevoice run
WorkingDirectory=/opt/house
Environment=PYTHONPATH=/opt/packages:/opt/house PYTHONDONTWRITEBYTECODE=1
Environment=EDGEVOICE_MODELS=/opt/models
Environment=ALSA_CONFIG_PATH=/opt/card/asound.conf PULSE_SERVER=unix:/opt/card/socket
Environment=PULSE_COOKIE=/run/edgevoice/cookie PULSE_RUNTIME_PATH=/run/edgevoice
Environment=PULSE_STATE_PATH=/run/edgevoice PULSE_CONFIG_PATH=/run/edgevoice
WatchdogSec={WATCHDOG_S}
RestartSec=1
"""


@pytest.fixture(scope="module")
def appliance(tmp_path_factory):
    for lack in (missing(), missing_card()):
        if lack:
            pytest.skip(lack)
    model("smollm2-135m-instruct-q4_1", "llm")
    directory = tmp_path_factory.mktemp("machine")
    packages = Path(sys.modules["numpy"].__file__).parents[1]
    with virtual_card() as card:
        home = Path(card.environment["PULSE_SERVER"].removeprefix("unix:")).parent
        home.chmod(0o755)
        binds = {
            Path(sys.base_prefix).resolve(): "/opt/python",
            packages: "/opt/packages",
            HOUSE: "/opt/house",
            models_directory(): "/opt/models",
            home: "/opt/card",
        }
        with machine(binds, directory / "console") as running:
            install(running)
            yield running


def install(machine: Machine) -> None:
    for kind, program in (("sysusers.d", "systemd-sysusers"), ("tmpfiles.d", "systemd-tmpfiles")):
        machine.write(
            f"/usr/lib/{kind}/edgevoice.conf", (SYSTEMD / kind / "edgevoice.conf").read_text()
        )
        options = ["--create"] if kind == "tmpfiles.d" else []
        done = machine.run(program, *options, f"/usr/lib/{kind}/edgevoice.conf")
        assert done.returncode == 0, done.stderr
    machine.write(f"/etc/systemd/system/{UNIT}", (SYSTEMD / UNIT).read_text())
    version = int(machine.run("systemctl", "--version").stdout.split()[1])
    if version < 253:
        drop_in = SYSTEMD / f"{UNIT}.d" / "before-253.conf"
        machine.write(f"/etc/systemd/system/{UNIT}.d/before-253.conf", drop_in.read_text())
    machine.write(f"/etc/systemd/system/{UNIT}.d/here.conf", HERE)
    machine.write(CONFIG, "gpio: {enabled: 'off'}\n")
    machine.run("systemctl", "daemon-reload")


def journal(machine: Machine, *matches: str) -> list[dict[str, str]]:
    machine.run("journalctl", "--sync")
    done = machine.run("journalctl", "--unit", UNIT, "--output=json", *matches)
    return [json.loads(line) for line in done.stdout.splitlines()]


def told(machine: Machine) -> str:
    return "\n".join(str(entry.get("MESSAGE")) for entry in journal(machine))


def started(machine: Machine) -> None:
    machine.run("systemctl", "reset-failed", UNIT)
    done = machine.run("systemctl", "start", UNIT)
    assert done.returncode == 0, told(machine)


def state(machine: Machine) -> dict[str, str]:
    names = ("ActiveState", "SubState", "StatusText", "MainPID", "NRestarts", "Result", "Type",
             "ExecMainStatus")  # fmt: skip
    return machine.show(UNIT, *names)


def test_it_is_active_when_it_listens(appliance):
    started(appliance)
    now = state(appliance)
    assert now["ActiveState"] == "active", told(appliance)
    until(lambda: state(appliance)["StatusText"] == "○ Ready")
    assert [entry["EDGEVOICE_FROM"] for entry in journal(appliance, "EDGEVOICE_STATE=idle")]


def test_it_runs_with_no_privilege(appliance):
    pid = state(appliance)["MainPID"]
    status = appliance.run("cat", f"/proc/{pid}/status").stdout
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert (fields["CapEff"], fields["NoNewPrivs"], fields["Seccomp"]) == ("0" * 16, "1", "2")
    owner = appliance.run("stat", "-c", "%U", f"/proc/{pid}").stdout
    assert owner.strip() == "edgevoice"
    shared = appliance.run("stat", "-c", "%a %U %G", "/run/edgevoice").stdout
    assert shared.strip() == "750 edgevoice edgevoice"


def test_a_reload_is_in_force_and_the_process_the_same(appliance):
    before = state(appliance)["MainPID"]
    appliance.write(CONFIG, "gpio: {enabled: 'off'}\naudio: {volume: 30}\n")
    assert appliance.run("systemctl", "reload", UNIT).returncode == 0
    until(lambda: "in force: audio.volume" in told(appliance))
    assert state(appliance)["MainPID"] == before
    until(lambda: state(appliance)["SubState"] == "running")


def test_a_bad_reload_is_refused_with_the_line_and_it_runs_on(appliance):
    before = state(appliance)["MainPID"]
    appliance.write(CONFIG, "gpio: {enabled: 'off'}\naudio: {volume: loud}\n")
    appliance.run("systemctl", "reload", UNIT)
    until(lambda: f"refused: {CONFIG}:2: audio.volume" in told(appliance))
    refused = [e for e in journal(appliance, "PRIORITY=3") if "refused" in e["MESSAGE"]]
    assert refused
    assert state(appliance)["MainPID"] == before
    appliance.write(CONFIG, "gpio: {enabled: 'off'}\n")


def test_the_watchdog_ends_a_stopped_process_and_it_starts_again(appliance):
    before = state(appliance)["MainPID"]
    appliance.run("kill", "-STOP", before)
    began = time.monotonic()
    until(lambda: state(appliance)["NRestarts"] == "1")
    assert time.monotonic() - began >= WATCHDOG_S / 2
    until(lambda: state(appliance)["StatusText"] == "○ Ready")
    assert state(appliance)["MainPID"] not in (before, "0")
    manager = appliance.run("journalctl", "--unit", UNIT, "--output=cat").stdout
    assert "Watchdog timeout" in manager


def test_it_stops_within_five_seconds(appliance):
    began = time.monotonic()
    assert appliance.run("systemctl", "stop", UNIT).returncode == 0
    took = time.monotonic() - began
    now = state(appliance)
    assert (now["ActiveState"], now["Result"]) == ("inactive", "success"), told(appliance)
    assert took < 5.0
    assert journal(appliance, "EDGEVOICE_STATE=terminating", "EDGEVOICE_CAUSE=shutdown")


def test_a_broken_configuration_is_not_started_again(appliance):
    appliance.write(CONFIG, "audio: {volume: loud}\n")
    restarts = state(appliance)["NRestarts"]
    assert appliance.run("systemctl", "start", UNIT).returncode != 0
    time.sleep(2.5)  # RestartSec, and more
    now = state(appliance)
    assert (now["ActiveState"], now["ExecMainStatus"]) == ("failed", "78")
    assert now["NRestarts"] in ("0", restarts)
    assert f"{CONFIG}:1: audio.volume" in told(appliance)


def test_nothing_it_tells_is_a_trace(appliance):
    assert "Traceback" not in told(appliance)
