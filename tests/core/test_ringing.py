"""A timer that is due: it rings in the next pause, until somebody stops it."""

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.table import Cause, Place
from edgevoice.core.tuning import Timeouts
from tests.core.reach import talk_at
from tests.core.talk import Talk

PASTA = "Your pasta timer is over."


def ring(talk, number=1, text=PASTA):
    talk.feed(ev.Rings(talk.now, number, text))


def alarms(talk):
    return talk.done.count(cmd.PlayEarcon("alarm"))


def ringing(**sections):
    talk = Talk(**sections)
    ring(talk)
    return talk


def test_it_rings_at_once_when_nothing_goes_on_and_listens_for_a_stop():
    talk = ringing()
    assert talk.place is Place.LISTENING
    assert talk.causes[-1] is Cause.ALARM
    assert alarms(talk) == 1


def test_it_says_what_it_is_between_two_sounds_and_rings_on():
    talk = ringing()
    talk.wait(2.1)
    assert talk.last(cmd.Synthesise).text == PASTA
    talk.synthesise()
    assert talk.place is Place.PLAYING
    talk.finish()
    talk.wait(4.1)
    assert talk.place is Place.LISTENING
    assert alarms(talk) == 4


@pytest.mark.parametrize(
    "said", ["stop", "stop the alarm", "turn it off", "okay stop", "thank you"]
)
def test_a_word_stops_it_at_once(said):
    talk = ringing()
    talk.speak(0.5)
    talk.hear(said)
    assert cmd.RingOver(1, stopped=True) in talk.done
    assert talk.place is Place.IDLE
    before = alarms(talk)
    talk.wait(10)
    assert alarms(talk) == before


def test_stop_is_listened_for_apart_whenever_it_rings():
    talk = ringing()
    assert "stop" in talk.last(cmd.Recognise).apart
    talk.ask("did you hear that in the kitchen")
    assert "stop" in talk.last(cmd.Recognise).apart
    talk.speak(0.5)
    talk.hear("the top", final=True, apart=(ev.Word("stop", 0.9),))
    assert cmd.RingOver(1, stopped=True) in talk.done


def test_who_calls_the_device_has_more_to_say():
    talk = ringing()
    talk.wake()
    talk.speak(1.0)
    talk.hear("what rings", final=True)
    talk.wait(1.0)
    talk.answer("Your timer.")
    assert not talk.all(cmd.RingOver)


def test_other_words_are_not_for_the_device_and_it_rings_on():
    talk = ringing()
    talk.ask("did you hear that in the kitchen")
    assert not talk.all(cmd.Generate)
    assert not talk.all(cmd.RingOver)
    before = alarms(talk)
    talk.synthesise()
    talk.finish()
    talk.wait(3)
    assert alarms(talk) > before


def test_the_wake_word_makes_room_for_a_question_and_then_it_rings_again():
    talk = ringing()
    talk.wait(1)
    talk.wake()
    before = alarms(talk)
    talk.ask("what time is it")
    assert talk.last(cmd.Generate).heard == "what time is it"
    talk.answer("It is noon.")
    assert alarms(talk) == before
    talk.finish()
    assert alarms(talk) > before or talk.core.answer is not None


def test_stop_over_its_words_stops_it():
    talk = ringing()
    talk.wait(2.1)
    talk.synthesise()
    talk.wait(0.3)
    talk.speak(0.1)
    talk.held_at(500)
    talk.hear("stop")
    assert talk.place is Place.INTERRUPTED
    talk.dropped_at(500)
    talk.say("stop", seconds=0.1)
    talk.wait(1)
    assert cmd.RingOver(1, stopped=True) in talk.done
    assert talk.place is Place.IDLE
    assert not talk.all(cmd.Generate)


@pytest.mark.parametrize("activation", [{"wake_word", "button"}, {"button"}])
def test_the_button_stops_it_and_does_nothing_else(activation):
    talk = ringing(activation=frozenset(activation))
    talk.press()
    assert cmd.RingOver(1, stopped=True) in talk.done
    talk.release()
    assert talk.place is Place.IDLE


def test_with_the_button_alone_it_rings_without_listening():
    talk = ringing(activation=frozenset({"button"}))
    talk.wait(2.1)
    talk.synthesise()
    talk.finish()
    talk.wait(3)
    assert alarms(talk) > 2
    assert talk.place is Place.IDLE
    assert not talk.core.microphone_open


def test_a_muted_device_rings_with_a_closed_microphone_and_the_button_stops_it_first():
    talk = Talk()
    talk.feed(ev.Mute(talk.now))
    ring(talk)
    talk.pass_time(7)
    assert alarms(talk) == 4
    assert not talk.core.microphone_open
    talk.press()
    assert talk.place is Place.SUSPENDED
    assert cmd.RingOver(1, stopped=True) in talk.done
    talk.press()
    assert talk.place is Place.IDLE


