"""The conversation machine on its own: what the user sees, in simulated time."""

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.commands import Message
from edgevoice.core.events import Word
from edgevoice.core.table import Cause, Place, State
from edgevoice.core.tuning import DeadAir, Speculation, Timeouts, Turn
from tests.core.talk import WORD, Talk

S = State
ALWAYS = {"activation": frozenset({"always"})}


def test_the_usual_way_round():
    talk = Talk()
    talk.wake()
    talk.ask("what is the capital of france")
    talk.answer("The capital of France is Paris.")
    talk.finish()
    talk.wait(8.2)
    assert talk.path == [
        S.PREPARING, S.IDLE, S.LISTENING, S.PROCESSING, S.SPEAKING, S.LISTENING, S.IDLE,
    ]  # fmt: skip
    (record,) = talk.all(cmd.TurnRecord)
    assert record.heard == "what is the capital of france"
    assert record.played == "The capital of France is Paris."
    assert not record.interrupted


def test_the_audio_from_just_after_the_wake_word_is_recognised():
    talk = Talk()
    talk.wait(1)
    talk.feed(ev.WakeHeard(talk.now, "hey_jarvis", 0.9, talk.sample - 3200))
    assert talk.last(cmd.Recognise).since == talk.sample - 3200


def test_a_follow_up_needs_no_wake_word_and_gets_the_history():
    talk = Talk()
    talk.answering("Blue.")
    talk.finish()
    talk.ask("and how deep is it")
    messages = talk.last(cmd.Generate).messages
    assert [m.role for m in messages] == ["system", "user", "assistant", "user"]
    assert messages[2] == Message("assistant", "Blue.")


def test_one_prompt_per_utterance():
    talk = Talk()
    talk.wake()
    talk.ask("what is the capital of france")
    talk.wait(2)
    assert len(talk.all(cmd.Generate)) == 1


def test_goodbye_closes_without_asking_the_model():
    talk = Talk()
    talk.wake()
    talk.ask("okay goodbye")
    assert talk.place is Place.IDLE
    assert talk.causes[-1] is Cause.USER_GOODBYE
    assert not talk.all(cmd.Generate)


def test_stop_alone_closes_without_asking_the_model():
    talk = Talk()
    talk.wake()
    talk.ask("stop")
    assert talk.causes[-1] is Cause.USER_STOP
    assert not talk.all(cmd.Generate)


def test_nothing_said_after_the_wake_word_goes_back_to_idle():
    talk = Talk()
    talk.wake()
    talk.wait(4.9)
    assert talk.place is Place.LISTENING
    talk.wait(0.2)
    assert talk.place is Place.IDLE
    assert talk.causes[-1] is Cause.USER_SILENT


# -- interruptions ------------------------------------------------------------------------


def test_speech_over_the_answer_holds_it_within_three_frames():
    talk = Talk()
    talk.answering()
    talk.speak(0.06)
    assert talk.place is Place.HELD
    assert talk.last(cmd.HoldPlayback).turn == talk.turn


def test_a_single_loud_frame_holds_nothing():
    talk = Talk()
    talk.answering()
    talk.wait(0.02, energy=0.2, vad=0.9)
    talk.wait(0.5)
    assert talk.place is Place.PLAYING


def test_loud_noise_that_is_no_speech_holds_nothing():
    talk = Talk()
    talk.answering()
    talk.wait(1.0, energy=0.3, vad=0.1)
    assert talk.place is Place.PLAYING


@pytest.mark.parametrize("text", ["yeah", "okay", "uh huh", "mm hmm", "right", "um"])
def test_a_soft_ack_resumes_from_the_last_word_boundary(text):
    talk = Talk()
    talk.answering()
    talk.speak(0.1)
    talk.held_at(3 * WORD + 100)
    talk.say(text, seconds=0.3)
    talk.wait(0.3)
    assert talk.place is Place.PLAYING
    assert talk.last(cmd.ResumePlayback).position == 3 * WORD
    assert not talk.all(cmd.DropPlayback)


def test_short_phrases_into_the_answer_are_listened_for_apart():
    talk = Talk()
    talk.answering()
    talk.speak(0.1)
    assert {"stop", "hold on", "yes", "uh huh"} <= set(talk.last(cmd.Recognise).apart)


