"""What the owner sees: the page of status, the lines, the screen, and a clean terminal."""

import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from collections import deque
from fcntl import ioctl

import pytest

from edgevoice.system.client import Client
from edgevoice.system.monitor import Picture, line_of
from edgevoice.system.view import duration, meter, printable, status_lines, turn_table
from tests.patience import until


@pytest.mark.parametrize(
    ("milliseconds", "told"),
    [
        (0, "0 ms"),
        (245, "245 ms"),
        (999.6, "1000 ms"),
        (8200, "8.2 s"),
        (272_000, "4 min 32 s"),
        (11_400_000, "3 h 10 min"),
    ],
)
def test_durations(milliseconds, told):
    assert duration(milliseconds) == told


@pytest.mark.parametrize("width", [20, 60])
def test_a_meter_is_as_wide_as_asked_for_and_grows(width):
    bars = [meter(level, width) for level in (0.0, 0.001, 0.01, 0.1, 1.0, 3.0)]
    assert {len(bar) for bar in bars} == {width}
    full = [bar.count("█") for bar in bars]
    assert full == sorted(full)
    assert full[0] == 0
    assert full[-1] == full[-2] == width - 9


def test_what_others_say_cannot_move_the_cursor():
    assert printable("a\x1b[2Jb\nc", 80) == "a [2Jb c"
    assert printable("x" * 100, 10) == "…" + "x" * 9


def test_the_page_of_status(house):
    with Client(str(house.path)) as daemon:
        daemon.request("ask", text="what is this", wait=True, patient=True)
        daemon.request("ask", text="and that", wait=True, patient=True)
        page = "\n".join(status_lines(daemon.request("status")))
    assert page.startswith("● Listening for ")
    assert "before: speaking.playing (" in page
    assert "turns: 2" in page
    assert "→" in page
    assert "interruptions: 0%" in page
    assert max(map(len, page.splitlines())) <= 80


def test_a_page_of_nothing(house):
    with Client(str(house.path)) as daemon:
        page = "\n".join(status_lines(daemon.request("status")))
    assert "time to first audio: none yet" in page
    assert "turn end" not in page
    assert turn_table([]) == []


# -- the screen ---------------------------------------------------------------------------


def picture(house):
    with Client(str(house.path)) as daemon:
        status = daemon.request("status")
    shown = Picture("0.1.0", status["metrics"], deque(status["turns"]))
    for number in range(60):
        shown.take({"type": "state", "payload": status})
        turn = {"event": "turn-completed", "turnId": f"turn-{number}", "latenciesMs": {"eot": 600}}
        shown.take({"type": "turn", "payload": turn})
    shown.take({"type": "levels", "payload": {"microphone": 0.1, "cancelled": 0.01, "speaker": 0}})
    shown.take({"type": "partial", "payload": {"text": "tell me\x1b[1m about the sea " * 10}})
    return shown


@pytest.mark.parametrize("size", [(79, 23), (40, 12), (20, 5), (200, 60), (1, 1)])
def test_the_screen_fits_whatever_happened(house, size):
    width, height = size
    lines = picture(house).lines(width, height)
    assert len(lines) <= height
    assert max(map(len, lines)) <= width
    assert "\x1b" not in "".join(lines)


def test_the_screen_of_80_by_24_shows_it_all(house):
    text = "\n".join(picture(house).lines(79, 23))
    for part in ("○ Ready", "microphone", "echo-free", "speaker", "about the sea", "turn-59"):
        assert part in text
    assert "Ctrl-C" in text


def test_lines_for_a_pipe():
    state = {"state": "speaking", "phase": "held", "since": "T", "turnId": "turn-3"}
    state["metadata"] = {"cause": "bargein.evidence"}
    assert line_of({"type": "state", "payload": state}) == (
        "T  speaking.held  bargein.evidence  turn-3"
    )
    turn = {"event": "turn-completed", "turnId": "turn-3", "role": "user"}
    assert line_of({"type": "turn", "payload": turn}) == "turn-completed  turn-3  user"
    assert line_of({"type": "partial", "payload": {"turnId": "t", "text": "a\nb"}}).endswith("a b")
    assert line_of({"type": "future", "payload": {}}) == "future"


# -- the command ----------------------------------------------------------------------------


@pytest.fixture
def config(house, tmp_path):
    file = tmp_path / "edgevoice.yaml"
    file.write_text(f"control: {{socket: {house.path}}}\n")
    return str(file)


@pytest.fixture(autouse=True)
def ctrl_c_is_heard():
    """A shell lets what it starts in the background ignore it, and so would what we start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_pipe_gets_lines_and_ctrl_c_ends_it(house, config):
    command = [sys.executable, "-m", "edgevoice", "monitor", "--config", config]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as monitor:
        assert monitor.stdout.readline().startswith("○ Ready for ")
        while "  idle  " not in monitor.stdout.readline():
            pass  # the snapshot: it has subscribed
        with Client(str(house.path)) as daemon:
            daemon.request("start")
        line = monitor.stdout.readline()
        monitor.send_signal(signal.SIGINT)
        rest = monitor.stdout.read()
    assert "listening  user.start" in line
    assert "\x1b" not in line + rest
    assert monitor.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_terminal_is_left_as_it_was(house, config, number):
    ours, its = pty.openpty()
    ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = [sys.executable, "-m", "edgevoice", "monitor", "--config", config]
    monitor = subprocess.Popen(command, stdout=its, stderr=its)
    os.close(its)
    seen = b""
    while b"microphone" not in seen:
        seen += os.read(ours, 4096)
    monitor.send_signal(number)
    seen += drained(ours)
    assert monitor.wait() == 0
    assert seen.startswith(b"\x1b[?1049h\x1b[?25l")
    assert seen.endswith(b"\x1b[?25h\x1b[?1049l")
    assert b"Traceback" not in seen
    for screen in seen.decode().split("\x1b[H")[1:]:
        lines = re.sub(r"\x1b\[[?0-9]*[a-zA-Z]", "", screen).split("\r\n")
        assert len(lines) <= 24
        assert max(map(len, lines)) < 80


def drained(terminal):
    seen = b""
    try:
        while data := os.read(terminal, 4096):
            seen += data
    except OSError:  # the other end is closed
        pass
    return seen


def test_the_end_of_the_daemon_is_the_end_of_the_view(path, tmp_path):
    from tests.system.house import House

    with House(path).running():
        file = tmp_path / "edgevoice.yaml"
        file.write_text(f"control: {{socket: {path}}}\n")
        command = [sys.executable, "-m", "edgevoice", "monitor", "--config", str(file)]
        monitor = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        monitor.stdout.readline()
        until(lambda: "  idle  " in monitor.stdout.readline())
    out, err = monitor.communicate()
    assert monitor.returncode == 69
    assert "terminating" in out
    assert err.startswith("edgevoice: edgevoice has ended; ")
