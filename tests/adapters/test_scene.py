from __future__ import annotations

import math
import wave
from pathlib import Path

import pytest

from edgevoice.adapters.scene import (
    Cue,
    EspeakVoice,
    Expect,
    Line,
    Noise,
    PiperVoice,
    Scene,
)
from edgevoice.adapters.scene_file import load_scene
from edgevoice.errors import DataError

ROOT = Path(__file__).parents[2]
SHIPPED = sorted([*ROOT.glob("edgevoice/scenes/*.yaml"), *ROOT.glob("bench/scenes/*.yaml")])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with wave.open(str(tmp_path / "hello.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(b"\1\0" * 160)
    (tmp_path / "noise.wav").write_bytes(b"not sound")
    return tmp_path


def load(folder: Path, text: str) -> Scene:
    path = folder / "scene.yaml"
    path.write_text(text, encoding="utf-8")
    return load_scene(path)


def problems(folder: Path, text: str) -> list[str]:
    """What is wrong with it, without the path."""
    with pytest.raises(DataError) as caught:
        load(folder, text)
    lines = str(caught.value).splitlines()
    prefix = f"{folder / 'scene.yaml'}:"
    assert all(line.startswith(prefix) for line in lines)
    return [line.removeprefix(prefix) for line in lines]


def test_every_key_is_read(folder: Path) -> None:
    scene = load(
        folder,
        """
voice: {espeak: en-gb, speed: 140, pitch: 30}
seed: 7
room:
  distance: 0.5
  delay_ms: 120
  rt60_s: 0.6
  response: hello.wav
  distortion: 2
  drift_ppm: -50
  noise: {wav: hello.wav, snr_db: 12}
talker:
  - {say: hey jarvis, plus_ms: 20}
  - {wav: hello.wav, at: 3.5, level_db: -6, expect: ignored}
  - {say: stop, when: device_starts, plus_ms: 800, expect: stops}
""",
    )
    hello = folder / "hello.wav"
    assert scene.voice == EspeakVoice("en-gb", 140, 30)
    assert scene.seed == 7
    assert scene.lines == (
        Line("hey jarvis", when=Cue.READY, plus_ms=20),
        Line(wav=hello, at=3.5, level_db=-6, expect=Expect.IGNORED),
        Line("stop", when=Cue.DEVICE_STARTS, plus_ms=800, expect=Expect.STOPS),
    )
    room = scene.acoustics
    assert (room.distance, room.delay_ms, room.rt60_s, room.response) == (0.5, 120, 0.6, hello)
    assert (room.distortion, room.drift_ppm, room.noise) == (2, -50, Noise(12, wav=hello))


def test_nothing_but_lines_is_needed(folder: Path) -> None:
    scene = load(folder, "talker: [{say: one}, {say: two}]")
    assert scene == Scene(lines=(Line("one", when=Cue.READY), Line("two", when=Cue.DEVICE_ENDS)))


@pytest.mark.parametrize(
    ("text", "voice"),
    [
        ("voice: en-us+m3", EspeakVoice("en-us+m3")),
        ("voice: {pitch: 1.3}", PiperVoice(pitch=1.3)),
        ("voice: {piper: hello.wav, pace: 0.8}", PiperVoice(Path("hello.wav"), pace=0.8)),
    ],
)
def test_voices(folder: Path, text: str, voice: EspeakVoice | PiperVoice) -> None:
    read = load(folder, text).voice
    if isinstance(voice, PiperVoice) and voice.model:
        voice = PiperVoice(folder / voice.model, voice.pitch, voice.pace)
    assert read == voice


def test_noise_in_a_word(folder: Path) -> None:
    assert load(folder, "room: {noise: brown}").acoustics.noise == Noise(colour="brown")
    assert math.isinf(load(folder, "room: {noise: none}").acoustics.noise.snr_db)


def test_the_plain_conversation() -> None:
    first, second = Scene.conversation(["hey jarvis", "thank you"], pause_ms=700).lines
    assert (first.when, first.say) == (Cue.READY, "hey jarvis")
    assert (second.when, second.say, second.plus_ms) == (Cue.DEVICE_ENDS, "thank you", 700)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("rooom: {}", "1: rooom: unknown key; did you mean room?"),
        ("[]", "1: expected keys such as 'room:', got a list"),
        ("room: 5", "1: room: expected keys such as 'distance:', got '5'"),
        ("room:\n  delay: 5", "2: room.delay: unknown key; did you mean delay_ms?"),
        ("room:\n  rt60_s: long", "2: room.rt60_s: expected a number from 0 to 1, got 'long'"),
        ("room: {rt60_s: 9}", "1: room.rt60_s: expected a number from 0 to 1, got '9'"),
        (
            "room: {delay_ms: .nan}",
            "1: room.delay_ms: expected a number from 0 to 1000, got '.nan'",
        ),
        ("room: {delay_ms: }", "1: room.delay_ms: expected a number from 0 to 1000, got nothing"),
        ("room: {noise: pnk}", "1: room.noise: 'pnk' cannot stand here; did you mean pink?"),
        (
            "room:\n  noise:\n    colour: pink\n    wav: hello.wav",
            "3: room.noise: has both wav and colour; keep one",
        ),
        ("room: {}\nroom: {}", "2: room: given twice, first in line 1; keep one"),
        ("seed: 1.5", "1: seed: expected a whole number from 0 to 2147483648, got '1.5'"),
        ("talker: hello", "1: talker: expected a list of lines ('- say: …'), got 'hello'"),
        (
            "talker:\n  - hello",
            "2: talker, line 1: expected keys such as 'say:', got 'hello'",
        ),
        ("talker:\n  - {at: 1}", "2: talker, line 1: has neither say nor wav; give one"),
        (
            "talker:\n  - {say: a, wav: hello.wav}",
            "2: talker, line 1: has both say and wav; keep one",
        ),
        (
            "talker:\n  - {say: a, at: 1, when: ready}",
            "2: talker, line 1: has both at and when; keep one",
        ),
        ("talker:\n  - say: ''", "2: talker, line 1.say: expected a text, got nothing"),
        (
            "talker:\n  - say: a\n    when: device_start",
            "3: talker, line 1.when: 'device_start' cannot stand here; did you mean device_starts?",
        ),
        (
            "talker:\n  - say: a\n    expect: 3",
            "3: talker, line 1.expect: '3' cannot stand here; "
            "expected one of turn, ignored, interrupts, stops",
        ),
        (
            "voice:\n  espeak: en\n  pace: 2",
            "3: voice.pace: unknown key; one of espeak, speed, pitch can stand here",
        ),
        ("talker:\n  - say: [\n", "3: not valid YAML: expected the node content"),
        ("talker:\n\t- say: a", "2: not valid YAML: found character '\\t'"),
    ],
)
def test_a_broken_scene_is_one_line(folder: Path, text: str, problem: str) -> None:
    (line,) = problems(folder, text)
    assert line.startswith(problem)


