"""What random events have broken once, and the ways that chance seldom takes."""

from dataclasses import replace

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.history import CUT, History
from edgevoice.core.table import TABLE, Cause, Place
from edgevoice.core.tuning import ButtonTuning, DeadAir, HistoryTuning, Speculation
from tests.core.reach import talk_at
from tests.core.talk import WORD, Talk


def rows_that_lead(event: type[ev.Event], target: Place) -> list[Place]:
    return [p for p in Place if event in TABLE[p] and target in TABLE[p][event].to - {p}]


@pytest.mark.parametrize(
    "place", rows_that_lead(ev.ButtonReleased, Place.SUSPENDED), ids=lambda p: p.value
)
def test_the_second_of_two_clicks_mutes_from_every_place(place):
    talk = talk_at(place)
    talk.core.clicked_at = talk.core.pressed_at = talk.now
    talk.release()
    assert talk.place is Place.SUSPENDED
    assert talk.core.muted


@pytest.mark.parametrize("place", rows_that_lead(ev.Fault, Place.FAULTED), ids=lambda p: p.value)
def test_a_fatal_fault_ends_in_faulted_from_every_place(place):
    talk = talk_at(place)
    talk.feed(ev.Fault(talk.now, ev.FaultKind.UNKNOWN, "driver", "gone", fatal=True))
    assert talk.place is Place.FAULTED


@pytest.mark.parametrize(
    "place", rows_that_lead(ev.Shutdown, Place.TERMINATING), ids=lambda p: p.value
)
def test_a_shutdown_leaves_nothing_behind_from_every_place(place):
    talk = talk_at(place)
    talk.feed(ev.Shutdown(talk.now))
    assert talk.place is Place.TERMINATING
    assert talk.core.judge is None
    assert talk.core.hearing is None
    assert talk.core.answer is None


def mid_answer_call() -> Talk:
    """The device says something first, and calls a tool then."""
    talk = talk_at(Place.WAITING_FOR_LLM)
    for token in ("Let me ", "look. ", "So "):
        talk.feed(ev.Token(talk.now, talk.turn, token))
    talk.synthesise()
    talk.feed(ev.ToolCalled(talk.now, talk.turn, 1, "clock", "{}"))
    return talk


def test_a_tool_called_in_mid_answer_is_waited_for_after_the_speech():
    talk = mid_answer_call()
    assert talk.place is Place.PLAYING
    talk.synthesise()
    talk.finish()
    assert talk.place is Place.TOOL_EXECUTING
    assert talk.causes[-1] is Cause.TOOL_CALLED
    talk.feed(ev.ToolDone(talk.now, talk.turn, 1, "noon"))
    assert talk.place is Place.WAITING_FOR_LLM
    roles = [message.role for message in talk.last(cmd.Generate).messages]
    assert roles == ["system", "user", "assistant", "tool"]


def test_a_tool_that_is_back_before_the_speech_is_over_waits_for_its_end():
    talk = mid_answer_call()
    prompts = len(talk.all(cmd.Generate))
    talk.feed(ev.ToolDone(talk.now, talk.turn, 1, "noon"))
    assert talk.place is Place.PLAYING
    assert len(talk.all(cmd.Generate)) == prompts
    talk.finish()
    assert talk.place is Place.WAITING_FOR_LLM
    assert talk.last(cmd.Generate).messages[-1].text == "noon"


def test_progress_is_spoken_by_the_clock_of_the_task_and_its_limit_holds():
    talk = talk_at(Place.WAITING_FOR_TASK)
    began = talk.now
    spoken_at = []
    while talk.place is not Place.WAITING_FOR_LLM:
        before = len(talk.all(cmd.Synthesise))
        talk.wait(0.1)
        if len(talk.all(cmd.Synthesise)) > before:
            spoken_at.append(round(talk.now - began))
            talk.synthesise()
            talk.finish()
    assert spoken_at == [0, 5, 15, 30]
    assert round(talk.now - began) == 300
    assert "timed out" in talk.last(cmd.Generate).messages[-1].text


def test_an_answer_heard_to_its_end_while_away_is_recorded_even_if_nobody_comes_back():
    talk = Talk()
    talk.answering()
    talk.feed(ev.Suspend(talk.now, "reload"))
    talk.feed(ev.PlaybackDone(talk.now, talk.turn, talk.length))
    talk.feed(ev.EndConversation(talk.now))
    (record,) = talk.all(cmd.TurnRecord)
    assert record.played == "The sea is wide and deep and very very old."
    assert not record.interrupted


def test_a_tool_that_fails_takes_the_others_of_its_round_along():
    talk = talk_at(Place.TOOL_EXECUTING)
    turn = talk.turn
    talk.feed(ev.ToolCalled(talk.now, turn, 2, "weather", "{}"))
    talk.feed(ev.Fault(talk.now, ev.FaultKind.TOOL, "tools", "boom", turn=turn))
    assert {c.call for c in talk.all(cmd.CancelTool)} == {1, 2}
    assert talk.place is Place.WAITING_FOR_LLM