@pytest.mark.parametrize("heard", ["", "so", "the nerve"])
def test_an_order_that_was_misheard_stops_the_answer_and_is_what_was_said(heard):
    talk = Talk()
    talk.answering()
    talk.speak(0.3)
    talk.hear(heard)
    talk.wait(0.26)
    talk.hear(heard, final=True, apart=(Word("stop", 0.9),))
    assert talk.all(cmd.DropPlayback)
    assert not talk.all(cmd.ResumePlayback)
    talk.wait(2)
    assert talk.place is Place.IDLE, "as after a stop that was heard"


def test_soft_acks_that_were_misheard_do_not_stop_the_answer():
    talk = Talk()
    talk.answering()
    talk.speak(0.3)
    talk.hear("and then them", apart=(Word("mm", 1.0),))
    assert talk.place is Place.HELD
    talk.wait(0.26)
    talk.hear("and then them", final=True, apart=(Word("mm", 0.9),))
    talk.wait(0.3)
    assert talk.place is Place.PLAYING


def test_who_goes_on_after_what_was_a_soft_ack_so_far_stops_the_answer():
    talk = Talk()
    talk.answering()
    talk.speak(0.3)
    talk.hear("yes but", apart=(Word("yes", 1.0),))
    assert talk.place is Place.HELD
    talk.hear("yes but why")
    assert not talk.all(cmd.ResumePlayback)
    assert talk.all(cmd.DropPlayback)


def test_the_devices_own_order_stops_nothing():
    talk = Talk()
    talk.answering()
    talk.speak(0.1)
    talk.held_at(3 * WORD)
    own = talk.core.answer.spoken[1].text
    talk.hear("", final=True, apart=(Word(own, 1.0),))
    talk.wait(0.6)
    assert talk.place is Place.PLAYING


def test_soft_acks_never_add_up_to_an_interruption():
    talk = Talk()
    talk.answering()
    for _ in range(5):
        talk.speak(0.1)
        talk.held_at(WORD)
        talk.say("yeah okay", seconds=0.3)
        talk.wait(0.4)
    assert talk.place is Place.PLAYING
    assert len(talk.all(cmd.ResumePlayback)) == 5