def test_files_that_are_not_there_or_not_sound(folder: Path) -> None:
    missing, noise = problems(folder, "talker:\n  - wav: no.wav\n  - wav: noise.wav")
    assert missing.startswith("2: talker, line 1.wav: no file ")
    assert "relative to the scene file" in missing
    assert "noise.wav is not a PCM WAV file" in noise


def test_all_problems_come_at_once_in_the_order_of_the_file(folder: Path) -> None:
    text = "talker:\n  - at: 1\n    sya: a\n  - {say: b, at: x}\nroom: {echo: 1}"
    lines = [line.split(":")[0] for line in problems(folder, text)]
    assert lines == ["2", "3", "4", "5"]


def test_a_file_that_is_no_scene_at_all(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "empty.yaml").write_text("# nothing\n")
    for name, text in [("x.yaml", "not a text"), ("empty.yaml", "nothing in it")]:
        with pytest.raises(DataError, match=text):
            load_scene(tmp_path / name)
    with pytest.raises(DataError, match=r"none\.yaml: No such file or directory; name a scene"):
        load_scene(tmp_path / "none.yaml")


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_scenes_that_are_shipped(path: Path) -> None:
    assert load_scene(path).lines


def test_there_are_scenes() -> None:
    assert "demo" in [path.stem for path in SHIPPED]
