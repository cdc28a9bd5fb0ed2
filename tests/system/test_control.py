"""The control socket of the real app: on tiny engines, over a real Unix socket."""

import contextlib
import json
import logging
import random
import socket
import stat
import threading

import pytest

from edgevoice import __version__
from edgevoice.core.table import Place
from edgevoice.ports import Speech
from edgevoice.runtime.stage import Stage
from edgevoice.system import control
from edgevoice.system.control import Control
from edgevoice.system.endpoint import Endpoint
from edgevoice.system.protocol import MAX_LINE, VERSION
from tests.patience import until
from tests.system.house import House, Wire
from tests.test_app import QUESTION, engines


def test_the_first_line_says_who_speaks_which_protocol(wire):
    assert wire.hello == {
        "type": "hello",
        "payload": {"product": "edgevoice", "version": __version__, "protocol": VERSION},
    }


def test_owner_and_group_may_and_nobody_else(house):
    mode = house.path.stat().st_mode
    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o660


def test_a_reply_has_the_id_of_its_request(wire):
    assert wire.ask({"command": "snapshot", "id": "a"})["id"] == "a"
    assert wire.ask({"command": "nonsense", "id": 9})["id"] == 9
    assert wire.ask({"command": "snapshot"})["id"] is None


# -- what the core takes, and what it refuses ----------------------------------------------


def accepted(wire, command, **arguments):
    message = wire.ask({"command": command, **arguments})
    assert message["type"] == "reply", message
    return message["payload"]


def refusal(wire, command, **arguments):
    message = wire.ask({"command": command, **arguments})
    assert message["type"] == "error", message
    return message["payload"]


def test_start_is_answered_when_the_device_listens(wire, house):
    assert accepted(wire, "start") == {"state": "listening", "phase": None}
    until(lambda: house.witness.places[-1] is Place.LISTENING)


def test_con_002_a_second_start_is_refused_with_a_state_error(wire):
    accepted(wire, "start")
    assert refusal(wire, "start") == {
        "code": "state",
        "message": "not possible while listening",
    }
    assert accepted(wire, "snapshot")["state"] == "listening"


def test_stop_closes_the_conversation_and_once_more_does_no_harm(wire):
    accepted(wire, "start")
    assert accepted(wire, "stop")["state"] == "idle"
    assert accepted(wire, "stop")["state"] == "idle"


def test_mute_and_unmute(wire, house):
    assert accepted(wire, "mute")["state"] == "suspended"
    until(lambda: "microphone.stop" in house.outside.log)
    assert refusal(wire, "start")["code"] == "state"
    assert accepted(wire, "unmute")["state"] == "idle"


def test_suspend_and_resume(wire):
    accepted(wire, "start")
    assert accepted(wire, "suspend", reason="diagnostics")["state"] == "suspended"
    assert accepted(wire, "resume")["state"] == "listening"


class Endless:
    """A voice that does not come to an end."""

    rate = 16_000

    def speak(self, text, cancelled):
        from tests.test_app import Hum

        while not cancelled():
            threading.Event().wait(0.001)
            yield from Hum().speak("on and on", cancelled)
        yield Speech(next(iter(Hum().speak("x", cancelled))).samples, ())


@pytest.fixture
def talkative(path):
    parts = engines()
    parts.synthesiser = Endless()
    with House(path, engines=parts).running() as house:
        yield house


def test_interrupt_stops_the_answer(talkative):
    wire = Wire(talkative.path)
    accepted(wire, "subscribe")
    accepted(wire, "ask", text="tell me everything")
    wire.await_event("state", state="speaking")
    assert accepted(wire, "interrupt")["state"] == "interrupted"
    wire.await_event("state", state="listening")


def test_a_question_is_answered_aloud(wire, house):
    accepted(wire, "subscribe")
    assert accepted(wire, "ask", text="where is the sea", wait=True)["outcome"] == "completed"
    until(lambda: house.witness.turns)
    assert [record.heard for record in house.witness.turns] == ["where is the sea"]
    assert house.outside.played > 0


def test_an_announcement_is_spoken(wire, house):
    assert accepted(wire, "say", text="The tea is ready.", wait=True)["outcome"] == "completed"
    until(lambda: house.witness.turns)
    assert [record.played for record in house.witness.turns] == ["The tea is ready."]


def test_who_waits_is_told_that_it_was_interrupted(talkative):
    wire, other = Wire(talkative.path), Wire(talkative.path)
    accepted(other, "subscribe")
    wire.send({"command": "ask", "text": "tell me everything", "wait": True})
    other.await_event("state", state="speaking")
    accepted(other, "stop")
    assert wire.receive()["payload"]["outcome"] == "interrupted"


