"""Ways through the machine that a user takes once a year."""

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.rules.tools import MAX_ROUNDS
from edgevoice.core.table import Cause, Place
from edgevoice.core.tuning import DeadAir
from tests.core.reach import talk_at
from tests.core.talk import WORD, Talk

# -- away and back --------------------------------------------------------------------


def suspend(talk: Talk) -> None:
    talk.feed(ev.Suspend(talk.now, "reload"))


def resume(talk: Talk) -> None:
    talk.feed(ev.Resume(talk.now))


def test_an_answer_that_ended_while_away_is_followed_by_listening():
    talk = talk_at(Place.PLAYING)
    suspend(talk)
    talk.feed(ev.PlaybackDone(talk.now, talk.turn, talk.length))
    resume(talk)
    assert talk.place is Place.LISTENING


def test_an_answer_that_got_ready_while_away_is_spoken_at_the_return():
    talk = talk_at(Place.WAITING_FOR_LLM)
    suspend(talk)
    talk.tokens("The sea is wide.")
    talk.synthesise()
    assert not talk.all(cmd.StartPlayback)
    resume(talk)
    assert talk.last(cmd.StartPlayback).turn == talk.turn


def test_an_answer_that_turned_out_empty_while_away_closes_the_turn():
    talk = talk_at(Place.WAITING_FOR_LLM)
    suspend(talk)
    talk.feed(ev.ReplyDone(talk.now, talk.turn))
    resume(talk)
    assert talk.causes[-1] is Cause.LLM_EMPTY


def test_the_apology_gets_its_time_again_after_a_suspension():
    talk = talk_at(Place.WAITING_FOR_LLM)
    talk.feed(ev.Fault(talk.now, ev.FaultKind.UNKNOWN, "driver", "boom"))
    apology = talk.turn
    suspend(talk)
    resume(talk)
    talk.synthesise()
    assert talk.last(cmd.StartPlayback).turn == apology


def test_a_text_that_is_half_there_goes_on_after_a_suspension():
    talk = talk_at(Place.WAITING_FOR_LLM)
    talk.feed(ev.Token(talk.now, talk.turn, "The sea is wide. "))
    talk.feed(ev.Token(talk.now, talk.turn, "And "))
    suspend(talk)
    resume(talk)
    talk.pass_time(9)
    assert len(talk.all(cmd.Generate)) == 1


def test_an_engine_that_breaks_twice_in_one_turn_is_apologised_for():
    talk = talk_at(Place.WAITING_FOR_LLM)
    for _ in range(2):
        talk.feed(ev.Fault(talk.now, ev.FaultKind.ENGINE, "think", "hangs"))
        talk.feed(ev.PartRebuilt(talk.now, "think"))
    assert len(talk.all(cmd.Generate)) == 2
    assert talk.all(cmd.EndSpeech)


def test_a_second_mute_changes_nothing():
    talk = talk_at(Place.SUSPENDED)
    talk.feed(ev.Mute(talk.now))
    assert not talk.feed(ev.Mute(talk.now))
    talk.pass_time(3600)
    assert talk.place is Place.SUSPENDED


def test_a_suspension_in_an_interruption_comes_back_to_listening():
    talk = talk_at(Place.INTERRUPTED)
    suspend(talk)
    resume(talk)
    assert talk.place is Place.LISTENING
    assert talk.core.hearing is not None


# -- the ear ----------------------------------------------------------------------------


def test_noise_that_was_taken_for_words_is_forgotten():
    talk = talk_at(Place.LISTENING)
    first = talk.core.hearing.turn
    talk.say("mumble", seconds=0.3, confidence=0.1)
    talk.wait(4)
    assert not talk.all(cmd.Generate)
    assert cmd.StopRecognising(first) in talk.done


def test_a_last_word_that_turns_the_question_into_a_goodbye_closes():
    talk = talk_at(Place.WAITING_FOR_LLM)
    talk.hear("goodbye", final=True)
    assert talk.place is Place.IDLE
    assert talk.causes[-1] is Cause.USER_GOODBYE


