"""What an owner's command is told when the daemon is not as it should be."""

import json
import socket
import threading

import pytest

from edgevoice.errors import DaemonError
from edgevoice.system import client
from edgevoice.system.client import Client


def refusal(path):
    with pytest.raises(DaemonError) as caught:
        Client(str(path))
    assert "\n" not in str(caught.value)
    assert caught.value.todo
    return str(caught.value)


def test_no_daemon(path):
    assert refusal(path).startswith("edgevoice is not running; start it:")


def test_a_socket_left_behind_is_no_daemon(path):
    socket.socket(socket.AF_UNIX).bind(str(path))
    assert refusal(path).startswith("edgevoice is not running")


def test_a_socket_that_is_not_ours_to_open(path, monkeypatch):
    def denied(self, address):
        raise PermissionError

    monkeypatch.setattr(socket.socket, "connect", denied)
    assert "usermod -aG edgevoice" in refusal(path)


@pytest.fixture
def impostor(path):
    """Something else that listens there."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(path))
    listening.listen()

    def says(*lines):
        def serve():
            connection, _ = listening.accept()
            connection.sendall(b"".join(lines))
            connection.close()

        threading.Thread(target=serve, daemon=True).start()

    yield says
    listening.close()


HELLO = b'{"type":"hello","payload":{"product":"edgevoice","version":"9","protocol":1}}\n'


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "has ended"),
        ([b"220 smtp ready\n"], "is no edgevoice"),
        ([b"[1]\n"], "is no edgevoice"),
        ([b'{"type":"hello","payload":{"protocol":2}}\n'], "speaks protocol 2, this command 1"),
        ([HELLO[:-1]], "has ended"),
    ],
)
def test_a_strange_greeting(path, impostor, lines, told):
    impostor(*lines)
    assert told in refusal(path)


def test_a_daemon_that_ends_in_the_middle(path, impostor):
    impostor(HELLO)
    daemon = Client(str(path))
    with pytest.raises(DaemonError, match="has ended"):
        daemon.request("status")


def test_a_daemon_that_hangs(path, monkeypatch):
    monkeypatch.setattr(client, "PATIENCE_S", 0.05)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(path))
    listening.listen()
    assert "does not answer" in refusal(path)


def test_a_refusal_is_an_error_with_its_reason(house):
    with Client(str(house.path)) as daemon:
        daemon.request("mute")
        with pytest.raises(DaemonError, match="start: not possible while suspended"):
            daemon.request("start")


def test_events_that_come_between_are_not_lost(house):
    with Client(str(house.path)) as daemon:
        events = daemon.events(["state"])
        assert next(events)["payload"]["state"] == "idle"
        daemon.request("start")
        daemon.request("stop")
        assert [next(events)["payload"]["state"] for _ in range(2)] == ["listening", "idle"]


def test_a_request_is_one_line(path, impostor):
    impostor(HELLO, b'{"type":"reply","id":null,"payload":{"a":1}}\n')
    assert Client(str(path)).request("status") == {"a": 1}
    assert json.loads(HELLO)["payload"]["protocol"] == client.VERSION
