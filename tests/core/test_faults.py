"""What breaks in mid-turn, and what becomes of the turn."""

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.events import FaultKind
from edgevoice.core.table import Place
from tests.core.talk import Talk


def fail(talk: Talk, kind: FaultKind, turn: int | None = None, part: str = "think") -> None:
    talk.feed(ev.Fault(talk.now, kind, part, "boom", turn=turn))


def speaking_first_words() -> Talk:
    """In the midst of an answer whose end the model has not said yet."""
    talk = Talk()
    talk.asked()
    talk.feed(ev.Token(talk.now, talk.turn, "The sea is deep. It is very old and "))
    talk.synthesise()
    assert talk.place is Place.PLAYING
    return talk


def test_a_model_that_fails_in_mid_answer_leaves_what_it_has_said():
    talk = speaking_first_words()
    fail(talk, FaultKind.LLM, talk.turn)
    assert talk.last(cmd.CancelGeneration).turn == talk.turn
    assert talk.last(cmd.EndSpeech).turn == talk.turn
    assert talk.last(cmd.Synthesise).text == "It is very old and"
    talk.synthesise()
    talk.finish()
    assert talk.place is Place.LISTENING


def test_an_engine_that_dies_in_mid_answer_does_not_leave_it_waiting_for_more():
    talk = speaking_first_words()
    turn = talk.turn
    fail(talk, FaultKind.ENGINE, turn)
    assert talk.place is Place.RECOVERING
    assert talk.last(cmd.EndSpeech).turn == turn
    talk.feed(ev.PartRebuilt(talk.now, "think"))
    assert talk.place is Place.PLAYING
    assert len(talk.all(cmd.Generate)) == 1


def test_an_engine_that_has_no_part_in_the_answer_does_not_cut_it():
    talk = speaking_first_words()
    fail(talk, FaultKind.ENGINE, None, "listen")
    talk.feed(ev.PartRebuilt(talk.now, "listen"))
    assert talk.place is Place.PLAYING
    assert not talk.all(cmd.EndSpeech)


def test_a_model_that_fails_while_the_device_is_away_is_asked_again_on_the_way_back():
    talk = Talk()
    talk.asked()
    first = talk.turn
    talk.feed(ev.Suspend(talk.now, "reload"))
    fail(talk, FaultKind.LLM, first)
    talk.feed(ev.Resume(talk.now))
    assert talk.place is Place.WAITING_FOR_LLM
    assert [g.turn > first for g in talk.all(cmd.Generate)] == [False, True]


def test_a_model_that_fails_again_and_again_is_excused_and_opens_no_breaker():
    talk = Talk()
    talk.asked()
    for _ in range(4):
        fail(talk, FaultKind.LLM, talk.turn)
        talk.pass_time(4)
    assert len(talk.all(cmd.Generate)) == 4
    assert talk.place is Place.WAITING_FOR_LLM
    assert talk.last(cmd.Synthesise).text == talk.core.lexicon.phrases["unavailable"]


def test_a_model_that_fails_for_three_questions_is_asked_once_for_each_and_no_more():
    """Its breaker ends the patience with it, not the device: timers need no model."""
    talk = Talk()
    for _ in range(3):
        talk.wake()
        talk.ask("tell me about the sea")
        talk.core.the_answer.retries = 3
        fail(talk, FaultKind.LLM, talk.turn)
    assert talk.place is Place.WAITING_FOR_LLM
    talk.wake()
    talk.ask("tell me about the moon")
    asked = len(talk.all(cmd.Generate))
    fail(talk, FaultKind.LLM, talk.turn)
    assert talk.last(cmd.Synthesise).text == talk.core.lexicon.phrases["unavailable"]
    talk.pass_time(5)
    assert len(talk.all(cmd.Generate)) == asked


def test_late_tokens_of_an_attempt_that_was_given_up_are_not_spoken():
    talk = Talk()
    talk.asked()
    turn = talk.turn
    fail(talk, FaultKind.LLM, turn)
    talk.feed(ev.Token(talk.now, turn, "Too late now. Really. "))
    talk.feed(ev.ReplyDone(talk.now, turn))
    assert not talk.all(cmd.Synthesise)
    talk.pass_time(1)
    assert len(talk.all(cmd.Generate)) == 2


def test_an_answer_that_cannot_be_spoken_is_shown_and_the_device_listens():
    talk = Talk()
    talk.asked()
    talk.tokens("The sea is deep.")
    fail(talk, FaultKind.TTS, talk.turn, "speak")
    assert talk.place is Place.LISTENING
    assert talk.last(cmd.TurnRecord).answered == "The sea is deep."
    assert cmd.PlayEarcon("error") in talk.done


