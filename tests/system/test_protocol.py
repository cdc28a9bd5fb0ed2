"""Bytes in, requests or one clear error out: whatever the bytes are."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from edgevoice.system.protocol import (
    COMMANDS,
    MAX_LINE,
    MAX_TEXT,
    Lines,
    ProtocolError,
    encode,
    parse,
)


def refused(line):
    with pytest.raises(ProtocolError) as caught:
        parse(line)
    return caught.value


def test_a_request_and_its_arguments():
    request = parse(b'{"command": "say", "text": "tea is ready", "wait": true, "id": "a1"}')
    assert (request.command, request.text, request.wait, request.id) == (
        "say",
        "tea is ready",
        True,
        "a1",
    )


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ("say", "ask")])
def test_a_command_needs_nothing_but_its_name(command):
    request = parse(json.dumps({"command": command}).encode())
    assert (request.command, dict(request.arguments), request.id) == (command, {}, None)
    assert not request.wait


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"", "malformed"),
        (b"status", "malformed"),
        (b"\xff\xfe", "malformed"),
        (b"[]", "malformed"),
        (b"null", "malformed"),
        (b"[" * 60_000, "malformed"),
        (b"9" * 60_000, "malformed"),
        (b'{"command": "status", "id": 1.5}', "malformed"),
        (b'{"command": "status", "id": true}', "malformed"),
        (b'{"command": "status", "id": "' + b"x" * 101 + b'"}', "malformed"),
        (b"{}", "unknown_command"),
        (b'{"command": "explode"}', "unknown_command"),
        (b'{"command": ["status"]}', "unknown_command"),
        (b'{"command": "say"}', "argument"),
        (b'{"command": "say", "text": 7}', "argument"),
        (b'{"command": "say", "text": " \\n"}', "argument"),
        (b'{"command": "say", "text": "\\ud800"}', "argument"),
        (b'{"command": "say", "text": "x", "wait": 1}', "argument"),
        (b'{"command": "say", "text": "x", "volume": 1}', "argument"),
        (b'{"command": "mute", "text": "x"}', "argument"),
        (b'{"command": "subscribe", "events": ["state", "secrets"]}', "argument"),
        (b'{"command": "subscribe", "events": [[]]}', "argument"),
        (b'{"command": "subscribe", "events": "state"}', "argument"),
        (json.dumps({"command": "ask", "text": "x" * (MAX_TEXT + 1)}).encode(), "argument"),
        (None, "too_long"),
    ],
)
def test_what_is_wrong_is_told_in_one_short_line(line, code):
    error = refused(line)
    assert error.code == code
    assert "\n" not in str(error)
    assert len(str(error)) < 200


def test_an_error_names_the_request_it_belongs_to():
    assert refused(b'{"command": "say", "id": 7}').request == 7


# -- lines ------------------------------------------------------------------------------


def cut(*pieces):
    lines = Lines()
    return [line for piece in pieces for line in lines.feed(piece)]


def test_lines_come_whole_however_the_bytes_come():
    data = b"one\ntwo\n\nthree\n"
    expected = [b"one", b"two", b"", b"three"]
    assert cut(data) == expected
    assert cut(*(bytes([byte]) for byte in data)) == expected


@pytest.mark.parametrize("step", [1000, 4096, 10 * MAX_LINE])
def test_a_line_too_long_is_told_once_and_skipped_to_its_end(step):
    data = b"x" * (3 * MAX_LINE) + b"\nshort\n" + b"y" * MAX_LINE + b"\nend\n"
    pieces = [data[at : at + step] for at in range(0, len(data), step)]
    assert cut(*pieces) == [None, b"short", None, b"end"]


def test_the_longest_line_passes():
    assert cut(b"x" * (MAX_LINE - 1) + b"\n") == [b"x" * (MAX_LINE - 1)]
    assert cut(b"x" * MAX_LINE + b"\n") == [None]


def test_an_endless_line_takes_no_memory():
    lines = Lines()
    for _ in range(100):
        list(lines.feed(b"x" * MAX_LINE))
    assert len(lines._begun) <= MAX_LINE


@settings(max_examples=300)
@given(st.lists(st.binary(max_size=200), max_size=20))
def test_no_line_is_lost_or_made_up(pieces):
    assert cut(*pieces) == b"".join(pieces).split(b"\n")[:-1]


# -- anything ---------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
REQUESTS = st.dictionaries(
    st.sampled_from(["command", "id", "text", "wait", "events", "reason", "x"]),
    st.sampled_from([*COMMANDS, ["state"], ["levels", 1], True, 1]) | JSON,
)


@settings(max_examples=500)
@given(
    st.binary(max_size=400)
    | JSON.map(lambda value: json.dumps(value).encode())
    | REQUESTS.map(lambda value: json.dumps(value).encode())
)
@example(b'{"command": NaN}')
@example(b'{"id": 1e999, "command": "status"}')
def test_any_bytes_are_a_request_or_one_error(line):
    try:
        request = parse(line)
    except ProtocolError as error:
        encode({"id": error.request, "payload": str(error)})
    else:
        assert request.command in COMMANDS
        assert set(request.arguments) <= set(COMMANDS[request.command])


@given(st.text())
def test_a_message_is_one_line_of_ascii(text):
    line = encode({"text": text})
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert json.loads(line) == {"text": text}