def test_a_last_word_makes_a_new_prompt_of_the_same_utterance():
    talk = talk_at(Place.WAITING_FOR_LLM)
    first = talk.turn
    talk.hear("tell me about the sea please", final=True)
    assert talk.place is Place.WAITING_FOR_LLM
    assert cmd.CancelGeneration(first) in talk.done
    assert talk.last(cmd.Generate).messages[-1].text == "tell me about the sea please"


@pytest.mark.parametrize("place", [Place.LISTENING, Place.PLAYING, Place.WAITING_FOR_LLM])
def test_the_wake_word_means_nothing_when_it_is_not_configured(place):
    talk = talk_at(place)
    object.__setattr__(talk.core.tuning, "activation", frozenset({"button"}))
    before = talk.core.answer, talk.core.hearing
    talk.wake()
    assert talk.place is place
    assert (talk.core.answer, talk.core.hearing) == before


# -- tools ------------------------------------------------------------------------------


def test_talking_over_a_progress_line_keeps_the_task_and_the_question():
    talk = talk_at(Place.WAITING_FOR_TASK)
    talk.wait(0.1)
    talk.synthesise()
    assert talk.place is Place.PLAYING
    talk.speak(0.1)
    talk.held_at(WORD)
    talk.speak(0.3)
    talk.hear("what about the moon")
    assert talk.place is Place.WAITING_FOR_TASK
    assert not talk.all(cmd.CancelTool)
    talk.wait(1.5)
    assert list(talk.core.questions) == ["what about the moon"]


def test_a_model_that_calls_tools_in_circles_is_stopped():
    talk = talk_at(Place.WAITING_FOR_LLM)
    for call in range(MAX_ROUNDS + 1):
        talk.feed(ev.ToolCalled(talk.now, talk.turn, call, "clock", "{}"))
        talk.feed(ev.ToolDone(talk.now, talk.turn, call, "noon"))
    assert len(talk.all(cmd.Generate)) == MAX_ROUNDS + 1
    talk.synthesise()
    assert talk.place is Place.PLAYING


def test_a_tool_that_fails_while_the_device_speaks_is_told_to_the_model_afterwards():
    talk = talk_at(Place.WAITING_FOR_LLM)
    talk.feed(ev.Token(talk.now, talk.turn, "Let me look. "))
    talk.feed(ev.ToolCalled(talk.now, talk.turn, 1, "clock", "{}"))
    talk.synthesise()
    talk.feed(ev.Fault(talk.now, ev.FaultKind.TOOL, "tools", "boom", turn=talk.turn))
    assert talk.place is Place.PLAYING
    talk.finish()
    assert talk.place is Place.WAITING_FOR_LLM
    assert "boom" in talk.last(cmd.Generate).messages[-1].text


def test_a_fault_of_tools_without_a_tool_is_nothing():
    talk = talk_at(Place.WAITING_FOR_LLM)
    assert not talk.feed(ev.Fault(talk.now, ev.FaultKind.TOOL, "tools", "boom"))


# -- the mouth --------------------------------------------------------------------------


def test_an_end_of_speech_before_the_end_of_the_text_is_not_believed():
    talk = talk_at(Place.WAITING_FOR_LLM)
    talk.feed(ev.Token(talk.now, talk.turn, "The sea is wide. "))
    talk.feed(ev.Token(talk.now, talk.turn, "And "))
    talk.synthesise()
    talk.feed(ev.PlaybackDone(talk.now, talk.turn, talk.length))
    assert talk.place is Place.PLAYING


def test_an_interrupted_answer_is_recorded_when_the_player_tells_late():
    talk = talk_at(Place.INTERRUPTED)
    talk.wait(0.1)
    assert talk.place is Place.LISTENING
    assert not talk.all(cmd.TurnRecord)
    talk.dropped_at(2 * WORD)
    (record,) = talk.all(cmd.TurnRecord)
    assert record.played == "The sea"
    assert record.interrupted


def test_an_announcement_that_cannot_be_spoken_is_a_sound():
    talk = Talk()
    talk.feed(ev.Say(talk.now, "The tea is ready."))
    talk.pass_time(9)
    assert talk.last(cmd.PlayEarcon).name == "error"
    assert talk.place is Place.IDLE


