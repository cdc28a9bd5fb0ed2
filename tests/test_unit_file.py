"""The systemd unit agrees with the exit statuses and the command line."""

import shutil
import subprocess
from pathlib import Path

import pytest

from edgevoice import errors

UNIT = Path(__file__).parent.parent / "systemd" / "edgevoice.service"


def test_what_another_start_cannot_mend_is_not_restarted():
    lines = dict(line.split("=", 1) for line in UNIT.read_text().splitlines() if "=" in line)
    never = {int(number) for number in lines["RestartPreventExitStatus"].split()}
    assert never == {errors.UsageError.status, errors.ModelError.status, errors.ConfigError.status}


def test_systemd_understands_every_line():
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is missing: apt install systemd")
    command = ["systemd-analyze", "verify", "--man=no", str(UNIT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    complaints = [line for line in done.stderr.splitlines() if "not executable" not in line]
    assert not [line for line in complaints if "edgevoice.service" in line], done.stderr
