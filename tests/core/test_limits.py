"""At the limit and one step beside it, and what must not be carried over."""

from __future__ import annotations

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.events import Device, FaultKind
from edgevoice.core.rules.tools import MAX_RESULT_CHARACTERS
from edgevoice.core.table import Cause, Place
from edgevoice.core.timers import Timer
from edgevoice.core.tuning import BargeIn, DeadAir, RecoveryTuning, Timeouts
from tests.core.reach import talk_at
from tests.core.talk import WORD, Talk

ALWAYS = {"activation": frozenset({"always"})}


def fail(talk: Talk, kind: FaultKind, turn: int | None = None) -> None:
    talk.feed(ev.Fault(talk.now, kind, "think", "boom", turn=turn))


def call(talk: Talk, number: int = 1, long_running: bool = False) -> list[cmd.Command]:
    return talk.feed(ev.ToolCalled(talk.now, talk.turn, number, "clock", "{}", long_running))


def result(talk: Talk, text: str = "noon", number: int = 1) -> list[cmd.Command]:
    return talk.feed(ev.ToolDone(talk.now, talk.turn, number, text))


def test_what_is_refused_and_what_is_stale_is_counted():
    talk = talk_at(Place.LISTENING)
    for _ in range(3):
        talk.feed(ev.Token(talk.now, 99, "late"))
        talk.feed(ev.Fault(talk.now, FaultKind.TTS, "speak", "late", turn=99))
        talk.feed(ev.StartConversation(talk.now))
    assert (talk.core.stale, talk.core.refused) == (6, 3)
    talk = talk_at(Place.TERMINATING)
    for _ in range(2):
        talk.feed(ev.Mute(talk.now))
    assert talk.core.refused == 2


# -- a hold -------------------------------------------------------------------------------


def test_speech_in_a_hold_need_not_be_loud():
    talk = talk_at(Place.HELD)
    talk.wait(0.8, energy=0.001, vad=0.95)
    assert talk.causes[-2:] == [Cause.USER_INTERRUPT, Cause.SETTLED]


def test_an_answer_that_may_not_be_interrupted_is_stopped_by_the_button_alone():
    talk = talk_at(Place.PLAYING, barge_in=BargeIn(enabled=False))
    talk.speak(2)
    assert talk.place is Place.PLAYING
    talk.press()
    assert talk.place is Place.INTERRUPTED


@pytest.mark.parametrize("vad", [0.65, 0.95])
def test_the_last_word_of_a_hold_is_asked_for_after_200_ms_of_silence(vad):
    """Even of a voice that is no speech yet for the turn policy."""
    talk = talk_at(Place.PLAYING)
    talk.wait(0.1, energy=0.018, vad=vad)
    assert talk.place is Place.HELD
    flush = cmd.FlushRecogniser(talk.core.hearing.turn)
    talk.wait(0.18)
    assert flush not in talk.done
    talk.wait(0.02)
    assert flush in talk.done


# -- the ear ------------------------------------------------------------------------------


def test_speech_begins_nothing_where_the_wake_word_is_asked_for():
    talk = Talk()
    talk.speak(1)
    assert talk.place is Place.IDLE


def test_nor_while_an_announcement_is_about_to_be_spoken():
    talk = Talk(**ALWAYS)
    talk.feed(ev.EndConversation(talk.now))
    talk.feed(ev.Say(talk.now, "The tea is ready."))
    talk.speak(1)
    assert talk.place is Place.IDLE


def test_what_is_said_at_the_very_beginning_is_recognised_from_there():
    talk = Talk(**ALWAYS)
    talk.feed(ev.EndConversation(talk.now))
    talk.speak(0.1)
    assert talk.place is Place.LISTENING
    assert talk.last(cmd.Recognise).since == 0
    talk = Talk()
    talk.feed(ev.Ask(talk.now, "tell me about the sea"))
    talk.answer("It is wide and deep and very very old.")
    talk.speak(0.1)
    assert talk.place is Place.HELD
    assert talk.last(cmd.Recognise).since == 0


