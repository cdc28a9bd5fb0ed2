"""The installed service on a real kernel, under a real systemd, on a sound card and on pins.

The checks stand in the order in which they are made: one machine lives through all of them.
Seconds in the scripts are the machine's own, which no load of the host stretches.
"""

from __future__ import annotations

import json
import wave
from pathlib import Path

import numpy as np
import pytest

from tests.appliance.machine import Machine

pytestmark = [pytest.mark.appliance, pytest.mark.timeout(1800)]

BUTTON, RED, GREEN, BLUE = 17, 22, 23, 24

HELPERS = """
lines=$(echo /sys/devices/platform/gpio-sim.0/gpiochip*)
press() { echo pull-down >"$lines/sim_gpio17/pull"; }
release() { echo pull-up >"$lines/sim_gpio17/pull"; }
lamp() { cat "$lines"/sim_gpio{22,23,24}/value | tr -d '\\n'; }
pid() { systemctl show --property=MainPID --value edgevoice; }
place() { journalctl --unit=edgevoice --output=json --output-fields=EDGEVOICE_PLACE --reverse \
    EDGEVOICE_PLACE=$1 --lines=1 "${@:2}"; }
# within SECONDS COMMAND...: until it succeeds.
within() {
    local end=$(($(date +%s%N) + $1 * 1000000000)); shift
    until "$@"; do (($(date +%s%N) < end)) || { echo "not in time: $*"; return 1; }; sleep 0.1; done
}
# reached PLACE: whether the latest transition went there.
reached() { [[ $(journalctl --unit=edgevoice --output=cat --reverse --grep=→ --lines=1 |
    sed 's/.*→ \\([a-z_.]*\\).*/\\1/') == "$1" ]]; }
shows() { [[ $(lamp) == "$1" ]]; }
"""


def guest(machine: Machine, script: str) -> str:
    """What ``script`` prints, with the helpers at hand."""
    return machine.run(HELPERS + script).output


def journal(machine: Machine, *matches: str) -> list[dict[str, str]]:
    """Entries of the service's journal."""
    lines = machine.run(f"journalctl -u edgevoice -o json {' '.join(matches)}").output
    return [json.loads(line) for line in lines.splitlines()]


def test_the_service_starts_at_boot(machine: Machine) -> None:
    guest(machine, "within 90 systemctl --quiet is-active edgevoice; within 5 reached idle")
    assert machine.run("systemctl is-enabled edgevoice").output == "enabled\n"


def test_it_runs_as_its_own_user_with_nothing_to_gain(machine: Machine) -> None:
    status = guest(machine, "cat /proc/$(pid)/status; stat -c 'User: %U' /proc/$(pid)")
    facts = dict(line.split(":", 1) for line in status.splitlines())
    assert facts["User"].strip() == "edgevoice"
    assert facts["NoNewPrivs"].strip() == "1"
    assert facts["Seccomp"].strip() == "2"
    assert int(facts["CapEff"], 16) == 0


def test_the_owners_configuration_was_kept(machine: Machine) -> None:
    ours = Path(__file__).with_name("guest") / "edgevoice.yaml"
    assert machine.run("cat /etc/edgevoice/edgevoice.yaml").output == ours.read_text()


def test_it_is_on_the_path(machine: Machine) -> None:
    assert "is right" in machine.run("edgevoice config check 2>&1").output


@pytest.fixture(scope="module")
def answer(machine: Machine) -> dict[str, object]:
    """Asks through the card; what was recorded of the answer, and the lamp over time."""
    script = """
    arecord --quiet -D plughw:0,0 -f S16_LE -r 16000 -c 1 -d 30 /run/answer.wav & recorder=$!
    (while sleep 0.05; do lamp; echo; done >/run/lamp) & watcher=$!
    sleep 1
    aplay --quiet -D plughw:0,0 /run/question.wav
    within 40 place speaking.playing >/dev/null
    within 40 place listening --since=-2s >/dev/null
    kill $watcher
    wait $recorder
    cp /run/answer.wav /run/lamp /mnt/host/
    """
    guest(machine, script)
    with wave.open(str(machine.share / "answer.wav")) as file:
        sound = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    return {"sound": sound, "lamp": (machine.share / "lamp").read_text().split()}