def test_two_words_stop_it_and_the_whole_sentence_is_answered():
    talk = Talk()
    talk.answering()
    talk.speak(0.1)
    talk.held_at(2 * WORD + WORD // 2)
    talk.speak(0.3)
    talk.hear("what about")
    assert talk.place is Place.INTERRUPTED
    talk.dropped_at(2 * WORD + WORD // 2)
    talk.speak(0.5)
    assert talk.place is Place.LISTENING
    talk.ask("what about the moon")
    messages = talk.last(cmd.Generate).messages
    assert messages[-1].text == "what about the moon"
    assert messages[-2].text == "The sea is—"


def test_a_hard_word_stops_it_at_once():
    talk = Talk()
    talk.answering()
    talk.speak(0.1)
    talk.held_at(WORD)
    talk.hear("stop")
    assert talk.place is Place.INTERRUPTED
    assert {type(c) for c in talk.done} >= {
        cmd.DropPlayback,
        cmd.CancelGeneration,
        cmd.CancelSynthesis,
    }


def test_the_devices_own_words_do_not_stop_it():
    talk = Talk()
    talk.answering("The sea is wide and deep and very old.")
    talk.speak(0.1)
    talk.held_at(6 * WORD)
    talk.say("wide and deep and", seconds=0.3)
    talk.wait(0.4)
    assert talk.place is Place.PLAYING


def test_a_hold_without_words_resumes():
    talk = Talk()
    talk.answering()
    talk.speak(0.1)
    talk.held_at(WORD)
    talk.wait(0.26)
    talk.hear("", final=True)
    talk.wait(0.1)
    assert talk.place is Place.PLAYING


def test_a_hold_never_lasts_longer_than_its_limit():
    talk = Talk()
    talk.answering()
    talk.speak(0.1)
    talk.held_at(WORD)
    talk.wait(1.6)
    assert talk.place is Place.PLAYING


def test_long_speech_that_nothing_explains_is_an_interruption():
    talk = Talk()
    talk.answering()
    talk.speak(0.06)
    talk.held_at(WORD)
    talk.speak(0.9)
    assert talk.place in (Place.INTERRUPTED, Place.LISTENING)


def test_a_false_hold_leaves_no_trace_in_the_next_transcript():
    talk = Talk()
    talk.answering()
    talk.speak(0.1)
    talk.held_at(WORD)
    held = talk.core.hearing.turn
    talk.say("yeah", seconds=0.3)
    talk.wait(0.4)
    assert cmd.StopRecognising(held) in talk.done
    talk.feed(ev.Transcript(talk.now, held, "late words of it", talk.sample))
    assert talk.core.hearing is None


def test_a_second_interruption_works_like_the_first():
    talk = Talk()
    talk.answering()
    for _ in range(2):
        talk.speak(0.1)
        talk.held_at(WORD)
        talk.hear("no wait")
        talk.dropped_at(WORD)
        talk.speak(0.3)
        talk.ask("no wait tell me about ships")
        talk.answer("Ships are large and made of steel.")
        talk.wait(0.4)
    assert talk.place is Place.PLAYING
    assert [r.interrupted for r in talk.all(cmd.TurnRecord)] == [True, True]


def test_speech_at_the_very_end_of_the_answer_is_the_next_utterance():
    talk = Talk()
    talk.answering()
    talk.speak(0.1)
    talk.held_at(talk.length)
    talk.feed(ev.PlaybackDone(talk.now, talk.turn, talk.length))
    assert talk.place is Place.LISTENING
    talk.say("yes", seconds=0.2)
    talk.wait(0.8)
    assert talk.last(cmd.Generate).messages[-1].text == "yes"


# -- thinking ---------------------------------------------------------------------------------


def test_the_user_goes_on_before_the_answer_begins():
    talk = Talk()
    talk.wake()
    talk.ask("tell me about the sea")
    first = talk.last(cmd.Generate)
    talk.speak(0.4)
    assert talk.place is Place.LISTENING
    assert cmd.CancelGeneration(first.turn) in talk.done
    talk.ask("tell me about the sea and the moon")
    second = talk.last(cmd.Generate)
    assert second.turn > first.turn
    assert [m.text for m in second.messages if m.role == "user"] == [
        "tell me about the sea and the moon"
    ]


def test_late_tokens_of_a_cancelled_turn_are_dropped():
    talk = Talk()
    talk.asked()
    stale = talk.turn
    talk.speak(0.4)
    talk.feed(ev.Token(talk.now, stale, "Late."))
    assert not talk.all(cmd.Synthesise)
    assert talk.core.stale == 1


def test_a_silent_model_is_asked_again_and_then_excused():
    talk = Talk()
    talk.asked()
    talk.pass_time(29)
    asked = talk.all(cmd.Generate)
    assert len(asked) >= 2
    assert len({g.turn for g in asked}) == len(asked)
    talk.pass_time(2)
    talk.synthesise()
    assert talk.place is Place.PLAYING
    talk.finish()
    assert talk.place is Place.LISTENING


def test_an_empty_answer_goes_back_to_idle():
    talk = Talk()
    talk.asked()
    talk.feed(ev.ReplyDone(talk.now, talk.turn))
    assert talk.place is Place.IDLE
    assert talk.causes[-1] is Cause.LLM_EMPTY


# -- button, mute, owner ------------------------------------------------------------------------


def test_push_to_talk_ends_the_turn_at_the_release():
    talk = Talk()
    talk.press()
    assert talk.place is Place.LISTENING
    talk.speak(1.0)
    talk.wait(2.0)
    assert talk.place is Place.LISTENING
    talk.release()
    talk.hear("what time is it", final=True)
    assert talk.place is Place.WAITING_FOR_LLM


def test_a_press_while_speaking_is_an_interruption():
    talk = Talk()
    talk.answering()
    talk.press()
    assert talk.place is Place.INTERRUPTED


def test_two_clicks_mute_and_a_press_unmutes():
    talk = Talk()
    for _ in range(2):
        talk.press()
        talk.wait(0.1)
        talk.release()
        talk.wait(0.1)
    assert talk.place is Place.SUSPENDED
    assert talk.last(cmd.SetMicrophone) == cmd.SetMicrophone(False)
    talk.pass_time(3600)
    assert talk.place is Place.SUSPENDED
    talk.press()
    assert talk.place is Place.LISTENING
    assert talk.last(cmd.SetMicrophone) == cmd.SetMicrophone(True)


def test_a_suspension_in_mid_answer_loses_nothing():
    talk = Talk()
    talk.answering()
    talk.feed(ev.Suspend(talk.now, "reload"))
    assert talk.last(cmd.HoldPlayback).turn == talk.turn
    talk.held_at(2 * WORD + 7)
    talk.feed(ev.Resume(talk.now))
    assert talk.place is Place.PLAYING
    assert talk.last(cmd.ResumePlayback).position == 2 * WORD


def test_an_announcement_waits_for_a_pause():
    talk = Talk()
    talk.answering()
    talk.feed(ev.Say(talk.now, "The tea is ready."))
    assert talk.last(cmd.Synthesise).text != "The tea is ready."
    talk.finish()
    assert talk.last(cmd.Synthesise).text == "The tea is ready."


def test_a_typed_question_passes_through_listening():
    talk = Talk()
    talk.feed(ev.Ask(talk.now, "what is new"))
    assert talk.path[-2:] == [S.LISTENING, S.PROCESSING]


def test_a_second_start_is_refused():
    talk = Talk()
    talk.wake()
    (refused,) = talk.feed(ev.StartConversation(talk.now))
    assert refused == cmd.Refused(Place.LISTENING, "StartConversation")


def test_dead_air_asks_twice_and_closes():
    talk = Talk(dead_air=DeadAir(enabled="on"), timeouts=Timeouts(nothing_said_s=8.0))
    talk.wake()
    for _ in range(2):
        talk.wait(8.5)
        talk.synthesise()
        assert talk.place is Place.PLAYING
        talk.finish()
    talk.wait(8.5)
    assert talk.place is Place.IDLE
    assert talk.causes[-1] is Cause.DEAD_AIR


def test_always_mode_needs_no_wake_word():
    talk = Talk(**ALWAYS, dead_air=DeadAir(enabled="off"))
    talk.wait(6)
    assert talk.place is Place.IDLE
    talk.speak(0.2)
    assert talk.place is Place.LISTENING
    talk.ask("hello there device")
    assert talk.place is Place.WAITING_FOR_LLM


# -- faults ------------------------------------------------------------------------------------


def test_an_unplugged_microphone_is_tried_again_after_1_3_and_10_seconds():
    talk = Talk()
    talk.feed(ev.DeviceLost(talk.now, ev.Device.MICROPHONE))
    assert talk.place is Place.RECOVERING
    tries = []
    for second in range(1, 16):
        before = len(talk.all(cmd.ReopenDevice))
        talk.pass_time(1)
        if len(talk.all(cmd.ReopenDevice)) > before:
            tries.append(second)
    assert tries == [1, 4, 14]
    talk.feed(ev.DeviceFound(talk.now, ev.Device.MICROPHONE))
    assert talk.place is Place.IDLE


def test_a_device_that_stays_away_is_looked_for_for_ever():
    talk = Talk()
    talk.feed(ev.DeviceLost(talk.now, ev.Device.SPEAKER))
    talk.pass_time(3600)
    assert len(talk.all(cmd.ReopenDevice)) > 100
    talk.feed(ev.DeviceFound(talk.now, ev.Device.SPEAKER))
    talk.pass_time(20)
    assert talk.place is Place.IDLE


def test_three_faults_of_one_kind_open_the_breaker():
    talk = Talk()
    for _ in range(3):
        talk.feed(ev.Fault(talk.now, ev.FaultKind.UNKNOWN, "driver", "boom"))
    assert talk.place is Place.FAULTED
    assert talk.causes[-1] is Cause.BREAKER_OPEN
    talk.pass_time(59)
    assert talk.place is Place.FAULTED
    talk.pass_time(2)
    assert talk.place is Place.IDLE


def test_a_fatal_fault_ends_the_process_with_a_status():
    talk = Talk()
    talk.feed(ev.Fault(talk.now, ev.FaultKind.ENGINE, "think", "gone", fatal=True))
    talk.pass_time(11)
    assert talk.last(cmd.Exit).status == 70


def test_shutdown_is_quiet_and_exits_with_zero():
    talk = Talk()
    talk.answering()
    talk.feed(ev.Shutdown(talk.now))
    assert talk.all(cmd.DropPlayback)
    talk.pass_time(0.1)
    assert talk.last(cmd.Exit).status == 0


def test_an_event_without_a_row_is_refused_and_changes_nothing():
    talk = Talk(ready=False)
    (refused,) = talk.feed(ev.Interrupt(0.0))
    assert refused == cmd.Refused(Place.PREPARING, "Interrupt")
    assert talk.core.refused == 1


# -- what the engines made necessary ---------------------------------------------------------------


def test_the_end_of_the_wake_phrase_is_no_word_of_the_question():
    talk = Talk()
    talk.wake()
    tail = talk.core.hearing.turn
    talk.speak(0.2)
    talk.hear("the")
    talk.wait(0.4)
    assert cmd.FlushRecogniser(tail) not in talk.done
    assert talk.core.hearing.turn != tail
    talk.ask("what is the capital of france")
    assert talk.last(cmd.Generate).messages[-1].text == "what is the capital of france"


def test_a_word_in_one_breath_with_the_wake_phrase_is_kept():
    talk = Talk()
    talk.wake()
    first = talk.core.hearing.turn
    talk.say("why", seconds=0.5)
    talk.wait(0.8)
    assert talk.core.hearing.turn == first
    assert talk.last(cmd.Generate).messages[-1].text == "why"


def test_the_prompt_is_read_while_the_device_waits_for_the_end_of_the_turn():
    talk = Talk(speculation=Speculation(answers=0))
    talk.wake()
    talk.say("what is the capital of france")
    assert talk.place is Place.LISTENING
    ahead = talk.last(cmd.Prefill)
    talk.wait(0.8)
    prompt = talk.last(cmd.Generate)
    assert ahead.messages == prompt.messages


def test_a_television_that_never_stops_is_answered_after_the_limit():
    talk = Talk(timeouts=Timeouts(listening_s=5.0))
    talk.wake()
    talk.speak(1.0)
    talk.hear("and now the news from all over the world")
    talk.speak(5.0)
    assert talk.causes[-1] is Cause.TURN_TIMEOUT
    prompt = talk.last(cmd.Generate)
    talk.speak(2.0)
    talk.hear("and now the news from all over the world and the weather", final=True)
    talk.speak(1.0)
    assert talk.place is Place.WAITING_FOR_LLM
    assert talk.last(cmd.Generate) is prompt
    talk.answer("That is the news.")
    assert talk.all(cmd.StartPlayback)


def test_with_the_manual_policy_silence_ends_no_turn():
    talk = Talk(turn=Turn(policy="manual"))
    talk.wake()
    talk.say("what is the capital of france")
    talk.wait(10)
    assert talk.place is Place.LISTENING
    talk.press()
    talk.wait(0.5)
    talk.release()
    talk.hear("what is the capital of france", final=True)
    assert talk.place is Place.WAITING_FOR_LLM


def test_an_utterance_that_the_policy_doubts_for_ever_is_answered_all_the_same():
    talk = Talk()
    talk.wake()
    talk.say("tea bob", confidence=0.4)
    talk.wait(1.5)
    assert talk.place is Place.LISTENING
    talk.wait(0.5)
    assert talk.causes[-1] is Cause.TURN_TIMEOUT


def test_what_is_left_of_the_wake_phrase_is_no_word_of_the_question():
    talk = Talk()
    talk.wake()
    talk.ask("the what time is it")
    assert talk.last(cmd.Generate).heard == "what time is it"
    assert talk.last(cmd.Generate).messages[-1].text == "what time is it"


def test_a_stop_in_one_breath_with_the_wake_phrase_stops():
    talk = Talk()
    talk.wake()
    talk.ask("the stop")
    assert talk.place is Place.IDLE
    assert not talk.all(cmd.Generate)


def test_the_same_word_is_left_alone_when_nobody_was_called():
    talk = Talk(activation=frozenset({"button"}))
    talk.press()
    talk.hear("the sea")
    assert talk.core.hearing.text == "the sea"
