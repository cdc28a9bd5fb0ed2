"""One daemon, one socket: who is second, what was left behind, and where it is."""

import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from edgevoice.errors import DaemonError, OutputError
from edgevoice.system import places
from edgevoice.system.endpoint import Endpoint


def test_a_second_daemon_is_refused_in_one_line(path):
    first = Endpoint(path)
    with pytest.raises(DaemonError) as caught:
        Endpoint(path)
    assert str(caught.value) == (
        f"edgevoice is running already (process {os.getpid()} has {path}); "
        "stop it first, or give this one another control.socket"
    )
    assert caught.value.status == 69
    first.close()
    Endpoint(path).close()


def test_the_refused_one_has_taken_nothing_away(path):
    first = Endpoint(path)
    with pytest.raises(DaemonError):
        Endpoint(path)
    socket.socket(socket.AF_UNIX).connect(str(path))
    first.close()


def test_what_a_killed_daemon_left_behind_is_replaced(path):
    code = (
        "import sys, time; from pathlib import Path\n"
        "from edgevoice.system.endpoint import Endpoint\n"
        "e = Endpoint(Path(sys.argv[1])); print('up', flush=True); time.sleep(1000)"
    )
    with subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE) as daemon:
        daemon.stdout.readline()
        with pytest.raises(DaemonError, match=f"process {daemon.pid} "):
            Endpoint(path)
        daemon.send_signal(signal.SIGKILL)
        daemon.wait()
    assert stat.S_ISSOCK(path.stat().st_mode)
    Endpoint(path).close()
    assert not path.exists()


def test_a_file_that_is_no_socket_is_left_alone(path):
    path.write_text("precious")
    with pytest.raises(OutputError, match="is no socket"):
        Endpoint(path)
    assert path.read_text() == "precious"


@pytest.mark.parametrize("name", ["missing/control.sock", "x" * 120, "x" * 300])
def test_a_place_that_cannot_be_is_one_line(tmp_path, name):
    with pytest.raises(OutputError) as caught:
        Endpoint(tmp_path / name)
    assert caught.value.todo
    assert "\n" not in str(caught.value)


def test_a_failed_start_holds_no_lock(path):
    path.write_text("precious")
    with pytest.raises(OutputError):
        Endpoint(path)
    path.unlink()
    Endpoint(path).close()


# -- where -----------------------------------------------------------------------------


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """A machine without any runtime directory."""
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(places, "_SYSTEM", tmp_path / "run")
    monkeypatch.setattr(places, "_EVERYBODYS", tmp_path / "tmp")


def test_the_first_directory_that_there_is(nowhere, monkeypatch, tmp_path):
    (tmp_path / "tmp").mkdir()
    fallback = tmp_path / "tmp" / f"edgevoice-{os.getuid()}"
    assert places.home() == fallback / "control.sock"
    assert stat.S_IMODE(fallback.stat().st_mode) == 0o700
    (tmp_path / "user").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "user"))
    assert places.home() == tmp_path / "user" / "edgevoice" / "control.sock"
    (tmp_path / "run").mkdir()
    assert places.home() == tmp_path / "run" / "control.sock"
    (tmp_path / "service").mkdir()
    monkeypatch.setenv("RUNTIME_DIRECTORY", f"{tmp_path}/service:{tmp_path}/other")
    assert places.home() == tmp_path / "service" / "control.sock"


def test_a_daemon_goes_where_its_clients_look(nowhere, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert places.home() in places.candidates()


def test_a_setting_has_no_alternative(nowhere, tmp_path):
    assert places.candidates("/a/b.sock") == [Path("/a/b.sock")]
    assert places.home("~/x.sock") == Path.home() / "x.sock"


def test_nowhere_is_none(nowhere):
    assert places.home() is None


def test_somebody_elses_directory_in_tmp_is_not_trusted(nowhere, monkeypatch, tmp_path):
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp" / f"edgevoice-{os.getuid() + 1}").mkdir(mode=0o777)
    owner = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    assert places.home() is None
    assert not any("tmp/edgevoice" in str(path) for path in places.candidates())
