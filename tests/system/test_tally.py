"""What the owner is told of a conversation, in simulated time."""

import json

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.table import Place
from edgevoice.system.tally import Tally, Waiter
from tests.core.talk import Talk


class Watched(Talk):
    """A conversation that is tallied."""

    def __init__(self, words=False, **sections):
        self.told = []
        self.tally = Tally("en", words, lambda kind, p: self.told.append((kind, p)), session="s")
        super().__init__(**sections)

    def feed(self, event):
        commands = super().feed(event)
        self.tally(event, commands)
        return commands

    def turns(self):
        return [(p["event"], p["role"]) for kind, p in self.told if kind == "turn"]

    def metrics(self):
        return self.tally.status(self.core)["metrics"]


def a_whole_exchange(talk):
    talk.wake()
    talk.ask("what is the capital of france")
    talk.answer("The capital of France is Paris.")
    talk.finish()


def test_an_exchange_is_two_turns():
    talk = Watched()
    a_whole_exchange(talk)
    assert talk.turns() == [
        ("turn-started", "user"),
        ("turn-completed", "user"),
        ("turn-started", "assistant"),
        ("turn-completed", "assistant"),
    ]
    (user, device) = [p for kind, p in talk.told if kind == "turn" and "completed" in p["event"]]
    assert user["turnId"] == device["turnId"]
    assert user["confidence"] == device["confidence"] == pytest.approx(0.9)
    assert device["durationMs"] == pytest.approx(6 * 250, abs=40)


def test_an_interruption_is_told_and_counted():
    talk = Watched()
    talk.answering()
    talk.speak(0.3)
    talk.hear("stop that please")
    talk.dropped_at(8000)
    talk.wait(0.1)
    assert ("turn-interrupted", "assistant") in talk.turns()
    metrics = talk.metrics()
    assert (metrics["turns"], metrics["interruptions"], metrics["interruptionRate"]) == (1, 1, 1.0)


def test_a_soft_ack_is_no_turn():
    talk = Watched()
    talk.answering()
    before = talk.turns()
    talk.speak(0.1)
    assert talk.place is Place.HELD
    talk.held_at(8000)
    talk.say("yeah", seconds=0.3)
    talk.wait(0.3)
    assert talk.place is Place.PLAYING
    assert talk.turns() == before
    assert talk.metrics()["interruptions"] == 0


def test_the_time_to_first_audio_is_a_mean():
    talk = Watched()
    a_whole_exchange(talk)
    first = talk.last(cmd.TurnRecord).response_ms
    talk.ask("and of germany")
    talk.wait(0.4)
    talk.answer("That is Berlin.")
    talk.finish()
    second = talk.last(cmd.TurnRecord).response_ms
    assert second != first
    assert talk.metrics()["averageFirstAudioMs"] == round((first + second) / 2)


def test_nothing_to_share_is_none_and_no_division():
    metrics = Watched().metrics()
    assert metrics["interruptionRate"] is None
    assert metrics["averageFirstAudioMs"] is None


def test_tools_are_counted_and_those_that_failed():
    talk = Watched()
    talk.asked()
    for call, result in enumerate(['{"error": "no such tool"}', "noon", "[" * 10_000]):
        talk.feed(ev.ToolCalled(talk.now, talk.turn, call, "clock", "{}"))
        talk.feed(ev.ToolDone(talk.now, talk.turn, call, result))
    assert (talk.metrics()["toolCalls"], talk.metrics()["toolErrors"]) == (3, 1)


def test_faults_are_counted():
    talk = Watched()
    talk.feed(ev.Fault(talk.now, ev.FaultKind.TTS, "speak", "boom"))
    talk.feed(ev.DeviceLost(talk.now, ev.Device.MICROPHONE))
    assert talk.metrics()["errors"] == 2


@pytest.mark.parametrize("words", [False, True])
def test_words_are_told_with_leave_alone(words):
    talk = Watched(words)
    a_whole_exchange(talk)
    said = json.dumps([talk.told, talk.tally.status(talk.core)]).lower()
    assert ("france" in said) is words
    assert ("paris" in said) is words


def test_leave_can_be_taken_back():
    talk = Watched(words=True)
    talk.tally.reload("de", words=False)
    a_whole_exchange(talk)
    assert "france" not in json.dumps(talk.told)
    assert {p["localizedLabel"] for kind, p in talk.told if p.get("state") == "listening"} == {
        talk.tally._labels[Place.LISTENING]
    }


def test_the_retries_and_what_waits_are_in_the_snapshot():
    talk = Watched()
    talk.answering()
    talk.feed(ev.Say(talk.now, "tea"))
    talk.feed(ev.Ask(talk.now, "and now"))
    assert talk.tally.snapshot(talk.core)["metadata"]["pendingActions"] == [
        "announcement",
        "question",
    ]


def test_a_second_waiter_for_the_same_text_waits_for_its_own_turn():
    talk, done = Watched(), []
    for name in ("first", "second"):
        talk.feed(ev.Say(talk.now, "tea"))
        talk.tally.wait_for(Waiter("tea", False, lambda told, name=name: done.append(name)))
    talk.synthesise()
    talk.finish()
    assert done == ["first"]
    talk.synthesise()
    talk.finish()
    assert done == ["first", "second"]


def test_nobody_is_given_up_while_there_is_hope():
    talk, done = Watched(), []
    talk.feed(ev.Say(talk.now, "tea"))
    talk.tally.wait_for(Waiter("tea", False, done.append))
    talk.tally.give_up(talk.core)
    assert done == []
    talk.feed(ev.EndConversation(talk.now))
    talk.synthesise()
    talk.finish()
    assert [told["outcome"] for told in done] == ["completed"]
