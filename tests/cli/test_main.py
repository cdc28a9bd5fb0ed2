"""The front: exit statuses, one line each, and nothing heavy to wait for."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from edgevoice import __version__
from edgevoice.cli import config
from edgevoice.cli.main import main
from edgevoice.errors import DeviceError, EdgeVoiceError, ModelError

HEAVY = {
    "numpy", "onnxruntime", "vosk", "llama_cpp", "pyaudio", "openwakeword", "piper", "soxr",
    "onnx", "gpiozero", "systemd", "requests", "tqdm", "yaml",
}  # fmt: skip


def process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "edgevoice", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )


def fail_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make ``edgevoice config check`` raise ``error``."""

    def check(_: object) -> None:
        raise error

    monkeypatch.setattr(config, "_check", check)


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from edgevoice.cli.main import main; "
        "assert main(['--help']) == 0; print('imported:', *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {name.partition(".")[0] for name in done.stdout.partition("imported:")[2].split()}
    assert "argparse" in imported
    assert not HEAVY & imported


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"edgevoice {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["confg"],
        ["config"],
        ["config", "check", "a", "b"],
        ["config", "schema", "--format", "x"],
        ["--config"],
        ["--wrong", "config", "show"],
    ],
)
def test_wrong_usage_is_one_line_and_64(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 64
    told = capsys.readouterr()
    assert re.fullmatch(r"edgevoice: .+; see edgevoice.* --help\n", told.err)
    assert told.out == ""


@pytest.mark.parametrize(
    "error", [ModelError("no model", "fetch it"), DeviceError("no microphone")]
)
def test_an_error_with_a_status_is_its_line_and_the_status(
    error: EdgeVoiceError, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fail_with(error, monkeypatch)
    assert main(["config", "check"]) == error.status
    assert capsys.readouterr().err == f"edgevoice: {error}\n"


def test_ctrl_c_is_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fail_with(KeyboardInterrupt(), monkeypatch)
    assert main(["config", "check"]) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("arguments", [["--version"], ["config", "schema"]])
def test_a_reader_that_is_gone_is_no_error(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "edgevoice", *arguments],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
    )
    os.close(writer)
    assert done.stderr == ""
    assert done.returncode == 141


def test_an_unforeseen_error_is_one_line_and_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delenv("EDGEVOICE_TRACEBACK", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    fail_with(KeyError("what somebody said"), monkeypatch)
    assert main(["config", "check"]) == 70
    [trace] = tmp_path.iterdir()
    told = capsys.readouterr().err
    assert re.fullmatch(
        rf"edgevoice: internal error \(KeyError in test_main.py:\d+\); "
        rf"its trace is in {re.escape(str(trace))}; please report it\n",
        told,
    )
    assert "Traceback" in trace.read_text()
    assert trace.stat().st_mode & 0o077 == 0


def test_an_unforeseen_error_where_nothing_can_be_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delenv("EDGEVOICE_TRACEBACK", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    fail_with(ZeroDivisionError(), monkeypatch)
    assert main(["config", "check"]) == 70
    assert capsys.readouterr().err.endswith("; EDGEVOICE_TRACEBACK=1 shows its trace\n")


def test_a_developer_sees_the_trace(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EDGEVOICE_TRACEBACK", "1")
    fail_with(KeyError("x"), monkeypatch)
    assert main(["config", "check"]) == 70
    told = capsys.readouterr().err
    assert "its trace is above" in told
    assert "Traceback (most recent call last)" in told


def test_a_file_name_that_is_no_text(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff.yaml"
    with open(path, "wb"):
        pass
    done = process("config", "check", os.fsdecode(path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("\\udcff.yaml: no errors, 0 keys set\n")
