import json
import queue
import threading

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.ports import Outcome
from edgevoice.stages.tools import AT_ONCE, Tools


class Box:
    """A toolbox whose tools do as they are told."""

    def __init__(self, **tools):
        self.tools = tools

    def run(self, name, arguments, task):
        return self.tools[name](json.loads(arguments), task)


@pytest.fixture
def told():
    return queue.Queue()


def tools(told, **box):
    return Tools(told.put, Box(**box))


def test_a_call_is_answered_from_a_thread_of_its_own(told):
    here = threading.get_ident()
    ran = []

    def lamp(arguments, task):
        ran.append(threading.get_ident())
        return Outcome(arguments["state"], "It is on.")

    tools(told, lamp=lamp).run(cmd.RunTool(7, 2, "lamp", '{"state": "on"}'))
    done = told.get(timeout=30)
    assert (done.turn, done.call, done.result, done.spoken) == (7, 2, "on", "It is on.")
    assert ran[0] != here


def test_what_shall_follow_comes_after_the_result(told):
    mute = ev.Mute(1.0)
    tools(told, mute=lambda a, t: Outcome(then=mute)).run(cmd.RunTool(7, 2, "mute", "{}"))
    assert isinstance(told.get(timeout=30), ev.ToolDone)
    assert told.get(timeout=30) is mute


def test_a_call_that_is_called_off_is_told_so_and_tells_nothing(told):
    began, ended = threading.Event(), threading.Event()

    def slow(arguments, task):
        began.set()
        while not task.cancelled():
            ended.wait(0.01)
        ended.set()
        return Outcome("late")

    some = tools(told, slow=slow, lamp=lambda a, t: Outcome("on"))
    some.run(cmd.RunTool(7, 1, "slow", "{}"))
    assert began.wait(30)
    some.cancel(cmd.CancelTool(7, 1))
    assert ended.wait(30)
    some.stop()
    some.run(cmd.RunTool(8, 1, "lamp", "{}"))
    assert told.get(timeout=30).result == "on"


def test_a_beat_is_told_with_its_call(told):
    def slow(arguments, task):
        task.beat()
        return Outcome("done")

    tools(told, slow=slow).run(cmd.RunTool(7, 1, "slow", "{}"))
    beat = told.get(timeout=30)
    assert (type(beat), beat.turn, beat.call) == (ev.TaskBeat, 7, 1)


def test_tools_that_hang_keep_their_own_places_and_nobody_elses(told):
    gate = threading.Event()
    some = tools(
        told, hangs=lambda a, t: gate.wait() and Outcome(), lamp=lambda a, t: Outcome("on")
    )
    for call in range(AT_ONCE):
        some.run(cmd.RunTool(7, call, "hangs", "{}"))
    some.run(cmd.RunTool(7, 8, "hangs", "{}"))
    assert "still busy" in told.get(timeout=30).result
    some.run(cmd.RunTool(7, 9, "lamp", "{}"))
    assert told.get(timeout=30).result == "on"
    gate.set()


def test_the_end_calls_all_off_and_does_not_wait_for_ever(told):
    gate = threading.Event()
    some = tools(told, hangs=lambda a, t: gate.wait() and Outcome())
    some.run(cmd.RunTool(7, 1, "hangs", "{}"))
    some.stop(timeout=0.05)
    gate.set()
    some.stop()
    assert told.empty()