def test_who_waits_for_what_was_called_off_does_not_wait_for_ever(talkative):
    wire, other = Wire(talkative.path), Wire(talkative.path)
    accepted(other, "subscribe")
    accepted(other, "ask", text="first")
    other.await_event("state", state="speaking")
    wire.send({"command": "ask", "text": "second", "wait": True})
    until(lambda: talkative.tally._waiting)
    accepted(other, "stop")
    assert wire.receive()["payload"] == {"outcome": "dropped"}


def test_two_who_ask_the_same_are_both_answered(house):
    wires = [Wire(house.path) for _ in range(2)]
    for wire in wires:
        wire.send({"command": "ask", "text": "the same", "wait": True})
    told = [wire.receive()["payload"] for wire in wires]
    assert {t["outcome"] for t in told} <= {"completed", "interrupted", "dropped"}
    assert "completed" in {t["outcome"] for t in told}


@pytest.mark.parametrize(("reason", "kind"), [("", "reply"), ("line 3: no such key", "error")])
def test_reload_tells_what_the_daemon_says(path, reason, kind):
    with House(path, reload=lambda: reason).running() as house:
        message = Wire(house.path).ask({"command": "reload"})
    assert message["type"] == kind
    if reason:
        assert message["payload"] == {"code": "failed", "message": reason}


def test_a_slow_reload_keeps_nobody_waiting(path):
    release = threading.Event()
    with House(path, reload=lambda: (release.wait(), "")[1]).running() as house:
        slow, quick = Wire(house.path), Wire(house.path)
        slow.send({"command": "reload"})
        accepted(quick, "status")
        release.set()
        assert slow.receive()["type"] == "reply"


# -- events ---------------------------------------------------------------------------------


def test_a_conversation_as_subscribers_see_it(wire, house):
    snapshot = accepted(wire, "subscribe")
    assert (snapshot["state"], snapshot["localizedLabel"]) == ("idle", "○ Ready")
    house.speak()
    started = wire.await_event("turn", event="turn-started")
    assert started["role"] == "user"
    finished = wire.await_event("turn", role="user", event="turn-completed")
    assert finished["turnId"] == started["turnId"]
    assert finished["confidence"] == 0.9
    assert finished["durationMs"] >= 0
    speaking = wire.await_event("turn", role="assistant", event="turn-started")
    assert speaking["turnId"] == started["turnId"]
    over = wire.await_event("turn", role="assistant", event="turn-completed")
    assert over["confidence"] == 0.9
    assert over["durationMs"] > 0
    assert {"eot", "llmFirstToken", "ttsFirstAudio", "response"} <= set(over["latenciesMs"])


def test_a_state_event_is_what_the_contract_says(wire):
    accepted(wire, "subscribe", events=["state"])
    wire.send({"command": "start"})
    state = wire.await_event("state", state="listening")
    assert state.pop("since").endswith("Z")
    assert state.pop("turnId").startswith("turn-")
    assert state == {
        "state": "listening",
        "phase": None,
        "previousState": "idle",
        "localizedLabel": "● Listening",
        "metadata": {
            "sessionId": "s",
            "cause": "user.start",
            "interruptionCount": 0,
            "retryCount": 0,
            "pendingActions": [],
        },
    }


def test_levels_come_while_somebody_wants_them(wire):
    accepted(wire, "subscribe", events=["levels"])
    for _ in range(3):
        message = wire.receive()
        assert message["type"] == "levels"
        assert message["payload"] == {"microphone": 0.5, "cancelled": 0.25, "speaker": 0.125}
    accepted(wire, "subscribe", events=[])
    accepted(wire, "status")


def converse(house, wire):
    """A question by voice and its answer; every message that came meanwhile, as text."""
    wire.ask({"command": "subscribe", "events": ["state", "turn", "partial"]})
    house.speak()
    until(lambda: house.witness.turns)
    wire.send({"command": "status"})
    wire.send({"command": "ask", "text": "secret of mine", "wait": True})
    told = []
    while len([m for m in told if m["type"] == "reply"]) < 2:
        told.append(wire.receive())
    return told


def test_words_are_told_to_nobody(house, wire):
    said = json.dumps(converse(house, wire))
    assert "sea" not in said
    assert "secret" not in said
    assert "partial" not in said


def test_words_are_told_with_the_owners_leave(path):
    with House(path, words=True).running() as house:
        told = converse(house, Wire(house.path))
    partials = [m["payload"]["text"] for m in told if m["type"] == "partial"]
    assert QUESTION in partials
    turns = [m["payload"].get("transcript") for m in told if m["type"] == "turn"]
    assert QUESTION in turns
    assert f"{QUESTION}. It is wide." in turns
    assert told[-1]["payload"]["transcript"] == "secret of mine. It is wide."