def test_in_a_noisy_room_only_what_is_louder_than_the_noise_holds_the_answer():
    talk = Talk()
    talk.wait(8, energy=0.01, vad=0.05)
    talk.feed(ev.Ask(talk.now, "tell me about the sea"))
    talk.answer("It is wide and deep and very very old.")
    talk.wait(0.2, energy=0.035, vad=0.95)
    assert talk.place is Place.PLAYING
    talk.wait(0.2, energy=0.05, vad=0.95)
    assert talk.place is Place.HELD


@pytest.mark.parametrize("place", [Place.IDLE, Place.LISTENING])
@pytest.mark.parametrize(("speech_ms", "forgotten"), [(380, True), (400, False), (420, False)])
def test_less_than_400_ms_behind_the_wake_word_are_its_end(place, speech_ms, forgotten):
    talk = talk_at(place)
    talk.wait(1)
    talk.wake()
    first = talk.core.hearing.turn
    talk.speak(speech_ms / 1000)
    said = []
    for _ in range(20):
        talk.wait(0.02)
        if talk.core.why.startswith("end of the wake phrase"):
            said.append(talk.core.why)
    assert (cmd.StopRecognising(first) in talk.done) is forgotten
    assert (cmd.FlushRecogniser(first) in talk.done) is not forgotten
    assert said == ([f"end of the wake phrase: {speech_ms} ms"] if forgotten else [])


def test_a_last_word_that_is_none_changes_nothing():
    talk = talk_at(Place.WAITING_FOR_LLM)
    assert talk.feed(ev.Transcript(talk.now, talk.core.hearing.turn, "", talk.sample, True)) == []


def test_the_wake_word_gives_a_new_utterance_all_its_time():
    talk = talk_at(Place.LISTENING)
    talk.speak(0.5)
    assert Timer.PATIENCE in talk.core.timers
    talk.wake()
    assert Timer.PATIENCE not in talk.core.timers
    talk.press()
    talk.wait(0.5)
    talk.release()
    assert Timer.RELEASED in talk.core.timers
    talk.wake()
    assert Timer.RELEASED not in talk.core.timers


def test_the_wake_word_over_the_answer_begins_the_utterance_behind_it():
    talk = talk_at(Place.PLAYING)
    talk.feed(ev.WakeHeard(talk.now, "hey_jarvis", 0.9, talk.sample - 4000))
    assert talk.last(cmd.Recognise).since == talk.sample - 4000


# -- what comes after the speech ------------------------------------------------------------


@pytest.mark.parametrize(("activation", "place"), [
    ({"always"}, Place.LISTENING), ({"wake_word"}, Place.IDLE),
])  # fmt: skip
def test_after_an_announcement_only_an_always_listening_device_listens(activation, place):
    talk = Talk(activation=frozenset(activation))
    talk.feed(ev.EndConversation(talk.now))
    talk.feed(ev.Say(talk.now, "The tea is ready."))
    talk.synthesise()
    talk.finish()
    assert talk.place is place


@pytest.mark.parametrize(("follow_up_s", "place"), [(0, Place.IDLE), (1, Place.LISTENING)])
def test_the_follow_up_window_may_be_closed(follow_up_s, place):
    talk = Talk(timeouts=Timeouts(follow_up_s=follow_up_s))
    talk.answering()
    talk.finish()
    assert talk.place is place


def test_dead_air_is_counted_by_its_own_setting():
    talk = Talk(dead_air=DeadAir(enabled="on", after_s=3))
    talk.answering()
    talk.finish()
    talk.pass_time(3.1)
    assert talk.last(cmd.Synthesise).text == "Are you still there?"


