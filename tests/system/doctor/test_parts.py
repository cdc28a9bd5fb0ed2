"""Models, pins, and who has the sound card."""

import os
import subprocess
import sys

import pytest

from edgevoice.errors import DeviceError
from edgevoice.settings.schema import Gpio, Models, Settings
from edgevoice.system.doctor import parts
from edgevoice.system.doctor.finding import Verdict


def test_models_that_are_missing(tmp_path):
    settings = Settings(models=Models(directory=str(tmp_path)))
    findings = list(parts.models(settings))
    assert len(findings) == 5
    assert {finding.verdict for finding in findings} == {Verdict.FAIL}
    assert all("edgevoice models fetch" in finding.todo for finding in findings)


@pytest.mark.engines
def test_models_that_are_here_are_read_to_the_last_byte(tmp_path):
    from edgevoice.models.paths import models_directory
    from tests.adapters.engines import model

    model("hey_jarvis", "wake")
    real = models_directory()
    for entry in real.iterdir():
        (tmp_path / entry.name).symlink_to(entry)
    settings = Settings(models=Models(directory=str(tmp_path)))
    assert {finding.verdict for finding in parts.models(settings)} == {Verdict.OK}
    broken = _with_another_byte(tmp_path, real)
    (wrong,) = [f for f in parts.models(settings) if f.verdict is not Verdict.OK]
    assert wrong.verdict is Verdict.FAIL
    assert broken in wrong.what
    assert "sha256" in wrong.what


def _with_another_byte(directory, real):
    """Replace the wake phrase by a file of the same size with one byte changed."""
    from edgevoice.models.catalogue import find

    entry = find("hey_jarvis")
    folder, name = directory / entry.folder, entry.files[0].path
    source = real / entry.folder / name
    top = directory / (entry.folder or name).split("/")[0]
    top.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    for other in (real / entry.folder).iterdir():
        if not (folder / other.name).exists():
            (folder / other.name).symlink_to(other)
    (folder / name).unlink(missing_ok=True)
    data = bytearray(source.read_bytes())
    data[len(data) // 2] ^= 1
    (folder / name).write_bytes(data)
    return name


def wired(enabled, reason="", error=None):
    def why_not():
        if error:
            raise error
        return reason

    return parts.pins(Settings(gpio=Gpio(enabled=enabled)), why_not).verdict


def test_pins():
    assert wired("auto") is Verdict.OK
    assert wired("off", "never asked") is Verdict.SKIPPED
    assert wired("auto", "no chip") is Verdict.SKIPPED
    assert wired("on", "no chip") is Verdict.FAIL
    assert wired("auto", error=DeviceError("pin 99 does not exist", "correct it")) is Verdict.FAIL


def test_who_has_the_card_is_named_with_its_process(tmp_path):
    card = tmp_path / "pcmC0D0c"
    card.touch()
    devices = f"{tmp_path}/"
    assert parts.card(devices).verdict is Verdict.OK
    code = "import sys; f = open(sys.argv[1]); print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, card], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        holder.stdout.readline()
        finding = parts.card(devices)
        holder.stdin.close()
    assert finding.verdict is Verdict.WARN
    assert finding.what == f"{os.path.basename(sys.executable)} ({holder.pid}) has {card}"


def test_mixers_disturb_nobody_and_we_are_not_others(tmp_path):
    for name in ("controlC0", "pcmC0D0p"):
        (tmp_path / name).touch()
    with (tmp_path / "pcmC0D0p").open():
        assert parts.card(f"{tmp_path}/").verdict is Verdict.OK


def test_a_machine_without_sound(tmp_path):
    assert parts.card(f"{tmp_path}/none/").verdict is Verdict.SKIPPED
