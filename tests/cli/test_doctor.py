"""`edgevoice doctor` and `edgevoice try`, as they are typed."""

import json
import os
import subprocess
import sys

import pytest

from edgevoice import devices
from edgevoice.cli.main import main
from edgevoice.errors import DeviceError
from edgevoice.system.doctor import host
from tests.system.house import House
from tests.system.test_trial import Microphone, tone


@pytest.fixture
def no_sound(monkeypatch):
    def gone(settings):
        raise DeviceError("no microphone found", "plug one in")

    monkeypatch.setattr(devices, "sound", gone)


@pytest.fixture
def config(tmp_path):
    file = tmp_path / "edgevoice.yaml"
    text = f"control: {{socket: {tmp_path}/control.sock}}\nmodels: {{directory: {tmp_path}}}\n"
    file.write_text(text)
    return str(file)


def test_a_failed_check_is_status_1_and_says_what_to_do(no_sound, config, capsys):
    assert main(["doctor", "--config", config]) == 1
    told = capsys.readouterr().out
    assert "fail     sound          no microphone found\n" + " " * 24 + "→ plug one in" in told
    assert "fail     model" in told
    assert told.splitlines()[-1].endswith(" failed")


def test_for_programs(no_sound, config, capsys):
    assert main(["doctor", "--json", "--config", config]) == 1
    findings = json.loads(capsys.readouterr().out)
    assert {"configuration", "service", "daemon", "memory", "disk", "clock", "power"} <= {
        finding["check"] for finding in findings
    }
    for finding in findings:
        assert finding["verdict"] in ("ok", "warn", "fail", "skipped")
        assert finding["what"]
        assert bool(finding["todo"]) is (finding["verdict"] in ("warn", "fail"))


def test_a_broken_configuration_is_a_finding_and_the_rest_is_looked_at(no_sound, tmp_path, capsys):
    broken = tmp_path / "broken.yaml"
    broken.write_text("audio: {volume: loud}\n")
    assert main(["doctor", "--config", str(broken)]) == 1
    told = capsys.readouterr().out
    assert told.startswith("fail     configuration")
    assert "broken.yaml:1" in told
    assert "memory" in told


def test_while_the_daemon_runs_it_is_asked_and_its_card_left_alone(
    no_sound, config, tmp_path, capsys
):
    with House(tmp_path / "control.sock").running():
        main(["doctor", "--json", "--config", config])
    found = {f["check"]: f for f in json.loads(capsys.readouterr().out)}
    assert found["daemon"]["verdict"] == "ok"
    assert found["daemon"]["what"] == "running, idle; 0 errors since its start"
    assert found["microphone"]["figures"] == {"loudest": 0.5, "quietest": 0.5}
    assert found["echo"]["verdict"] == "skipped"
    assert "the daemon has the card" in found["echo"]["what"]
    assert found["gpio"]["what"] == "the daemon has the pins"
    assert "sound" not in found


def test_all_is_well(config, monkeypatch, capsys):
    from edgevoice.system import doctor
    from edgevoice.system.doctor.finding import ok

    for name in ("memory", "disk", "clock", "throttling", "temperature", "permissions", "unit"):
        monkeypatch.setattr(host, name, lambda *_, **__: ok("x", "well"))
    monkeypatch.setattr(doctor.parts, "models", lambda settings: [])
    monkeypatch.setattr(doctor, "_sound", lambda settings, hardware: [])
    assert main(["doctor", "--config", config]) == 0
    assert capsys.readouterr().out.endswith("nothing failed\n")


# -- try ------------------------------------------------------------------------------------


def test_a_microphone_is_tried_and_kept(config, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(devices, "sound", lambda settings: (Microphone(48_000), None))
    out = tmp_path / "heard.wav"
    words = ["try", "mic", "--seconds", "0.5", "--out", str(out), "--config", config]
    assert main(words) == 0
    assert "dB" in capsys.readouterr().out
    assert out.stat().st_size > 10_000


def test_a_file_instead_of_a_microphone(config, no_sound, tmp_path, capsys):
    from edgevoice.system.trial import write_wav

    write_wav(tmp_path / "x.wav", tone(1.0), 16_000)
    assert main(["try", "mic", "--wav", str(tmp_path / "x.wav"), "--config", config]) == 0
    assert capsys.readouterr().out.count("dB") == 10


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["mic"], 69, "no microphone found; plug one in"),
        (["aec"], 69, "no microphone found; plug one in"),
        (["mic", "--wav", "/none.wav"], 65, "/none.wav: no 16-bit WAV file"),
        (["mic", "--seconds", "0"], 64, "from 0 to 3600 seconds"),
        (["mic", "--seconds", "soon"], 64, "argument --seconds"),
        (["nose"], 64, "invalid choice"),
        (["llm", "hello"], 66, "is missing"),
        (["asr", "--wav", "/none.wav"], 66, "is missing"),
        (["tts", "hello"], 66, "is missing"),
        (["wake"], 66, "is missing"),
    ],
)
def test_what_is_missing_is_one_line(words, status, told, config, no_sound, capsys):
    assert main(["try", *words, "--config", config]) == status
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("part", ["leds", "button"])
def test_without_pins_the_reason_is_told(part, config, monkeypatch, capsys):
    monkeypatch.setattr("edgevoice.adapters.pins.CHIPS", "/dev/there-is-no-gpiochip*")
    assert main(["try", part, "--config", config]) == 69
    assert "there is no GPIO chip" in capsys.readouterr().err


@pytest.mark.parametrize("part", ["leds", "button"])
def test_lamp_and_button_on_pins_in_memory(part, config):
    """In a process of its own: gpiozero keeps its mock pins for good."""
    code = (
        "import sys; from edgevoice.cli.main import main; from edgevoice.system import trial\n"
        "trial._LIGHT_S = 0.0\n"
        f"sys.exit(main(['try', *{[part] + (['--seconds', '0.1'] if part == 'button' else [])!r},"
        f" '--config', {config!r}]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "GPIOZERO_PIN_FACTORY": "mock"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert ("speaking.held" if part == "leds" else "press the button") in done.stdout
