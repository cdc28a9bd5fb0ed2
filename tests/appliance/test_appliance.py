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

pytestmark = [pytest.mark.appliance, pytest.mark.timeout(7200)]

GUEST = Path(__file__).with_name("guest")
HELPERS = GUEST.with_name("helpers.sh").read_text()
CONFIG = "/etc/edgevoice/edgevoice.yaml"

DARK, BLUE, GREEN = "000", "001", "010"
SPOKEN = ("capital", "france", "seventeen")
"""What is said to it and what it is asked to say, but for its own answers."""


def guest(machine: Machine, script: str) -> str:
    """What ``script`` prints, with the helpers at hand."""
    return machine.run(HELPERS + script).output


def facts(machine: Machine, script: str) -> dict[str, str]:
    """What ``script`` prints as lines of a name, a colon and a value."""
    pairs = (line.split(":", 1) for line in guest(machine, script).splitlines() if ":" in line)
    return {name: value.strip() for name, value in pairs}


def test_the_service_starts_at_boot(machine: Machine) -> None:
    guest(machine, "within 150 is ActiveState active; within 5 reached idle")
    assert machine.run("systemctl is-enabled edgevoice").output == "enabled\n"


def test_it_found_the_pins(machine: Machine) -> None:
    assert "pins" not in guest(machine, "journalctl -u edgevoice -p warning -o cat")


def test_it_runs_as_its_own_user_with_nothing_to_gain(machine: Machine) -> None:
    it = facts(machine, "cat /proc/$(of MainPID)/status; stat -c 'User: %U' /proc/$(of MainPID)")
    assert (it["User"], it["NoNewPrivs"], it["Seccomp"]) == ("edgevoice", "1", "2")
    assert int(it["CapEff"], 16) == 0


def test_no_device_is_open_to_it_but_its_own(machine: Machine) -> None:
    script = """
    for device in /dev/gpiochip0 /dev/snd/controlC0 /dev/pmem0 /dev/hwrng; do
        (echo $BASHPID >/sys/fs/cgroup/system.slice/edgevoice.service/cgroup.procs
         : <$device) 2>/run/refused && echo "$device: open" || echo "$device: refused"
    done
    """
    assert facts(machine, script) == {
        "/dev/gpiochip0": "open",
        "/dev/snd/controlC0": "open",
        "/dev/pmem0": "refused",
        "/dev/hwrng": "refused",
    }


def test_the_owners_configuration_was_kept(machine: Machine) -> None:
    assert machine.run(f"cat {CONFIG}").output == (GUEST / "edgevoice.yaml").read_text()


def test_its_socket_is_for_its_group(machine: Machine) -> None:
    script = """
    stat -c '%n: %a %U %G' /run/edgevoice /run/edgevoice/control.sock
    useradd --groups edgevoice owner
    useradd stranger
    for user in owner stranger; do
        cd / && setpriv --reuid=$user --regid=$user --init-groups edgevoice status >/run/said 2>&1
        echo "$user: $?"
    done
    """
    it = facts(machine, script)
    assert it["/run/edgevoice"] == "750 edgevoice edgevoice"
    assert it["/run/edgevoice/control.sock"] == "660 edgevoice edgevoice"
    assert it["owner"] == "0"
    assert it["stranger"] != "0"


def test_the_button_is_felt_and_the_lamp_shows_it(machine: Machine) -> None:
    script = f"""
    lamp; echo "before: $lit"
    start=$(now_ms); press
    EVERY=0.005 within 5 shows {BLUE}
    echo "ms: $(($(now_ms) - start))"
    within 5 reached listening
    release
    within 30 reached idle
    EVERY=0.01 within 1 shows {DARK}
    """
    it = facts(machine, script)
    print(f"from the press to the light: {it['ms']} ms")
    assert it["before"] == DARK
    assert int(it["ms"]) < 1000


@pytest.fixture(scope="module")
def answer(machine: Machine) -> dict[str, object]:
    """Asks through the card; what was recorded of the answer, and the lamp over time."""
    script = """
    arecord --quiet -D plughw:0,0 -f S16_LE -r 16000 -c 1 /run/answer.wav & recorder=$!
    (while sleep 0.1; do lamp; echo "$lit"; done >/run/lamp) & watcher=$!
    sleep 1
    aplay --quiet -D plughw:0,0 /run/question.wav
    within 60 reached speaking
    sleep 1
    EVERY=1 within 90 reached listening
    kill $watcher $recorder
    wait $recorder
    cp /run/answer.wav /run/lamp /mnt/host/
    """
    guest(machine, script)
    with wave.open(str(machine.share / "answer.wav")) as file:
        sound = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    return {"sound": sound, "lamp": (machine.share / "lamp").read_text().split()}


def test_a_question_is_answered_aloud(machine: Machine, answer: dict[str, object]) -> None:
    sound = np.asarray(answer["sound"], float)
    loud = np.abs(sound) > 500
    print(f"{sound.size / 16_000:.1f} s recorded, {loud.sum() / 16_000:.2f} s of them loud")
    assert loud.sum() > 0.2 * 16_000


