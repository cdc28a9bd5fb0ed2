"""The systemd files agree with the program, with systemd, and with one another."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from edgevoice import errors

SYSTEMD = Path(__file__).parent.parent / "systemd"
UNIT = SYSTEMD / "edgevoice.service"
BEFORE_253 = SYSTEMD / "edgevoice.service.d" / "before-253.conf"

EXPOSURE = 2.0
"""What `systemd-analyze security` may find at most."""

pytestmark = pytest.mark.systemd


def settings(file: Path = UNIT) -> dict[str, str]:
    """The last value of each key."""
    lines = [line for line in file.read_text().splitlines() if not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines if "=" in line)


def run(program: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is missing: apt install systemd")
    environment = os.environ | {"LC_ALL": "C.UTF-8", "SYSTEMD_COLORS": "0"}
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, env=environment
    )


@pytest.fixture
def installed(tmp_path):
    """The unit as it is installed on this systemd, with the drop-in if it is an old one."""
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text())
    version = int(run("systemd-analyze", "--version").stdout.split()[1])
    if version < 253:
        (tmp_path / "edgevoice.service.d").mkdir()
        shutil.copy(BEFORE_253, tmp_path / "edgevoice.service.d")
        # The line that the drop-in is there for.
        unit.write_text(re.sub("^Type=.*\n", "", UNIT.read_text(), flags=re.MULTILINE))
    return unit


def test_what_another_start_cannot_mend_is_not_restarted():
    never = {int(number) for number in settings()["RestartPreventExitStatus"].split()}
    assert never == {errors.UsageError.status, errors.ModelError.status, errors.ConfigError.status}


def test_systemd_understands_every_line(installed):
    done = run("systemd-analyze", "verify", "--man=no", installed)
    # The program is not installed here; complaints about other units of this machine do not count.
    complaints = [line for line in done.stderr.splitlines() if "edgevoice" in line]
    assert [line for line in complaints if "not executable" not in line] == []


def test_an_old_systemd_gets_what_it_understands_instead():
    assert settings()["Type"] == "notify-reload"
    assert settings(BEFORE_253) == {"Type": "notify", "ExecReload": "/bin/kill -HUP $MAINPID"}


def test_little_is_left_to_an_intruder(installed):
    limit = round(10 * EXPOSURE)
    done = run(
        "systemd-analyze", "security", "--offline=true", f"--threshold={limit}", "--no-pager",
        installed,
    )  # fmt: skip
    (told,) = re.findall(r"Overall exposure level .*: ([\d.]+)", done.stdout)
    assert float(told) <= EXPOSURE, done.stdout
    assert done.returncode == 0


def test_it_may_use_what_it_needs():
    text = UNIT.read_text()
    for device in ("char-alsa", "char-gpiochip", "/dev/gpiomem", "char-spidev"):
        assert f"DeviceAllow={device} rw" in text
    unit = settings()
    assert unit["LimitRTPRIO"] == "20"
    assert "RestrictRealtime" not in unit
    assert unit["SupplementaryGroups"] == "audio gpio spi"
    assert unit["RestrictAddressFamilies"] == "AF_UNIX"
    assert (unit["RuntimeDirectory"], unit["Environment"]) == ("edgevoice", "LG_WD=/run/edgevoice")


def test_the_user_and_its_groups_are_made(tmp_path):
    etc = tmp_path / "etc"
    etc.mkdir()
    (etc / "group").write_text("root:x:0:\naudio:x:29:\n")
    (etc / "passwd").write_text("root:x:0:0::/root:/bin/sh\n")
    file = SYSTEMD / "sysusers.d" / "edgevoice.conf"
    done = run("systemd-sysusers", f"--root={tmp_path}", file)
    assert done.returncode == 0, done.stderr
    groups = {line.split(":")[0]: line for line in (etc / "group").read_text().splitlines()}
    for group in settings()["SupplementaryGroups"].split():
        assert groups[group].endswith(":edgevoice"), groups
    assert "/var/lib/edgevoice" in (etc / "passwd").read_text()


def test_the_directories_are_made(tmp_path):
    etc = tmp_path / "etc"
    etc.mkdir()
    (etc / "group").write_text("root:x:0:\nedgevoice:x:999:\n")
    (etc / "passwd").write_text("root:x:0:0::/root:/bin/sh\nedgevoice:x:999:999::/:/bin/sh\n")
    file = SYSTEMD / "tmpfiles.d" / "edgevoice.conf"
    if os.geteuid() != 0:
        pytest.skip("directories of another user are made by root alone")
    done = run("systemd-tmpfiles", "--create", f"--root={tmp_path}", file)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "var/lib/edgevoice/models").stat().st_uid == 999
    assert (tmp_path / "var/lib/edgevoice").stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "etc/edgevoice").is_dir()


def test_the_udev_rules_name_the_groups_of_the_unit():
    rules = (SYSTEMD / "udev" / "60-edgevoice.rules").read_text()
    named = set(re.findall(r'GROUP="(\w+)"', rules))
    assert named == {"gpio", "spi"} <= set(settings()["SupplementaryGroups"].split())