def test_a_result_of_one_word_that_is_too_long_is_cut_and_not_left_out():
    history = History(HistoryTuning(context_tokens=300), 0.0)
    history.tool("what is it", "x" * 4000)
    assert history.messages("what is it")[-1].text.startswith("xxxx")


def test_a_button_pressed_while_the_device_is_about_to_ask_does_not_get_stuck():
    both = frozenset({"button", "always"})
    no_long_hold = ButtonTuning(long_hold_ms=60_000)
    talk = Talk(activation=both, dead_air=DeadAir(enabled="on"), button=no_long_hold)
    talk.press()
    talk.pass_time(31)
    assert talk.core.answer is not None
    talk.release()
    talk.press()
    assert talk.core.deadline is not None
    talk.release()
    talk.pass_time(120)
    assert talk.place is Place.IDLE


def test_speech_that_nobody_asked_for_is_not_let_out():
    talk = Talk()
    talk.asked()
    word = ev.SpokenWord("boo", 0, WORD)
    talk.feed(ev.PieceBuffered(talk.now, talk.turn, 0, (word,), WORD, 16000))
    assert not talk.all(cmd.StartPlayback)


@pytest.mark.parametrize(
    "place", [Place.PLAYING, Place.HELD, Place.WAITING_FOR_LLM, Place.WAITING_FOR_TASK]
)
def test_after_a_long_mute_nobody_waits_for_the_rest_of_the_answer(place):
    talk = talk_at(place)
    talk.feed(ev.Mute(talk.now))
    talk.pass_time(31)
    talk.feed(ev.Unmute(talk.now))
    assert talk.place is Place.IDLE
    assert talk.last(cmd.DropPlayback)
    assert not talk.all(cmd.ResumePlayback)


def test_after_a_short_mute_the_answer_goes_on():
    talk = talk_at(Place.PLAYING)
    talk.feed(ev.Mute(talk.now))
    talk.pass_time(29)
    talk.feed(ev.Unmute(talk.now))
    assert talk.place is Place.PLAYING
    assert talk.all(cmd.ResumePlayback)


def test_what_was_said_before_a_long_mute_is_no_part_of_the_next_question():
    talk = talk_at(Place.LISTENING)
    talk.hear("tell me")
    talk.feed(ev.Mute(talk.now))
    talk.pass_time(31)
    talk.feed(ev.Unmute(talk.now))
    assert talk.core.hearing.text == ""


def test_a_device_that_was_muted_before_it_came_up_comes_up_muted():
    talk = Talk(ready=False)
    talk.feed(ev.DeviceLost(talk.now, ev.Device.SPEAKER))
    talk.feed(ev.Mute(talk.now))
    talk.feed(ev.Ready(talk.now))
    assert talk.place is Place.PREPARING
    talk.feed(ev.DeviceFound(talk.now, ev.Device.SPEAKER))
    assert talk.place is Place.SUSPENDED
    assert not talk.all(cmd.Recognise)


def test_a_question_that_is_asked_again_gets_no_result_of_the_time_before():
    talk = talk_at(Place.WAITING_FOR_LLM)
    talk.feed(ev.ToolCalled(talk.now, talk.turn, 1, "clock", "{}"))
    talk.feed(ev.ToolDone(talk.now, talk.turn, 1, "noon"))
    talk.feed(ev.EndConversation(talk.now))
    talk.pass_time(3600)
    talk.asked()
    assert [m.role for m in talk.last(cmd.Generate).messages] == ["system", "user"]


def test_nor_does_what_was_said_before_the_tool_come_after_the_question():
    talk = mid_answer_call()
    talk.synthesise()
    talk.finish()
    talk.feed(ev.EndConversation(talk.now))
    talk.asked()
    messages = talk.last(cmd.Generate).messages
    assert [m.role for m in messages] == ["system", "user", "assistant", "user"]
    assert messages[2].text.startswith("Let me look.")


@pytest.mark.parametrize("drafts", [0, 2])
def test_an_answer_that_was_cut_before_its_tool_was_asked_for_more_is_marked_as_cut(drafts):
    talk = mid_answer_call()
    tuning = replace(talk.tuning, speculation=Speculation(answers=drafts))
    talk.feed(ev.Retuned(talk.now, tuning))
    talk.feed(ev.ToolDone(talk.now, talk.turn, 1, "noon"))
    talk.feed(ev.Interrupt(talk.now))
    talk.dropped_at(2 * WORD)
    talk.wait(0.1)
    talk.say("tell me about the sea")
    read = talk.last(cmd.Generate if drafts else cmd.Prefill).messages
    talk.wait(0.8)
    sent = talk.last(cmd.Generate).messages
    assert [m.text for m in sent[1:]] == ["tell me about the sea", f"Let me{CUT}", sent[1].text]
    assert read == sent


def test_a_prompt_that_is_read_ahead_begins_nothing_and_ends_nothing():
    talk = talk_at(Place.WAITING_FOR_LLM)
    talk.feed(ev.ToolCalled(talk.now, talk.turn, 1, "clock", "{}"))
    talk.feed(ev.ToolDone(talk.now, talk.turn, 1, "noon"))
    talk.wake()
    talk.say("tell me about the sea")
    roles = [m.role for m in talk.last(cmd.Prefill).messages]
    assert roles == ["system", "user"]
