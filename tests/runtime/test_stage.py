import threading

from edgevoice.core.events import Event, Fault, FaultKind
from edgevoice.runtime.stage import Stage


class Echo(Stage[str]):
    """Keeps what it is sent; "break" makes it raise, "block" makes it wait."""

    def __init__(self, events, capacity=512):
        super().__init__("echo", events, capacity)
        self.seen: list[str] = []
        self.gate = threading.Event()
        self.entered = threading.Event()

    def handle(self, message: str) -> None:
        if message == "break":
            raise ValueError("broken\nsecond line")
        if message == "block":
            self.entered.set()
            self.gate.wait()
        self.seen.append(message)


def test_messages_posted_before_stop_are_still_handled_in_order():
    stage = Echo([].append)
    for word in ("a", "b", "c"):
        stage.post(word)
    stage.start()
    assert stage.stop()
    assert stage.seen == ["a", "b", "c"]


def test_several_messages_rouse_it_once(monkeypatch):
    stage, roused = Echo([].append), []
    monkeypatch.setattr(stage._wakeup, "rouse", lambda: roused.append(True))
    stage.post_all(("a", "b", "c"))
    assert list(stage._inbox) == ["a", "b", "c"]
    assert roused == [True]


def test_a_full_inbox_refuses_and_counts():
    stage = Echo([].append, capacity=2)
    assert stage.post("a")
    assert stage.post("b")
    assert not stage.post("c")
    assert stage.dropped == 1


def test_an_exception_becomes_one_fault_and_the_stage_lives_on(caplog):
    events: list[Event] = []
    stage = Echo(events.append)
    stage.fault_kind = FaultKind.LLM
    for word in ("break", "after"):
        stage.post(word)
    stage.start()
    assert stage.stop()
    assert stage.seen == ["after"]
    (fault,) = events
    assert isinstance(fault, Fault)
    assert fault.part == "echo"
    assert fault.reason == "ValueError: broken"
    assert "broken" not in caplog.text, "the text of an error may quote what somebody said"
    assert "ValueError at test_stage.py" in caplog.text


def test_a_stage_whose_engine_broke_ends_and_another_takes_its_inbox_over():
    events: list[Event] = []
    stage = Echo(events.append)
    for word in ("break", "after"):
        stage.post(word)
    stage.start()
    assert stage.leave(timeout=5.0)
    assert [fault.kind for fault in events] == [FaultKind.ENGINE]
    stage.post("late")
    fresh = Echo(events.append)
    fresh.inherit(stage)
    fresh.start()
    assert fresh.stop()
    assert (stage.seen, fresh.seen) == ([], ["after", "late"])


def test_what_a_stage_does_after_it_was_cut_off_is_heard_by_nobody():
    events: list[Event] = []
    stage = Echo(events.append)
    passed_on: list[str] = []
    outlet = stage.outlet(passed_on.append)
    stage.start()
    stage.post("block")
    stage.entered.wait()
    stage.post("for the successor")
    assert not stage.leave(timeout=0.01)
    stage.cut_off()
    fresh = Echo(events.append)
    fresh.inherit(stage)
    stage.gate.set()
    assert stage.leave(timeout=5.0)
    outlet("late")
    stage.emit("late")
    fresh.start()
    assert fresh.stop()
    assert (events, passed_on) == ([], [])
    assert fresh.seen == ["for the successor"]


def test_a_stage_is_silent_while_its_work_hangs_and_not_when_it_has_ended():
    stage = Echo([].append)
    stage.start()
    stage.post("block")
    stage.entered.wait()
    assert stage.silent_s(stage.beat + 11.0) == 11.0
    stage.gate.set()
    assert stage.stop()
    assert stage.silent_s(stage.beat + 11.0) == 0.0


def test_a_stage_that_hangs_is_named_and_left_behind(caplog):
    stage = Echo([].append)
    stage.start()
    stage.post("block")
    stage.entered.wait()
    assert not stage.stop(timeout=0.01)
    assert "echo does not stop" in caplog.text
    stage.gate.set()


def test_a_stopped_stage_takes_no_more():
    stage = Echo([].append)
    stage.start()
    assert stage.stop()
    assert not stage.post("late")