@pytest.mark.parametrize(
    "place", [Place.WAITING_FOR_LLM, Place.TOOL_EXECUTING, Place.WAITING_FOR_TASK, Place.PLAYING]
)
def test_it_waits_for_a_pause(place):
    talk = talk_at(place)
    ring(talk)
    talk.ticks()
    assert alarms(talk) == 0
    talk.feed(ev.EndConversation(talk.now))
    assert alarms(talk) == 1


def test_it_waits_until_the_answer_was_heard():
    talk = Talk()
    talk.answering()
    ring(talk)
    talk.wait(1)
    assert alarms(talk) == 0
    talk.finish()
    assert alarms(talk) == 1


def test_it_ends_by_itself_and_the_next_one_has_its_turn():
    talk = ringing(timeouts=Timeouts(ring_s=10))
    ring(talk, 2, "Your tea is ready.")
    talk.pass_time(60)
    over = [c for c in talk.done if isinstance(c, cmd.RingOver)]
    assert over == [cmd.RingOver(1, stopped=False), cmd.RingOver(2, stopped=False)]
    assert talk.place is Place.IDLE


def test_stop_is_for_what_was_heard_and_not_for_what_comes_after():
    talk = ringing()
    ring(talk, 2, "Your tea is ready.")
    talk.speak(0.4)
    talk.hear("stop")
    assert talk.all(cmd.RingOver) == [cmd.RingOver(1, stopped=True)]
    assert talk.core.rings[0].began is not None


def test_the_same_alarm_does_not_ring_twice():
    talk = ringing()
    ring(talk)
    assert len(talk.core.rings) == 1


def test_an_announcement_waits_until_it_was_stopped():
    talk = ringing()
    talk.feed(ev.Say(talk.now, "Rain is coming."))
    talk.wait(1)
    assert not talk.all(cmd.Synthesise)
    talk.press()
    assert talk.last(cmd.Synthesise).text == "Rain is coming."


def test_it_is_silent_while_somebody_speaks_until_the_words_are_known():
    """A "stop" that the device talks over is one that it does not hear."""
    talk = ringing()
    talk.wait(1.5)
    talk.speak(0.6)
    talk.wait(0.3)
    assert not talk.all(cmd.Synthesise)
    assert alarms(talk) == 1
    talk.hear("stop")
    assert cmd.RingOver(1, stopped=True) in talk.done


def test_its_words_give_way_to_somebody_who_speaks_before_they_are_heard():
    talk = ringing()
    talk.wait(2.1)
    talk.speak(0.3)
    talk.synthesise()
    assert talk.place is Place.LISTENING
    talk.hear("stop")
    assert cmd.RingOver(1, stopped=True) in talk.done


def test_a_television_does_not_silence_it():
    talk = ringing()
    talk.wait(1)
    talk.speak(8)
    assert alarms(talk) + len(talk.all(cmd.Synthesise)) > 1


def test_a_question_after_the_wake_word_and_a_pause_is_for_the_device():
    """What is left of the wake phrase is forgotten, and not that the device was called."""
    talk = ringing()
    talk.wake()
    talk.speak(0.2)
    talk.wait(0.5)
    talk.ask("what time is it")
    assert talk.last(cmd.Generate).heard == "what time is it"


def test_an_answer_is_spoken_although_an_alarm_waits_and_somebody_speaks():
    """It rang before the question was asked; it gives way to that, and not the answer to it."""
    talk = ringing()
    talk.feed(ev.Ask(talk.now, "tell me about the sea"))
    talk.speak(0.3)
    talk.tokens("The sea is deep. ")
    talk.synthesise()
    assert talk.place is Place.PLAYING


def test_how_long_it_rings_and_is_silent_goes_by_its_own_beginning():
    """The device has been up for longer than an alarm may ring, and its silence last."""
    talk = Talk(timeouts=Timeouts(ring_s=20))
    talk.wait(60)
    ring(talk)
    assert alarms(talk) == 1
    assert not talk.all(cmd.RingOver)
    talk.wait(1.5)
    talk.speak(0.6)
    talk.wait(0.3)
    assert alarms(talk) == 1
    assert not talk.all(cmd.Synthesise)


def test_a_second_alarm_does_not_disturb_the_rhythm_of_the_first():
    talk = ringing()
    talk.wait(0.5)
    ring(talk, 2, "Your tea is ready.")
    talk.wait(0.5)
    assert alarms(talk) == 1
    assert not talk.all(cmd.Synthesise)
