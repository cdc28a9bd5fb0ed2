from datetime import datetime

import pytest

from edgevoice.core.events import Mute
from edgevoice.skills.basics import Basics
from edgevoice.skills.language import Language
from edgevoice.skills.registry import Registry


class Device:
    def __init__(self, volume=50, last_answer=""):
        self.volume = volume
        self.last_answer = last_answer


def ask(name, device=None, **arguments):
    tools = Registry()
    now = datetime(2026, 11, 21, 19, 15)
    tools.add(*Basics(device or Device(), Language("en"), lambda: now).tools())
    assert tools.accepts(name, arguments)
    return tools[name].run(arguments, None)


def test_time_and_date_are_words():
    assert ask("time").spoken == "It is seven fifteen."
    assert ask("time").result == "19:15"
    assert ask("date").spoken == "Today is Saturday, November twenty-first."


def test_the_volume_is_set_and_told():
    device = Device()
    assert ask("volume_set", device, percent=30).spoken == "Volume thirty percent."
    assert device.volume == 30
    assert ask("volume_get", device).spoken == "Volume thirty percent."


@pytest.mark.parametrize(
    ("before", "direction", "after"),
    [(50, "up", 65), (50, "down", 35), (95, "up", 100), (5, "down", 0), (100, "up", 100)],
)
def test_louder_and_quieter_in_steps_that_end_at_the_ends(before, direction, after):
    device = Device(before)
    ask("volume_change", device, direction=direction)
    assert device.volume == after


def test_mute_says_nothing_and_closes_the_microphone_afterwards():
    outcome = ask("mute")
    assert (outcome.result, outcome.spoken) == ("", "")
    assert isinstance(outcome.then, Mute)


def test_the_last_answer_is_said_again():
    assert ask("repeat", Device(last_answer="It is noon.")).spoken == "It is noon."
    assert ask("repeat").spoken == "I have not said anything yet."


def test_stop_has_nothing_to_say():
    assert (ask("stop").result, ask("stop").spoken) == ("", "")


def test_help_tells_what_there_is():
    assert "timers" in ask("help").spoken