def test_status_counts_what_happened(house, wire):
    accepted(wire, "ask", text="one", wait=True)
    refusal(wire, "say")
    status = accepted(wire, "status")
    assert status["metrics"]["turns"] == 1
    assert status["metrics"]["errors"] == 0
    assert [stay["state"] for stay in status["timeline"]][:4] == [
        "idle",
        "listening",
        "processing",
        "speaking",
    ]
    assert all(stay["durationMs"] >= 0 for stay in status["timeline"])
    assert status["turns"][0]["turnId"] == status["timeline"][3]["turnId"]


def test_the_timeline_has_the_last_twenty(house, wire):
    for _ in range(15):
        accepted(wire, "start")
        accepted(wire, "stop")
    assert len(accepted(wire, "status")["timeline"]) == 20


# -- nobody can hurt it -----------------------------------------------------------------------


def test_nonsense_is_answered_line_by_line_and_nothing_else_breaks(wire):
    for line in (b"\x00\xff", b"{", b"[]", b"x" * 1000):
        assert refusal_of(wire, line)["code"] == "malformed"
    wire.send(b"y" * (2 * MAX_LINE))
    assert wire.receive()["payload"]["code"] == "too_long"
    accepted(wire, "status")


def refusal_of(wire, line):
    wire.send(line)
    return wire.receive()["payload"]


def test_thousands_of_random_bytes(house):
    chaos = random.Random(6)
    for _ in range(60):
        raw = socket.socket(socket.AF_UNIX)
        raw.connect(str(house.path))
        with contextlib.suppress(OSError):
            raw.sendall(chaos.randbytes(chaos.randrange(20_000)))
        raw.close()
    wire = Wire(house.path)
    assert accepted(wire, "status")["state"] == "idle"
    until(lambda: len(house.control._peers) == 1)


def test_who_does_not_read_is_dropped_and_the_others_are_served(house, monkeypatch, caplog):
    monkeypatch.setattr(control, "MAX_UNREAD", 2000)
    deaf, wire = Wire(house.path), Wire(house.path)
    deaf.ask({"command": "subscribe"})
    deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    with caplog.at_level(logging.WARNING):
        while len(house.control._peers) == 2:
            accepted(wire, "start")
            accepted(wire, "stop")
    assert "does not read" in caplog.text
    accepted(wire, "status")


def test_one_connection_too_many_is_told_so(house, monkeypatch):
    monkeypatch.setattr(control, "MAX_PEERS", 2)
    wires = [Wire(house.path) for _ in range(2)]
    extra = Wire(house.path)
    assert extra.receive()["payload"]["code"] == "full"
    assert extra.receive() is None
    wires[0].close()
    until(lambda: len(house.control._peers) == 1)
    accepted(Wire(house.path), "status")
    accepted(wires[1], "status")


def test_who_leaves_before_the_answer_is_forgotten(talkative):
    wire = Wire(talkative.path)
    wire.send({"command": "ask", "text": "tell me everything", "wait": True})
    until(lambda: talkative.tally._waiting)
    wire.close()
    other = Wire(talkative.path)
    accepted(other, "stop")
    until(lambda: not talkative.tally._waiting)
    until(lambda: not talkative.control._pending)
    accepted(other, "status")


def test_requests_that_wait_do_not_pile_up(talkative, monkeypatch):
    monkeypatch.setattr(control, "MAX_PENDING", 3)
    wire, other = Wire(talkative.path), Wire(talkative.path)
    for _ in range(4):
        wire.send({"command": "ask", "text": "tell me everything", "wait": True})
    assert wire.receive()["payload"]["code"] == "full"
    assert refusal(other, "status")["code"] == "full"


def test_before_the_desk_is_open_everybody_is_told_so(path):
    with Control(Endpoint(path)):
        assert Wire(path).ask({"command": "status"})["payload"]["code"] == "starting"


def test_a_core_that_does_not_answer_is_told_after_a_while(house, wire, monkeypatch):
    monkeypatch.setattr(control, "PATIENCE_S", 0.05)
    release = threading.Event()
    house.device.driver.look(lambda core: release.wait())
    try:
        assert refusal(wire, "status")["code"] == "busy"
    finally:
        release.set()
    accepted(wire, "status")


def test_a_driver_that_has_ended_is_told_at_once(house, wire, monkeypatch):
    monkeypatch.setattr(Stage, "post", lambda self, message: False)
    try:
        assert refusal(wire, "mute")["code"] == "busy"
        assert refusal(wire, "status")["code"] == "busy"
    finally:
        monkeypatch.undo()


def test_the_end_is_seen_and_the_socket_is_gone(path):
    with House(path).running() as house:
        wire = Wire(path)
        accepted(wire, "subscribe")
        assert house.control._thread.is_alive()
    wire.await_event("state", state="terminating")
    assert wire.receive() is None
    assert not path.exists()
    assert not house.control._thread.is_alive()