def test_after_a_goodbye_nobody_is_asked_whether_they_are_there():
    talk = Talk(dead_air=DeadAir(enabled="on"), **ALWAYS)
    talk.ask("tell me about the sea")
    talk.answer("It is wide.")
    talk.finish()
    talk.ask("goodbye")
    said = len(talk.all(cmd.Synthesise))
    talk.speak(0.2)
    assert talk.place is Place.LISTENING
    talk.pass_time(60)
    assert len(talk.all(cmd.Synthesise)) == said


def test_an_answer_that_ended_in_a_hold_was_not_silenced():
    talk = talk_at(Place.HELD)
    talk.held_at(WORD)
    talk.feed(ev.PlaybackDone(talk.now, talk.turn, talk.length))
    record = talk.last(cmd.TurnRecord)
    assert not record.interrupted
    assert record.onset_to_decision_ms is record.decision_to_silence_ms is None


def test_the_late_end_of_an_answer_that_was_cut_ends_no_announcement():
    talk = talk_at(Place.INTERRUPTED)
    cut = talk.core.closing.turn
    talk.wait(0.1)
    talk.feed(ev.Say(talk.now, "The tea is ready."))
    talk.synthesise()
    assert talk.place is Place.PLAYING
    talk.feed(ev.PlaybackDone(talk.now, cut, 3 * WORD))
    assert talk.place is Place.PLAYING
    assert talk.last(cmd.TurnRecord).turn == cut


# -- tools ----------------------------------------------------------------------------------


def test_stop_over_a_progress_line_stops_the_task():
    talk = talk_at(Place.WAITING_FOR_TASK)
    talk.wait(0.1)
    talk.synthesise()
    talk.speak(0.1)
    talk.held_at(WORD)
    talk.hear("stop")
    assert talk.place is Place.INTERRUPTED
    assert talk.all(cmd.CancelTool)


def test_one_tool_that_is_back_and_one_that_fails_are_two_results():
    talk = talk_at(Place.TOOL_EXECUTING)
    call(talk, 2)
    result(talk)
    talk.pass_time(31)
    message = talk.last(cmd.Generate).messages[-1]
    assert message == cmd.Message("tool", 'noon\n{"error": "timed out"}')


def test_the_model_is_asked_when_the_last_tool_is_back_and_not_at_a_return():
    talk = talk_at(Place.TOOL_EXECUTING)
    call(talk, 2)
    result(talk)
    talk.feed(ev.Suspend(talk.now, "reload"))
    talk.feed(ev.Resume(talk.now))
    assert talk.place is Place.TOOL_EXECUTING
    assert len(talk.all(cmd.Generate)) == 1


def test_a_result_of_4000_characters_is_not_shortened():
    for length, shortened in ((MAX_RESULT_CHARACTERS, False), (MAX_RESULT_CHARACTERS + 1, True)):
        talk = talk_at(Place.TOOL_EXECUTING)
        result(talk, "x" * length)
        (begun,) = (e for e in [talk.core.history._open] if e is not None)
        assert begun.results[0].endswith("(shortened)") is shortened


def test_what_was_not_spoken_before_the_result_came_is_not_spoken_any_more():
    talk = talk_at(Place.WAITING_FOR_LLM)
    first = talk.turn
    talk.feed(ev.Token(talk.now, first, "Let me look. "))
    call(talk)
    commands = result(talk)
    assert cmd.CancelSynthesis(first) in commands
    assert cmd.DropPlayback(first) in commands


def test_who_has_said_something_first_does_not_say_that_it_works_on_it():
    talk = talk_at(Place.WAITING_FOR_LLM)
    talk.feed(ev.Token(talk.now, talk.turn, "Let me look. "))
    call(talk, long_running=True)
    talk.synthesise()
    talk.finish()
    said = len(talk.all(cmd.Synthesise))
    talk.pass_time(3)
    assert len(talk.all(cmd.Synthesise)) == said
    talk.pass_time(2)
    assert talk.last(cmd.Synthesise).text == "Still working, this might take a moment…"


def test_a_model_that_has_failed_calls_no_tools():
    talk = talk_at(Place.WAITING_FOR_LLM)
    fail(talk, FaultKind.LLM, talk.turn)
    assert call(talk) == []


