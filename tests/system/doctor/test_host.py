"""The machine, as files and programs tell of it."""

import os

import pytest

from edgevoice.system.doctor import host
from edgevoice.system.doctor.finding import Verdict


def write(root, path, text):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def says(*answers):
    """Programs that print these, one after the other."""
    waiting = list(answers)
    return lambda command: waiting.pop(0)


NO_PROGRAM = says(None, None)


@pytest.mark.parametrize(
    ("available_kb", "running", "verdict"),
    [
        (700_000, False, Verdict.OK),
        (500_000, False, Verdict.FAIL),
        (500_000, True, Verdict.OK),
        (90_000, True, Verdict.FAIL),
    ],
)
def test_memory(tmp_path, available_kb, running, verdict):
    write(tmp_path, "proc/meminfo", f"MemTotal: 999 kB\nMemAvailable: {available_kb} kB\n")
    finding = host.memory(running=running, root=tmp_path)
    assert finding.verdict is verdict
    assert finding.figures == {"available_mb": available_kb // 1000}


def test_memory_of_this_machine_is_told():
    assert host.memory(running=True).verdict in (Verdict.OK, Verdict.FAIL)


@pytest.mark.parametrize(
    ("free_mb", "verdict"), [(600, Verdict.OK), (499, Verdict.WARN), (49, Verdict.FAIL)]
)
def test_disk(tmp_path, monkeypatch, free_mb, verdict):
    monkeypatch.setattr(
        host.shutil, "disk_usage", lambda path: type("Usage", (), {"free": free_mb * 1e6})()
    )
    assert host.disk(tmp_path / "not" / "made" / "yet").verdict is verdict


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        ("yes", Verdict.OK),
        ("no", Verdict.WARN),
        (None, Verdict.SKIPPED),
        ("", Verdict.SKIPPED),
    ],
)
def test_clock(told, verdict):
    assert host.clock(says(told)).verdict is verdict


@pytest.mark.parametrize(
    ("bits", "verdict", "word"),
    [
        ("0", Verdict.OK, "neither"),
        ("50000", Verdict.WARN, "since the start: the voltage is too low; it is throttled"),
        ("1", Verdict.FAIL, "the voltage is too low"),
        ("50005", Verdict.FAIL, "the voltage is too low; it is throttled"),
        ("8", Verdict.FAIL, "temperature"),
    ],
)
def test_power_from_sysfs(tmp_path, bits, verdict, word):
    write(tmp_path, "sys/devices/platform/soc/soc:firmware/get_throttled", f"{bits}\n")
    finding = host.throttling(tmp_path, NO_PROGRAM)
    assert finding.verdict is verdict
    assert word in finding.what


def test_power_of_a_pi_5_and_from_vcgencmd(tmp_path):
    write(
        tmp_path, "sys/devices/platform/soc@107c000000/soc@107c000000:firmware/get_throttled", "4"
    )
    assert host.throttling(tmp_path, NO_PROGRAM).what == "it is throttled"
    told = says("throttled=0x10000")
    assert "since the start" in host.throttling(tmp_path / "other", told).what


def test_no_pi_is_told_as_such(tmp_path):
    assert host.throttling(tmp_path, says(None)).verdict is Verdict.SKIPPED
    assert host.temperature(tmp_path).verdict is Verdict.SKIPPED


@pytest.mark.parametrize(
    ("degrees", "verdict"),
    [(50, Verdict.OK), (75, Verdict.WARN), (85, Verdict.FAIL)],
)
def test_the_hottest_sensor_counts(tmp_path, degrees, verdict):
    write(tmp_path, "sys/class/thermal/thermal_zone0/temp", "41000\n")
    write(tmp_path, "sys/class/thermal/thermal_zone1/temp", f"{degrees}000\n")
    finding = host.temperature(tmp_path)
    assert (finding.verdict, finding.figures) == (verdict, {"celsius": degrees})


def test_devices_that_may_not_be_opened(tmp_path, monkeypatch):
    write(tmp_path, "dev/snd/pcmC0D0c", "")
    write(tmp_path, "dev/gpiochip0", "")
    assert host.permissions(tmp_path).verdict is Verdict.OK
    monkeypatch.setattr(os, "access", lambda file, mode: "gpio" not in str(file))
    finding = host.permissions(tmp_path)
    assert finding.verdict is Verdict.FAIL
    assert "usermod -aG gpio " in finding.todo
    monkeypatch.setattr(os, "access", lambda file, mode: False)
    assert "usermod -aG audio,gpio " in host.permissions(tmp_path).todo


UNIT = "LoadState={}\nActiveState={}\nSubState=x\nNRestarts={}"


@pytest.mark.parametrize(
    ("state", "verdict"),
    [
        (UNIT.format("loaded", "active", 0), Verdict.OK),
        (UNIT.format("loaded", "active", 3), Verdict.WARN),
        (UNIT.format("loaded", "inactive", 0), Verdict.WARN),
        (UNIT.format("loaded", "failed", 5), Verdict.FAIL),
        (UNIT.format("not-found", "inactive", 0), Verdict.WARN),
        (None, Verdict.WARN),
    ],
)
def test_the_service(tmp_path, state, verdict):
    (tmp_path / "run/systemd/system").mkdir(parents=True)
    assert host.unit(tmp_path, says(state)).verdict is verdict


def test_no_systemd(tmp_path):
    assert host.unit(tmp_path, says(None)).verdict is Verdict.SKIPPED


def test_a_program_that_is_missing_or_fails_says_nothing():
    assert host.output(["echo", "yes"]) == "yes"
    assert host.output(["false"]) is None
    assert host.output(["there-is-no-such-program"]) is None
