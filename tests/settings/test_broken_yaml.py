"""Every way a file can be wrong: the line, the words and the exit status."""

import subprocess
import sys
from pathlib import Path

import pytest

from edgevoice.cli.main import main
from edgevoice.errors import ConfigError
from edgevoice.settings.document import MAX_BYTES, MAX_DEPTH
from edgevoice.settings.loader import MAX_LENGTH, MAX_TOLD, load

POLICIES = "easyturn, smart_turn, easyturn+smart_turn, silence, manual"

# name: (file, [(line, text of the message after "file:line: ")])
BROKEN: dict[str, tuple[bytes, list[tuple[int, str]]]] = {
    "not a number": (
        b"turn:\n  min_silence_to_speak_ms: fast\n",
        [(2, "turn.min_silence_to_speak_ms: expected a whole number of ms from 50 to 5000, "
             'got "fast"')],
    ),
    "too large": (
        b"# x\n\nturn:\n  min_silence_to_speak_ms: 5001\n",
        [(4, "turn.min_silence_to_speak_ms: expected a whole number of ms from 50 to 5000, "
             "got 5001")],
    ),
    "too small": (
        b"timeouts: {held_s: -1}",
        [(1, "timeouts.held_s: expected a number of s from 0.2 to 10, got -1")],
    ),
    "fraction for a whole number": (
        b"llm:\n  threads: 1.5\n",
        [(2, "llm.threads: expected a whole number from 0 to 64, got 1.5")],
    ),
    "octal of YAML 1.1": (
        b"llm:\n  threads: 010\n",
        [(2, "llm.threads: expected a whole number from 0 to 64, got 010")],
    ),
    "sixty-base number of YAML 1.1": (
        b"timeouts:\n  task_s: 5:00\n",
        [(2, 'timeouts.task_s: expected a number of s from 1 to 86400, got "5:00"')],
    ),
    "true for a number": (
        b"turn:\n  min_text_length: true\n",
        [(2, "turn.min_text_length: expected a whole number of characters from 0 to 100, "
             "got true")],
    ),
    "number for true": (
        b"barge_in:\n  enabled: 1\n",
        [(2, "barge_in.enabled: expected true or false, got 1")],
    ),
    "quoted true": (
        b"barge_in:\n  enabled: 'true'\n",
        [(2, 'barge_in.enabled: expected true or false, got "true"; remove the quotes')],
    ),
    "quoted number": (
        b'turn:\n  min_text_length: "5"\n',
        [(2, "turn.min_text_length: expected a whole number of characters from 0 to 100, "
             'got "5"; remove the quotes')],
    ),
    "not a number, says YAML": (
        b"turn:\n  min_confidence_to_speak: .nan\n",
        [(2, 'turn.min_confidence_to_speak: expected a number from 0 to 1, got ".nan"')],
    ),
    "infinity": (
        b"timeouts:\n  task_s: .inf\n",
        [(2, 'timeouts.task_s: expected a number of s from 1 to 86400, got ".inf"')],
    ),
    "infinity by exponent": (
        b"timeouts:\n  task_s: 1e999\n",
        [(2, "timeouts.task_s: expected a number of s from 1 to 86400, got 1e999")],
    ),
    "more digits than int() takes": (
        b"llm:\n  threads: " + b"9" * 5000 + b"\n",
        [(2, f'llm.threads: expected a whole number from 0 to 64, got "{"9" * 39}…"')],
    ),
    "null": (
        b"\nhistory:\n  system_prompt: ~\n",
        [(3, "history.system_prompt: expected a text, got nothing")],
    ),
    "nothing after the colon": (
        b"llm:\n  model:\n  threads: 2\n",
        [(2, "llm.model: expected a text, got nothing")],
    ),
    "empty text": (
        b'tts:\n  voice: ""\n',
        [(2, "tts.voice: expected a text, got an empty text")],
    ),
    "control character": (
        b'tts:\n  voice: "a\\0b"\n',
        [(2, 'tts.voice: expected a text, got "a\\u0000b"')],
    ),
    "half a surrogate pair": (
        b'llm:\n  model: "\\ud800"\n',
        [(2, 'llm.model: expected a text, got "\\ud800"')],
    ),
    "wrong choice": (
        b"turn:\n  policy: easyturns\n",
        [(2, f"turn.policy: expected one of {POLICIES}, got \"easyturns\"; "
             "did you mean easyturn?")],
    ),
    "wrong number of a choice": (
        b"audio:\n  input_rate: 8000\n",
        [(2, "audio.input_rate: expected one of 0, 16000, 44100, 48000, got 8000")],
    ),
    "unknown language": (
        b"language: xx\n",
        [(1, 'language: expected one of en, de, got "xx"')],
    ),
    "text for a list": (
        b"activation: button\n",
        [(1, "activation: expected a list, each item one of wake_word, button, always, "
             'got "button"; write ["button"]')],
    ),
    "wrong items": (
        b"barge_in:\n  hard_words:\n    - stop\n    - [a]\n    - no\n    -\n",
        [(4, "barge_in.hard_words, item 2: expected a text, got a list"),
         (6, "barge_in.hard_words, item 4: expected a text, got nothing")],
    ),
    "wrong item type": (
        b"recovery:\n  llm_retries_s: [1, soon, 3]\n",
        [(2, "recovery.llm_retries_s, item 2: expected a number of s from 0 to 600, "
             'got "soon"')],
    ),
    "unknown key": (
        b"turn:\n  min_silense_to_speak_ms: 400\n",
        [(2, "turn.min_silense_to_speak_ms: unknown key; "
             "did you mean min_silence_to_speak_ms?")],
    ),
    "unknown section": (b"\n\nbarge-in:\n", [(3, "barge-in: unknown key; did you mean barge_in?")]),
    "key of another section": (
        b"turn:\n  min_words: 3\n",
        [(2, "turn.min_words: unknown key; did you mean 'min_words:' below 'barge_in:'?")],
    ),
    "dotted key": (
        b"turn.policy: silence\n",
        [(1, "turn.policy: unknown key; did you mean 'policy:' below 'turn:'?")],
    ),
    "key like nothing": (
        b"zzzzzz: 1\n",
        [(1, "zzzzzz: unknown key; edgevoice config schema lists all keys")],
    ),
    "merge key": (
        b"turn:\n  <<: {policy: silence}\n",
        [(2, 'turn."<<": unknown key; edgevoice config schema lists all keys')],
    ),
    "key given twice": (
        b"llm:\n  threads: 1\n  max_tokens: 9\n  threads: 1\n",
        [(4, "llm.threads: given twice, first in line 2; keep one")],
    ),
    "section given twice": (
        b"llm:\n  threads: 1\n\nllm:\n  max_tokens: 9\n",
        [(4, "llm: given twice, first in line 1; keep one")],
    ),
    "key that is a list": (b"? [a]\n: 1\n", [(1, "a key must be a word, got a list")]),
    "section that is a word": (
        b"turn: easyturn\n",
        [(1, "turn: expected keys such as 'policy:', got \"easyturn\"")],
    ),
    "keys where a value belongs": (
        b"turn:\n  policy:\n    name: x\n",
        [(3, f"turn.policy: expected one of {POLICIES}, got keys")],
    ),
    "a list at the top": (
        b"# a\n- turn\n",
        [(2, "expected keys such as 'activation:', got a list")],
    ),
    "a word at the top": (b"turn\n", [(1, "expected keys such as 'activation:', got \"turn\"")]),
    "tab": (b"turn:\n\tpolicy: silence\n", [(2, "not valid YAML: a tab; indent with spaces")]),
    "quote left open": (
        b"log:\n  level: 'info\nturn:\n  policy: silence\n",
        [(2, "not valid YAML: a quote that is opened here is never closed")],
    ),
    "text after a quote": (
        b'log:\n  level: "in"fo\n',
        [(2, "not valid YAML: a wrong indent, or more text after a closing quote")],
    ),
    "bracket left open": (
        b"activation: [button\nlog:\n  level: info\n",
        [(2, "not valid YAML: no ',' or ']' before this; is a bracket open?")],
    ),
    "wrong indent": (
        b"turn:\n    policy: silence\n  min_text_length: 3\n",
        [(3, "not valid YAML: a wrong indent, or more text after a closing quote")],
    ),
    "two colons": (
        b"llm:\n  model: a: b\n",
        [(2, "not valid YAML: a second ':', a wrong indent, or no ':' in the line above; "
             "a text with ': ' needs quotes")],
    ),
    "no colon": (b"turn:\nlog\n", [(3, "not valid YAML: a key without ':' after it")]),
    "at sign": (b"llm:\n  model: @x\n",
                [(2, "not valid YAML: a text that begins with '@' needs quotes")]),
    "unknown escape": (
        b'llm:\n  model: "C:\\models"\n',
        [(2, "not valid YAML: found unknown escape character 'm'")],
    ),
    "escape beyond Unicode": (
        b'llm:\n  model: "\\UFFFFFFFF"\n',
        [(2, "not valid YAML: Python int too large to convert to C int")],
    ),
    "two documents": (
        b"log:\n  level: info\n---\nlog:\n",
        [(3, "not valid YAML: a second document begins here; keep one")],
    ),
    "unknown alias": (
        b"llm:\n  model: *x\n",
        [(2, "not valid YAML: unknown alias 'x'; a text that begins with '*' needs quotes")],
    ),
    "alias of itself": (b"turn: &t\n  policy: *t\n", [(2, "*t refers to itself")]),
    "too deep": (
        b"turn:\n" + b"[" * 1000,
        [(2, f"nested more than {MAX_DEPTH} levels deep")],
    ),
    "Python tag": (
        b"turn:\n  policy: !!python/object/apply:os.system [true]\n",
        [(2, "the tag !!python/object/apply:os.system is not allowed; remove it"),
         (2, f"turn.policy: expected one of {POLICIES}, got a list")],
    ),
    "tag": (b"llm:\n  threads: !!int 2\n", [(2, "the tag !!int is not allowed; remove it")]),
    "not UTF-8": (
        b"\xef\xbb\xbfllm:\n  model: caf\xe9\n",
        [(2, "byte 0xE9 is not UTF-8; save the file as UTF-8")],
    ),
    "UTF-16": (
        "llm:\n".encode("utf-16"),
        [(1, "byte 0xFF is not UTF-8; save the file as UTF-8")],
    ),
    "NUL": (b"log:\n  level: in\0fo\n", [(2, "character U+0000 is not allowed in YAML")]),
    "no activation": (
        b"activation: []\n",
        [(1, "activation: name at least one of wake_word, button, always")],
    ),
    "thresholds crossed": (
        b"turn:\n  vad_threshold_silent: 0.8\n",
        [(2, "turn.vad_threshold_silent: must be below turn.vad_threshold_speaking (0.7), "
             "got 0.8")],
    ),
    "thresholds equal, both set": (
        b"turn:\n  energy_threshold_low: 0.01\n  energy_threshold_high: 0.01\n",
        [(3, "turn.energy_threshold_high: must be above turn.energy_threshold_low (0.01), "
             "got 0.01")],
    ),
    "ms against s": (
        b"timeouts:\n  held_s: 0.5\n",
        [(2, "timeouts.held_s: must be at least barge_in.commit_ms (800 ms), got 0.5 s")],
    ),
    "early result after the wait": (
        b"turn:\n  flush_after_ms: 450\n",
        [(2, "turn.flush_after_ms: must be at most turn.min_silence_to_speak_ms (400 ms), "
             "got 450 ms")],
    ),
    "two lamps": (
        b"gpio:\n  led_pins: [22, 23]\n",
        [(2, "gpio.led_pins: expected 3 pins (red, green, blue), 1 or none, got 2")],
    ),
    "one pin twice": (
        b"gpio:\n  led_pins: [22, 22, 23]\n",
        [(2, "gpio.led_pins: a pin is named twice")],
    ),
    "pin of the button": (
        b"gpio:\n  button_pin: 24\n",
        [(2, "gpio.led_pins: pin 24 is gpio.button_pin already")],
    ),
    "several at once, in order of lines": (
        b"activation: []\nlog:\n  level: loud\nturn:\n  polcy: x\nlog: 3\nprofile: !!int 5\n",
        [(1, "activation: name at least one of wake_word, button, always"),
         (3, "log.level: expected one of debug, info, warning, error, got \"loud\""),
         (5, "turn.polcy: unknown key; did you mean policy?"),
         (6, "log: given twice, first in line 2; keep one"),
         (7, "the tag !!int is not allowed; remove it"),
         (7, "profile: expected one of default, aggressive, patient, got 5")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_each_mistake_is_one_line_with_its_place(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, problems = BROKEN[name]
    path = tmp_path / "edgevoice.yaml"
    path.write_bytes(data)

    status = main(["config", "check", str(path)])

    told = capsys.readouterr()
    assert told.err.splitlines() == [f"edgevoice: {path}:{line}: {text}" for line, text in problems]
    assert told.out == ""
    assert status == 78


@pytest.mark.parametrize("name", ["not a number", "tab", "not UTF-8", "too deep", "Python tag"])
def test_the_same_from_a_process_of_its_own(name: str, tmp_path: Path) -> None:
    data, problems = BROKEN[name]
    path = tmp_path / "edgevoice.yaml"
    path.write_bytes(data)

    done = subprocess.run(
        [sys.executable, "-m", "edgevoice", "--config", str(path), "config", "show"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 78
    assert len(done.stderr.splitlines()) == len(problems)
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_refused_key_is_not_compared_with_its_neighbour(tmp_path: Path) -> None:
    path = tmp_path / "edgevoice.yaml"
    path.write_text("turn:\n  vad_threshold_silent: quiet\n  vad_threshold_speaking: 0.2\n")
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert len(str(caught.value).splitlines()) == 1


def test_a_file_of_something_else_does_not_flood_the_screen(tmp_path: Path) -> None:
    path = tmp_path / "edgevoice.yaml"
    path.write_text("".join(f"k{number}: 1\n" for number in range(MAX_TOLD + 7)))
    with pytest.raises(ConfigError) as caught:
        load(path)
    lines = str(caught.value).splitlines()
    assert len(lines) == MAX_TOLD + 1
    assert lines[-1] == f"{path}: 7 more errors are not shown"


def test_a_long_name_does_not_flood_it_either(tmp_path: Path) -> None:
    path = tmp_path / "edgevoice.yaml"
    path.write_text(f"llm: *{'x' * 9000}\n")
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert len(str(caught.value)) < len(str(path)) + MAX_LENGTH + 20


def test_a_file_too_large(tmp_path: Path) -> None:
    path = tmp_path / "edgevoice.yaml"
    path.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(ConfigError, match=r"edgevoice.yaml: larger than 128 KiB; "):
        load(path)
    path.write_bytes(b"#" * MAX_BYTES)
    load(path)