@pytest.mark.parametrize(("call", "warned"), [(1, False), (7, True)])
def test_only_a_beat_of_the_task_itself_is_a_sign_of_life(call, warned):
    talk = talk_at(Place.WAITING_FOR_TASK, timeouts=Timeouts(heartbeat_s=2.0))
    talk.wait(1.5)
    talk.feed(ev.TaskBeat(talk.now, talk.turn, call))
    talk.wait(1)
    assert ("task_silent" in {warning.what for warning in talk.all(cmd.Warn)}) is warned


def test_what_the_model_says_after_its_call_is_not_what_is_said_of_the_task():
    talk = talk_at(Place.WAITING_FOR_TASK)
    asked = talk.turn
    while talk.core.parked is None:
        talk.wait(0.1)
    assert talk.feed(ev.Token(talk.now, asked, "One moment. So ")) == []
    assert talk.feed(ev.ReplyDone(talk.now, asked)) == []


def test_an_announcement_that_was_not_heard_is_made_once_more_word_for_word():
    text = "The tea is ready. It has been drawing for exactly four minutes now."
    talk = Talk()
    talk.feed(ev.Say(talk.now, text))
    assert len(talk.all(cmd.Synthesise)) == 1
    talk.wake()
    assert list(talk.core.announcements) == [text]


# -- faults -----------------------------------------------------------------------------------


def test_only_faults_of_the_model_are_retried_before_they_count():
    talk = talk_at(Place.WAITING_FOR_LLM)
    for _ in range(3):
        fail(talk, FaultKind.TTS)
    assert talk.causes[-1] is Cause.BREAKER_OPEN


def test_a_device_that_is_lost_twice_is_looked_for_as_before():
    talk = Talk()
    talk.feed(ev.DeviceLost(talk.now, Device.SPEAKER))
    talk.pass_time(5)
    talk.feed(ev.DeviceLost(talk.now, Device.SPEAKER))
    assert talk.core.deadline == pytest.approx(14)
    talk.feed(ev.DeviceLost(talk.now, Device.MICROPHONE))
    assert talk.core.deadline == pytest.approx(6)


def test_without_any_waits_a_lost_device_is_only_waited_for():
    talk = Talk(recovery=RecoveryTuning(device_retries_s=[]))
    talk.feed(ev.DeviceLost(talk.now, Device.SPEAKER))
    talk.pass_time(5)
    assert talk.place is Place.RECOVERING
    assert not talk.all(cmd.ReopenDevice)
    talk.feed(ev.DeviceFound(talk.now, Device.SPEAKER))
    assert talk.place is Place.IDLE


def test_a_recovery_from_nothing_takes_a_second():
    talk = talk_at(Place.LISTENING)
    talk.feed(ev.Suspend(talk.now, "reload"))
    talk.pass_time(30.5)
    assert talk.place is Place.RECOVERING
    talk.pass_time(0.6)
    assert talk.place is Place.LISTENING


def test_what_a_broken_engine_was_about_to_say_is_dropped_before_it_is_asked_again():
    talk = talk_at(Place.WAITING_FOR_LLM)
    first = talk.turn
    talk.feed(ev.Token(talk.now, first, "The sea is deep. It "))
    talk.feed(ev.Token(talk.now, first, "is "))
    fail(talk, FaultKind.ENGINE, first)
    commands = talk.feed(ev.PartRebuilt(talk.now, "think"))
    assert cmd.CancelSynthesis(first) in commands
    assert cmd.DropPlayback(first) in commands


def test_an_apology_that_is_not_spoken_by_the_end_of_the_30_s_is_a_sound():
    talk = talk_at(Place.WAITING_FOR_LLM)
    talk.core.timers.clear(Timer.FIRST_TOKEN)
    began = talk.core.since
    talk.pass_time(25)
    fail(talk, FaultKind.UNKNOWN)
    talk.pass_time(began + 30.1 - talk.now)
    assert talk.causes[-1] is Cause.LLM_TIMEOUT
    assert talk.last(cmd.PlayEarcon).name == "error"


