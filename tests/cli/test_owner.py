"""The owner's commands, against the app on tiny engines."""

import json
import subprocess
import sys

import pytest

from edgevoice.cli.main import main
from edgevoice.core.table import Place
from tests.patience import until
from tests.system.house import House

HEAVY = ("numpy", "onnxruntime", "vosk", "pyaudio", "gpiozero", "asyncio", "requests")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "control.sock"


@pytest.fixture
def config(path, tmp_path):
    file = tmp_path / "edgevoice.yaml"
    file.write_text(f"control: {{socket: {path}}}\n")
    return str(file)


@pytest.fixture
def house(path):
    with House(path).running() as house:
        yield house


@pytest.fixture
def command(config):
    return lambda *words: main([*words, "--config", config])


ALL = [
    ["status"],
    ["monitor"],
    ["say", "tea"],
    ["ask", "what"],
    ["listen"],
    ["stop"],
    ["mute"],
    ["unmute"],
    ["reload"],
]


@pytest.mark.parametrize("words", ALL, ids=lambda words: words[0])
def test_without_a_daemon_one_line_and_69(words, command, capsys):
    assert command(*words) == 69
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == (
        "edgevoice: edgevoice is not running; "
        "start it: systemctl start edgevoice, or edgevoice run\n"
    )


@pytest.mark.parametrize("words", ALL, ids=lambda words: words[0])
def test_nothing_heavy_is_imported(words, config):
    code = (
        "import sys; from edgevoice.cli.main import main\n"
        f"assert main({[*words, '--config', config]!r}) == 69\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_listen_and_stop(house, command):
    assert command("listen") == 0
    until(lambda: house.witness.places[-1] is Place.LISTENING)
    assert command("stop") == 0
    until(lambda: house.witness.places[-1] is Place.IDLE)


def test_mute_and_unmute(house, command):
    assert command("mute") == 0
    until(lambda: house.witness.places[-1] is Place.SUSPENDED)
    assert command("unmute") == 0
    until(lambda: house.witness.places[-1] is Place.IDLE)


def test_what_the_core_refuses_is_one_line_and_69(house, command, capsys):
    command("mute")
    assert command("listen") == 69
    assert capsys.readouterr().err == "edgevoice: start: not possible while suspended\n"


def test_say_and_ask(house, command, capsys):
    assert command("say", "The", "tea", "is ready.", "--wait") == 0
    assert command("ask", "what is this", "--wait") == 0
    assert capsys.readouterr().out == "completed\ncompleted\n"
    until(lambda: len(house.witness.turns) == 2)
    assert house.witness.turns[0].played == "The tea is ready."
    assert house.witness.turns[1].heard == "what is this"


def test_with_the_owners_leave_the_answer_is_printed(path, command, capsys):
    with House(path, words=True).running():
        assert command("ask", "what is this", "--wait") == 0
    assert capsys.readouterr().out == "what is this. It is wide.\n"


def test_status_for_people_and_for_programs(house, command, capsys):
    assert command("status") == 0
    assert capsys.readouterr().out.startswith("○ Ready for ")
    assert command("status", "--json") == 0
    assert json.loads(capsys.readouterr().out)["state"] == "idle"


def test_a_reload_that_fails_tells_why(path, command, capsys):
    with House(path, reload=lambda: "line 3: no such key\nline 9: too much").running():
        assert command("reload") == 69
    assert capsys.readouterr().err == (
        "edgevoice: reload: line 3: no such key\nedgevoice: line 9: too much\n"
    )


def test_a_reload_that_works_is_quiet(path, command, capsys):
    with House(path, reload=lambda: "").running():
        assert command("reload") == 0
    assert capsys.readouterr() == ("", "")


def test_a_broken_configuration_keeps_nobody_from_muting(tmp_path, monkeypatch):
    broken = tmp_path / "broken.yaml"
    broken.write_text("audio: {volume: loud}\n")
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path))
    with House(tmp_path / "control.sock").running() as house:
        assert main(["mute", "--config", str(broken)]) == 0
        until(lambda: house.witness.places[-1] is Place.SUSPENDED)


def test_an_empty_text_is_told(house, command, capsys):
    assert command("say", " ") == 69
    assert capsys.readouterr().err == "edgevoice: say: text of say is empty\n"