def test_a_voice_that_fails_in_mid_answer_ends_it():
    talk = speaking_first_words()
    fail(talk, FaultKind.TTS, talk.turn, "speak")
    assert talk.place is Place.PLAYING
    assert talk.last(cmd.EndSpeech).turn == talk.turn


def test_a_progress_line_that_cannot_be_spoken_does_not_end_the_task():
    talk = Talk()
    talk.asked()
    talk.feed(ev.ToolCalled(talk.now, talk.turn, 1, "research", "{}", True))
    talk.ticks()
    fail(talk, FaultKind.TTS, talk.turn, "speak")
    assert talk.place is Place.WAITING_FOR_TASK
    assert not talk.all(cmd.CancelTool)
    talk.feed(ev.ToolDone(talk.now, talk.turn, 1, "found"))
    assert talk.place is Place.WAITING_FOR_LLM


def test_words_before_a_tool_that_cannot_be_spoken_do_not_end_the_tool():
    talk = Talk()
    talk.asked()
    talk.feed(ev.Token(talk.now, talk.turn, "Let me look. "))
    talk.feed(ev.ToolCalled(talk.now, talk.turn, 1, "clock", "{}"))
    fail(talk, FaultKind.TTS, talk.turn, "speak")
    assert talk.place is Place.TOOL_EXECUTING
    talk.feed(ev.ToolDone(talk.now, talk.turn, 1, "noon"))
    assert talk.last(cmd.Generate).messages[-1].text == "noon"


def test_an_announcement_that_cannot_be_spoken_is_not_tried_for_ever():
    talk = Talk()
    talk.feed(ev.Say(talk.now, "The tea is ready."))
    fail(talk, FaultKind.TTS, talk.turn, "speak")
    talk.pass_time(60)
    assert len(talk.all(cmd.Synthesise)) == 1
    assert talk.core.answer is None


def test_a_fault_of_a_turn_that_is_over_changes_nothing():
    talk = Talk()
    talk.asked()
    fail(talk, FaultKind.LLM, talk.turn - 1)
    assert talk.core.stale == 1
    assert not talk.all(cmd.CancelGeneration)


def test_an_unknown_fault_is_apologised_for_when_a_question_is_open():
    talk = Talk()
    talk.asked()
    fail(talk, FaultKind.UNKNOWN)
    assert talk.last(cmd.Synthesise).text == talk.core.lexicon.phrases["no_answer"]


def test_a_muted_microphone_that_is_unplugged_is_not_opened_again_before_the_unmute():
    talk = Talk()
    talk.feed(ev.Mute(talk.now))
    talk.feed(ev.DeviceLost(talk.now, ev.Device.MICROPHONE))
    talk.pass_time(120)
    assert talk.place is Place.SUSPENDED
    assert not talk.all(cmd.ReopenDevice)
    talk.feed(ev.Unmute(talk.now))
    assert talk.place is Place.RECOVERING
    talk.pass_time(1)
    assert talk.last(cmd.ReopenDevice).device is ev.Device.MICROPHONE


@pytest.mark.parametrize("kind", [FaultKind.DEVICE, FaultKind.TTS, FaultKind.UNKNOWN])
def test_a_breaker_that_opens_says_which_kind_it_was(kind):
    talk = Talk()
    for _ in range(3):
        fail(talk, kind, None)
    assert talk.place is Place.FAULTED
    assert talk.core.fault_kind is kind


def test_a_device_that_does_not_come_back_is_what_the_lamp_tells():
    talk = Talk()
    talk.feed(ev.DeviceLost(talk.now, ev.Device.SPEAKER, "unplugged"))
    talk.pass_time(31)
    assert talk.place is Place.FAULTED
    assert talk.core.fault_kind is FaultKind.DEVICE


def test_a_device_fault_is_of_the_device_that_it_names():
    for part, device in (("speaker", ev.Device.SPEAKER), ("microphone", ev.Device.MICROPHONE)):
        talk = Talk()
        fail(talk, FaultKind.DEVICE, part=part)
        assert talk.core.lost == {device}


def test_an_engine_that_fails_asks_no_model_for_an_announcement():
    talk = Talk()
    talk.feed(ev.Say(talk.now, "The tea is ready."))
    fail(talk, FaultKind.ENGINE, part="speak")
    talk.feed(ev.PartRebuilt(talk.now, "speak"))
    assert not talk.all(cmd.Generate)