@pytest.mark.parametrize(("turn", "asked"), [(None, 2), (0, 2), (99, 1)])
def test_an_engine_that_fails_for_another_turn_asks_nothing_again(turn, asked):
    talk = talk_at(Place.WAITING_FOR_LLM)
    fail(talk, FaultKind.ENGINE, talk.turn if turn == 0 else turn)
    talk.feed(ev.PartRebuilt(talk.now, "think"))
    talk.ticks()
    assert len(talk.all(cmd.Generate)) == asked


def test_a_start_that_fails_again_and_again_is_tried_again():
    talk = talk_at(Place.PREPARING)
    for _ in range(3):
        fail(talk, FaultKind.ENGINE)
    assert talk.place is Place.FAULTED
    talk.pass_time(talk.core.tuning.recovery.breaker_open_s)
    assert talk.place is Place.PREPARING


def test_a_start_that_takes_too_long_says_what_is_missing():
    talk = talk_at(Place.PREPARING)
    talk.pass_time(300)
    assert talk.core.fault_kind is FaultKind.UNKNOWN
    talk = talk_at(Place.PREPARING)
    talk.feed(ev.DeviceLost(talk.now, Device.MICROPHONE))
    talk.pass_time(300)
    assert talk.core.fault_kind is FaultKind.DEVICE


# -- the owner --------------------------------------------------------------------------------


@pytest.mark.parametrize(("held", "click"), [(0.2998, True), (0.3, False)])
def test_a_click_is_shorter_than_300_ms(held, click):
    talk = Talk()
    talk.feed(ev.ButtonPressed(0.0))
    assert (talk.feed(ev.ButtonReleased(held)) == []) is click


def test_after_a_click_silence_ends_the_turn():
    talk = Talk()
    talk.press()
    talk.release()
    talk.ask("tell me about the sea")
    assert talk.place is Place.WAITING_FOR_LLM


def test_pressed_again_before_the_last_word_came_it_listens_on():
    talk = Talk()
    talk.press()
    talk.wait(0.5)
    talk.release()
    talk.press()
    talk.wait(3)
    assert talk.place is Place.LISTENING


def test_a_button_that_was_held_when_the_device_left_ends_nothing_after_the_return():
    talk = Talk()
    talk.press()
    talk.speak(0.5)
    talk.feed(ev.Suspend(talk.now, "reload"))
    talk.feed(ev.Resume(talk.now))
    talk.ask("tell me about the sea")
    assert talk.place is Place.WAITING_FOR_LLM


def test_unmuted_it_stays_suspended_for_the_other_reason():
    talk = Talk()
    talk.feed(ev.Suspend(talk.now, "reload"))
    talk.feed(ev.Mute(talk.now))
    talk.feed(ev.Unmute(talk.now))
    assert talk.place is Place.SUSPENDED
    talk.feed(ev.Resume(talk.now))
    assert talk.place is Place.IDLE


@pytest.mark.parametrize(("muted_s", "kept"), [(30.0, True), (30.25, False)])
def test_an_answer_is_kept_for_30_s_of_muteness(muted_s, kept):
    talk = talk_at(Place.PLAYING)
    talk.feed(ev.Mute(16.0))
    talk.feed(ev.Unmute(16.0 + muted_s))
    assert (talk.place is Place.PLAYING) is kept


def test_the_way_back_to_thinking_is_a_move_of_the_answer_that_is_thought_of():
    talk = talk_at(Place.TOOL_EXECUTING)
    result(talk)
    answered = talk.turn
    talk.ask("and what about the moon")
    assert talk.core.turn > answered
    talk.feed(ev.Suspend(talk.now, "reload"))
    talk.feed(ev.Resume(talk.now))
    assert talk.last(cmd.Transition).turn == answered
