"""A conversation that goes on for long is renewed: old turns are condensed, and it goes on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.conversation import Conversation
from edgevoice.core.table import Place
from edgevoice.core.tuning import HistoryTuning, Speculation, Timeouts, Tuning
from tests.core.talk import Talk

TIMEOUTS = replace(Timeouts(), follow_up_s=3600.0, nothing_said_s=3600.0, listening_s=3600.0)
HEADING = "Earlier in this conversation:"


def talked(exchanges: int, **tuning: object) -> Talk:
    """A talk in its follow-up window, after so many questions."""
    talk = Talk(timeouts=TIMEOUTS, **tuning)
    talk.wake()
    for number in range(exchanges):
        talk.ask(f"what is the number {number}")
        talk.answer(f"It is {number}.")
        talk.finish()
    assert talk.place is Place.LISTENING
    return talk


def prompt(talk: Talk) -> str:
    return talk.core.history.messages("")[0].text


def test_after_15_minutes_of_conversation_old_turns_are_condensed_by_the_clock_alone():
    talk = talked(6)
    talk.pass_time(500)
    talk.ask("what is the number 6")
    talk.answer("It is 6.")
    talk.finish()
    assert HEADING not in prompt(talk)
    before = len(talk.done)
    talk.pass_time(900.1 - talk.now)
    assert "- what is the number 2 → It is 2." in prompt(talk)
    assert "number 3" not in prompt(talk)
    assert talk.done[before:] == []


def test_the_clock_of_the_machine_is_older_than_the_conversation():
    core = Conversation(Tuning(), 5000.0)
    assert core.history.renewal_at == 5900.0


def test_it_happens_every_15_minutes():
    talk = talked(1)
    for renewal in (900.0, 1800.0, 2700.0, 3600.0):
        assert talk.core.history.renewal_at == pytest.approx(renewal)
        talk.wake()
        talk.pass_time(renewal - talk.now)


def test_in_idle_nothing_is_done_and_nothing_is_waited_for():
    talk = talked(6)
    talk.feed(ev.EndConversation(talk.now))
    assert talk.core.deadline is None
    talk.pass_time(1000)
    assert HEADING not in prompt(talk)


@pytest.mark.parametrize("leave", [ev.Mute, lambda at: ev.Suspend(at, "reload")])
def test_nor_while_it_is_away(leave):
    talk = talked(6)
    talk.pass_time(890 - talk.now)
    talk.feed(leave(talk.now))
    talk.pass_time(20)
    assert HEADING not in prompt(talk)
    talk.feed(ev.Unmute(talk.now))
    talk.feed(ev.Resume(talk.now))
    talk.pass_time(0.1)
    assert HEADING in prompt(talk)


def test_what_became_due_in_idle_is_done_as_soon_as_somebody_talks_to_it():
    talk = talked(6)
    talk.feed(ev.EndConversation(talk.now))
    talk.pass_time(1000)
    talk.wake()
    talk.ticks()
    assert talk.place is Place.LISTENING
    assert HEADING in prompt(talk)


@pytest.mark.parametrize("drafts", [0, 2])
def test_it_waits_until_nobody_is_being_listened_to_so_that_the_prompt_stays_as_it_was_read(drafts):
    talk = talked(6, speculation=Speculation(answers=drafts))
    talk.pass_time(898 - talk.now)
    talk.wait(0.5)
    talk.say("tell me more")
    read = talk.last(cmd.Generate if drafts else cmd.Prefill).messages
    assert talk.now < 900
    talk.wait(0.8)
    assert talk.now > 900
    assert talk.last(cmd.Generate).messages == read
    talk.answer("It goes on.")
    assert talk.place is Place.PLAYING
    talk.wait(1)
    assert HEADING in prompt(talk)


def test_at_80_percent_of_the_window_it_happens_when_an_answer_is_over():
    talk = talked(3, history=HistoryTuning(context_tokens=256, keep_turns=2))
    assert HEADING not in prompt(talk)
    for _ in range(2):
        talk.ask("tell me about the sea and the moon and the stars above " * 2)
        talk.answer("It is wide and deep and very very old. " * 3)
        assert HEADING not in prompt(talk)
        talk.wait(0.3)
        before = prompt(talk)
        talk.finish()
        if HEADING in prompt(talk):
            break
        assert before == prompt(talk)
    assert HEADING in prompt(talk)
    assert talk.core.history.renewal_at == pytest.approx(talk.now + 900)