# -- the shell --------------------------------------------------------------------------


def test_observers_see_transitions_until_they_have_enough():
    talk = Talk()
    seen: list[Place] = []
    end = talk.core.observe(lambda move: seen.append(move.target))
    talk.wake()
    end()
    talk.pass_time(10)
    assert seen == [Place.LISTENING]


def test_a_tick_is_an_event_and_the_snapshot_tells_no_words():
    talk = talk_at(Place.WAITING_FOR_LLM)
    talk.feed(ev.Ask(talk.now, "what is new"))
    talk.feed(ev.Say(talk.now, "The tea is ready."))
    snapshot = talk.core.snapshot()
    assert snapshot.place is Place.WAITING_FOR_LLM
    assert snapshot.previous is Place.LISTENING
    assert snapshot.pending == ("announcement", "question")
    assert "sea" not in repr(snapshot)
    assert not talk.core.tick(talk.now)


def test_nobody_is_asked_whether_they_are_there_who_has_never_been():
    talk = Talk(activation=frozenset({"always"}), dead_air=DeadAir(enabled="on"))
    talk.pass_time(60)
    assert not talk.all(cmd.Synthesise)
    assert talk.place is Place.IDLE


def test_the_snapshot_tells_the_turn_that_is_answered_and_how_often_it_was_tried():
    talk = Talk(ready=False)
    assert talk.core.snapshot().previous is None
    assert talk.core.snapshot().retries == 0
    talk.feed(ev.Ready(0.0))
    talk.asked()
    first = talk.turn
    assert talk.core.snapshot().turn == first
    talk.feed(ev.ToolCalled(talk.now, first, 1, "clock", "{}"))
    assert talk.core.turn > first
    assert talk.core.snapshot().turn == first
    assert talk.core.snapshot().since == talk.now
    talk.feed(ev.ToolDone(talk.now, first, 1, "noon"))
    talk.feed(ev.Fault(talk.now, ev.FaultKind.LLM, "think", "slow"))
    assert talk.core.snapshot().retries == 1


@pytest.mark.parametrize(("pause", "muted"), [(0.5, True), (0.501, False), (0.0, True)])
def test_two_clicks_within_500_ms_mute(pause, muted):
    talk = Talk()
    for at in (8.0, 8.0 + pause):
        talk.feed(ev.ButtonPressed(at))
        talk.feed(ev.ButtonReleased(at))
    assert talk.core.muted is muted


@pytest.mark.parametrize(("held", "click"), [(0.25, True), (0.3, False)])
def test_a_press_shorter_than_300_ms_is_a_click(held, click):
    talk = Talk()
    talk.feed(ev.ButtonPressed(8.0))
    flushed = talk.feed(ev.ButtonReleased(8.0 + held))
    assert (not flushed) is click


def test_a_player_that_has_told_nothing_for_long_is_stuck_and_not_before():
    talk = talk_at(Place.PLAYING)
    began = talk.core.the_answer.touched_at
    talk.pass_time(240)
    assert [w.what for w in talk.all(cmd.Warn)] == ["speaking_long", "speaking_stuck"]
    assert talk.last(cmd.Transition).at - began > 120 + talk.length / 16_000


def test_speech_that_goes_on_after_a_retry_is_the_turn_of_its_utterance():
    talk = talk_at(Place.WAITING_FOR_LLM)
    utterance = talk.core.the_answer.utterance.turn
    talk.pass_time(9)
    assert talk.turn > utterance
    talk.speak(0.4)
    assert talk.last(cmd.Transition).cause is Cause.USER_RESUMED
    assert talk.last(cmd.Transition).turn == utterance


@pytest.mark.parametrize(("confidence", "answered"), [(0.3, True), (0.29, False)])
def test_an_utterance_of_confidence_0_3_is_no_noise(confidence, answered):
    talk = Talk()
    talk.wake()
    talk.say("mumble", seconds=0.3, confidence=confidence)
    talk.wait(3)
    assert bool(talk.all(cmd.Generate)) is answered