def test_the_lamp_showed_what_it_did(answer: dict[str, object]) -> None:
    shown = answer["lamp"]
    assert isinstance(shown, list)
    assert BLUE in shown
    assert shown.index(BLUE) < shown.index(GREEN)


def test_the_journal_has_the_turn_and_its_latencies(
    machine: Machine, answer: dict[str, object]
) -> None:
    lines = machine.run("journalctl -u edgevoice -o json | grep RESPONSE_MS").output.splitlines()
    turn = json.loads(lines[-1])
    told = {name: value for name, value in turn.items() if name.startswith("EDGEVOICE_")}
    print(told)
    assert float(turn["EDGEVOICE_RESPONSE_MS"]) > 0
    assert turn["EDGEVOICE_TURN"]


def test_it_says_what_its_owner_types(machine: Machine, answer: dict[str, object]) -> None:
    said = guest(machine, "edgevoice stop; within 20 reached idle; edgevoice say --wait Seventeen")
    assert said


def test_no_journal_has_a_word(machine: Machine, answer: dict[str, object]) -> None:
    journal = machine.run("journalctl -o export --all | tr '[:upper:]' '[:lower:]'").output
    ours = [line for line in journal.splitlines() if not line.startswith("_cmdline")]
    assert ours
    assert [line for line in ours if any(word in line for word in SPOKEN)] == []


def test_a_reload_is_in_force_and_a_bad_one_is_refused(machine: Machine) -> None:
    script = f"""
    before=$(of MainPID)
    cp {CONFIG} /run/kept
    sed -i 's/^audio:/audio:\\n  volume: 30/' {CONFIG}
    systemctl reload edgevoice
    within 10 eval 'journalctl -u edgevoice -n 20 -o cat | grep -q "in force: audio.volume"'
    sed -i 's/volume: 30/volume: loud/' {CONFIG}
    systemctl reload edgevoice
    within 10 eval 'journalctl -u edgevoice -n 20 -o cat -p err | grep "refused: {CONFIG}:"'
    cp /run/kept {CONFIG}
    systemctl reload edgevoice
    [[ $before == $(of MainPID) ]] && echo same
    """
    assert "audio.volume" in (said := guest(machine, script))
    assert said.endswith("same\n")


def test_a_card_that_goes_and_comes_back(machine: Machine) -> None:
    script = f"""
    within 30 reached idle
    echo snd_aloop.0 >$card/unbind & unbinding=$!
    within 10 reached recovering
    EVERY=0.02 within 5 eval '! shows {DARK}'
    echo "lamp: $lit"
    wait $unbinding
    sleep 3
    echo snd_aloop.0 >$card/bind
    within 20 reached idle
    echo "restarts: $(of NRestarts)"
    """
    it = facts(machine, script)
    assert it["restarts"] == "0"
    assert it["lamp"].startswith("1")


def test_the_watchdog_ends_a_stopped_process_and_it_starts_again(machine: Machine) -> None:
    script = """
    before=$(of MainPID)
    kill -STOP $before
    within 45 is NRestarts 1
    journalctl -u edgevoice -o cat | grep -o 'Watchdog timeout'
    within 150 is ActiveState active
    [[ $before != $(of MainPID) ]] && echo another
    """
    said = guest(machine, script).splitlines()
    assert (said[0], said[-1]) == ("Watchdog timeout", "another")


def test_it_stops_within_five_seconds(machine: Machine) -> None:
    script = """
    within 5 reached idle
    start=$(now_ms); systemctl stop edgevoice
    echo "ms: $(($(now_ms) - start))"
    echo "result: $(of Result)"
    lamp; echo "lamp: $lit"
    """
    it = facts(machine, script)
    print(f"stopped in {it['ms']} ms")
    assert (it["result"], it["lamp"]) == ("success", DARK)
    assert int(it["ms"]) < 5000


def test_a_killed_process_is_started_again(machine: Machine) -> None:
    script = """
    systemctl start --no-block edgevoice
    within 5 is SubState start
    before=$(of MainPID)
    kill -KILL $before
    within 20 is NRestarts 1
    within 5 is SubState start
    [[ $before != $(of MainPID) ]] && echo another
    """
    assert guest(machine, script) == "another\n"


def test_a_purge_of_the_running_service_leaves_nothing(machine: Machine) -> None:
    guest(machine, "dpkg --purge edgevoice")
    # Nothing else has been in /opt, so that the purge takes it along.
    left = """
    mkdir -p /opt
    find /etc /opt /usr /var/lib /run -name '*edgevoice*' ! -path '/var/lib/dpkg/*'
    """
    ours = "/etc/systemd/system/edgevoice.service.d"
    assert guest(machine, left).split() == [ours]
    assert machine.run("getent passwd edgevoice", check=False).status != 0