def test_an_engine_that_has_no_part_in_the_answer_leaves_it_growing():
    talk = speaking_first_words()
    fail(talk, FaultKind.ENGINE, None, "listen")
    talk.feed(ev.PartRebuilt(talk.now, "listen"))
    talk.feed(ev.Token(talk.now, talk.turn, "salty. Now "))
    assert talk.last(cmd.Synthesise).text == "It is very old and salty."


def test_nor_does_it_keep_a_tool_from_being_called_again():
    talk = Talk()
    talk.asked()
    talk.feed(ev.ToolCalled(talk.now, talk.turn, 1, "clock", "{}"))
    fail(talk, FaultKind.ENGINE, None, "listen")
    talk.feed(ev.PartRebuilt(talk.now, "listen"))
    talk.feed(ev.ToolCalled(talk.now, talk.turn, 2, "clock", "{}"))
    assert talk.last(cmd.RunTool).call == 2


def test_a_model_that_was_asked_again_and_fails_while_away_is_apologised_for():
    talk = Talk()
    talk.asked()
    fail(talk, FaultKind.LLM, talk.turn)
    talk.pass_time(1)
    talk.feed(ev.Suspend(talk.now, "reload"))
    fail(talk, FaultKind.LLM, talk.turn)
    talk.feed(ev.Resume(talk.now))
    assert len(talk.all(cmd.Generate)) == 2
    assert talk.last(cmd.Synthesise).text == talk.core.lexicon.phrases["unavailable"]


def break_three_times(talk: Talk, kind: FaultKind, part: str) -> None:
    for _ in range(3):
        fail(talk, kind, None, part)
        if talk.place is Place.RECOVERING:
            talk.feed(ev.PartRebuilt(talk.now, part))
            talk.feed(ev.DeviceFound(talk.now, ev.Device.SPEAKER))
    assert talk.place is Place.FAULTED


def test_the_engine_that_opened_the_breaker_is_built_again_before_the_next_start():
    talk = Talk()
    break_three_times(talk, FaultKind.ENGINE, "listen")
    built = len(talk.all(cmd.RebuildPart))
    talk.pass_time(61)
    assert talk.place is Place.PREPARING
    assert len(talk.all(cmd.RebuildPart)) == built + 1
    talk.feed(ev.PartRebuilt(talk.now, "listen"))
    assert talk.place is Place.IDLE


def test_while_the_breaker_is_open_nothing_is_built():
    talk = Talk()
    break_three_times(talk, FaultKind.ENGINE, "listen")
    built = len(talk.all(cmd.RebuildPart))
    fail(talk, FaultKind.ENGINE, None, "recognise")
    assert len(talk.all(cmd.RebuildPart)) == built
    talk.pass_time(61)
    assert {c.part for c in talk.all(cmd.RebuildPart)[built:]} == {"listen", "recognise"}


def test_what_breaks_again_and_again_while_it_comes_up_goes_down_again():
    talk = Talk(ready=False)
    for _ in range(2):
        fail(talk, FaultKind.ENGINE, None, "listen")
        talk.feed(ev.PartRebuilt(talk.now, "listen"))
    assert len(talk.all(cmd.RebuildPart)) == 2
    fail(talk, FaultKind.ENGINE, None, "listen")
    assert talk.place is Place.FAULTED
    assert len(talk.all(cmd.RebuildPart)) == 2


def test_a_player_that_fails_is_a_lost_speaker():
    talk = Talk()
    fail(talk, FaultKind.DEVICE, None, "play")
    assert talk.core.lost == {ev.Device.SPEAKER}


def test_the_device_that_opened_the_breaker_is_looked_for_before_the_next_start():
    talk = Talk()
    break_three_times(talk, FaultKind.DEVICE, "play")
    talk.pass_time(61)
    assert talk.place is Place.PREPARING
    assert talk.last(cmd.ReopenDevice).device is ev.Device.SPEAKER
    talk.feed(ev.DeviceFound(talk.now, ev.Device.SPEAKER))
    assert talk.place is Place.IDLE


def test_a_model_that_fails_twice_is_built_again():
    talk = Talk()
    talk.asked()
    fail(talk, FaultKind.LLM, talk.turn)
    assert not talk.all(cmd.RebuildPart), "once may be chance"
    talk.pass_time(1)
    fail(talk, FaultKind.LLM, talk.turn)
    assert talk.last(cmd.RebuildPart).part == "think"
    assert talk.place is Place.WAITING_FOR_LLM


def test_a_voice_that_fails_is_built_again():
    talk = Talk()
    talk.asked()
    talk.tokens("The sea is deep.")
    fail(talk, FaultKind.TTS, talk.turn, "speak")
    assert talk.last(cmd.RebuildPart).part == "speak"
    assert talk.place is Place.LISTENING
