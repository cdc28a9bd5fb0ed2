"""`edgevoice tune` with a machine that was measured before."""

import pytest

from edgevoice.cli.main import main
from edgevoice.tune import measure as measuring
from edgevoice.tune.measure import Machine, measure
from tests.tune.test_advise import engine, machine

FILE = "# mine\nllm:\n  max_tokens: 90  # short\n"


@pytest.fixture
def fast_with_two(monkeypatch):
    found = machine(model=(engine(0, 100, 101, 102, pace=9), engine(2, 50, 51, 52)))
    monkeypatch.setattr(measuring, "measure", lambda *args: found)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "edgevoice.yaml"
    path.write_text(FILE)
    return path


def tune(file, *options):
    return main(["--config", str(file), "tune", *options])


def test_it_proposes_a_diff_and_changes_nothing(fast_with_two, file, capsys):
    assert tune(file) == 0
    out = capsys.readouterr().out
    assert "\n+  threads: 2\n" in out
    assert "llm.threads: 2  (51 ms to the first output instead of 101)" in out
    assert file.read_text() == FILE
    assert [p.name for p in file.parent.iterdir()] == ["edgevoice.yaml"]


def test_write_changes_it_and_keeps_the_old_one(fast_with_two, file, capsys):
    file.chmod(0o640)
    assert tune(file, "--write") == 0
    assert file.read_text() == "# mine\nllm:\n  threads: 2\n  max_tokens: 90  # short\n"
    assert file.stat().st_mode & 0o777 == 0o640
    assert file.with_name("edgevoice.yaml.bak").read_text() == FILE
    assert len(list(file.parent.iterdir())) == 2


def test_without_a_file_the_users_own_is_made(fast_with_two, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("EDGEVOICE_CONFIG", raising=False)
    monkeypatch.setattr("edgevoice.settings.loader.SYSTEM_FILE", tmp_path / "none")
    assert main(["tune", "--write"]) == 0
    assert (tmp_path / "edgevoice" / "edgevoice.yaml").read_text() == "llm:\n  threads: 2\n"
    assert "--- /dev/null" in capsys.readouterr().out


def test_nothing_to_change(file, capsys, monkeypatch):
    monkeypatch.setattr(
        measuring, "measure", lambda *args: machine(model=(engine(0, 100, 101, 102, pace=9),))
    )
    assert tune(file, "--write") == 0
    assert "nothing to change" in capsys.readouterr().out
    assert file.read_text() == FILE


def test_what_cannot_be_written_is_one_line(fast_with_two, file, capsys):
    file.with_name("edgevoice.yaml.new").mkdir()
    assert tune(file, "--write") == 73
    assert capsys.readouterr().err.count("\n") == 1
    assert file.read_text() == FILE


def test_an_estimate_is_marked_as_one(fast_with_two, file, capsys):
    assert tune(file, "--estimate", "pi4") == 0
    assert "ESTIMATE for a pi4" in capsys.readouterr().out


def test_a_missing_model_is_one_line(file, capsys, tmp_path):
    file.write_text("llm:\n  model: /nowhere.gguf\ntts:\n  voice: /nowhere.onnx\n")
    assert tune(file) == 66
    assert [line for line in capsys.readouterr().err.splitlines() if "nowhere" in line]


@pytest.mark.engines
def test_the_real_engines_are_measured():
    from edgevoice.errors import DeviceError
    from edgevoice.settings.schema import Settings

    class NoMicrophone:
        rate = 0

        def start(self, deliver, failed):
            raise DeviceError("there is none")

        def stop(self):
            raise AssertionError("it was never open")

    told: list[str] = []
    found: Machine = measure(Settings(), 1, NoMicrophone(), told.append)
    assert found.lateness is None
    assert all(run > 0 for figure in found.figures for run in figure.runs)
    assert all(len(figure.runs) >= 3 for figure in found.figures)
    assert len(told) == 5
