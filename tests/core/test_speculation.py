"""Thinking ahead: what is prepared in the user's silence, and what becomes of it."""

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.events import FaultKind
from edgevoice.core.policy import Blocker
from edgevoice.core.table import Cause, Place, State
from edgevoice.core.tuning import Speculation, Turn
from tests.core.talk import Talk

SEA = "tell me about the sea"


def drafting(**sections: object) -> Talk:
    talk = Talk(**sections)
    talk.drafting(SEA)
    return talk


def ready() -> Talk:
    """A draft whose voice lies ready, and a turn that is not over."""
    talk = drafting()
    talk.tokens("The sea is wide and deep.")
    talk.synthesise()
    assert talk.place is Place.LISTENING
    return talk


# -- when the turn is over ------------------------------------------------------------------


def test_the_voice_starts_in_the_very_step_in_which_the_turn_is_over():
    talk = ready()
    assert not talk.all(cmd.StartPlayback)
    while talk.place is Place.LISTENING:
        talk.wait(0.02)
    assert talk.place is Place.PLAYING
    speak, play = talk.all(cmd.Transition)[-2:]
    assert (speak.cause, play.cause) == (Cause.TURN_SPEAK, Cause.TTS_BUFFER_READY)
    assert speak.at == play.at == talk.now


def test_the_wait_is_that_of_the_policy_and_not_a_frame_shorter():
    talk, plain = ready(), Talk(speculation=Speculation(answers=0))
    plain.wake()
    plain.say(SEA)
    for each in (talk, plain):
        each.wait(0.5)
    ends = [next(t.at for t in each.all(cmd.Transition) if t.cause is Cause.TURN_SPEAK)
            for each in (talk, plain)]  # fmt: skip
    assert ends[0] == ends[1]


def test_one_prompt_one_answer_and_one_thinking_phase():
    talk = ready()
    talk.wait(0.5)
    talk.feed(ev.PlaybackStarted(talk.now, talk.turn))
    talk.finish()
    assert len(talk.all(cmd.Generate)) == 1
    assert [s.value for s in talk.path[-4:]] == ["listening", "processing", "speaking", "listening"]
    record = talk.last(cmd.TurnRecord)
    assert (record.heard, record.played) == (SEA, "The sea is wide and deep.")
    assert (record.drafts, record.wasted_tokens) == (1, 0)
    assert record.llm_first_token_ms == 0.0


def test_a_draft_that_is_not_ready_goes_on_as_the_answer():
    talk = drafting()
    talk.wait(0.5)
    assert talk.place is Place.WAITING_FOR_LLM
    talk.answer("The sea is wide.")
    assert talk.place is Place.PLAYING
    assert len(talk.all(cmd.Generate)) == 1


def test_a_draft_of_which_no_token_comes_is_asked_again_in_time():
    talk = drafting()
    talk.wait(0.5)
    talk.pass_time(10.0)
    assert len(talk.all(cmd.Generate)) == 2


def test_an_empty_draft_closes_the_turn():
    talk = drafting()
    talk.feed(ev.ReplyDone(talk.now, talk.turn))
    assert talk.place is Place.LISTENING
    talk.wait(0.5)
    assert talk.causes[-1] is Cause.LLM_EMPTY


def test_the_first_draft_has_the_turn_of_its_utterance_as_an_answer_has():
    for begin in (Talk.drafting, Talk.asked):
        talk = Talk()
        begin(talk)
        assert talk.turn == talk.last(cmd.Recognise).turn


def test_an_awaited_draft_gives_its_first_words_as_soon_as_they_can_be_said():
    talk = drafting(turn=Turn(hysteresis_window_ms=100))
    talk.wait(0.3)
    assert talk.place is Place.WAITING_FOR_LLM
    for word in LONG.split()[:9]:
        talk.feed(ev.Token(talk.now, talk.turn, word + " "))
    assert talk.last(cmd.Synthesise).text == "The sea is a very large body"


def test_a_draft_is_awaited_once_the_verdict_is_pending():
    talk = drafting(turn=Turn(hysteresis_window_ms=1000))
    assert not talk.core.draft.awaited
    talk.wait(0.3)
    assert talk.core.decision.blocked_by is Blocker.NOTHING
    assert talk.core.draft.awaited


# -- when it is not -------------------------------------------------------------------------


def test_who_goes_on_is_not_answered_yet_and_the_draft_leaves_no_trace():
    talk = ready()
    before = talk.core.history.messages("")
    talk.speak(0.1)
    dropped = talk.all(cmd.Generate)[0].turn
    assert [type(c) for c in talk.done[-3:]] == [
        cmd.CancelGeneration,
        cmd.CancelSynthesis,
        cmd.DropPlayback,
    ]
    assert {c.turn for c in talk.done[-3:]} == {dropped}
    assert talk.core.draft is None
    assert talk.core.history.messages("") == before
    assert not talk.all(cmd.TurnRecord)


def test_what_still_comes_of_a_dropped_draft_is_stale():
    talk = ready()
    turn = talk.turn
    talk.speak(0.1)
    stale = talk.core.stale
    talk.feed(ev.Token(talk.now, turn, "more "))
    talk.feed(ev.PieceBuffered(talk.now, turn, 1, (), 9000, ev.RATE))
    assert talk.core.stale == stale + 2
    assert talk.place is Place.LISTENING


def test_another_word_is_another_draft_under_another_turn():
    talk = ready()
    first = talk.turn
    talk.hear("tell me about the sea and the moon", final=True)
    assert talk.last(cmd.DropPlayback).turn == first
    assert talk.turn > first
    talk.tokens("Both are old.")
    talk.synthesise()
    talk.wait(0.5)
    assert talk.last(cmd.StartPlayback).turn > first
    talk.feed(ev.PlaybackStarted(talk.now, talk.turn))
    talk.finish()
    record = talk.last(cmd.TurnRecord)
    assert record.heard == "tell me about the sea and the moon"
    assert (record.drafts, record.wasted_tokens) == (2, 6)


def test_what_two_drafts_have_cost_is_added_up():
    talk = ready()
    longer = f"{SEA} and the moon"
    talk.hear(longer, final=True)
    talk.tokens("Both are old.")
    talk.synthesise()
    talk.speak(0.3)
    talk.ask(f"{longer} and the stars")
    talk.answer("All of them are old.")
    talk.finish()
    record = talk.last(cmd.TurnRecord)
    assert (record.drafts, record.wasted_tokens) == (3, 9)


def test_last_words_that_promise_more_or_are_none_begin_no_draft():
    for text in ("tell me about the sea and", ""):
        talk = ready()
        talk.wait(0.1)
        talk.hear(text, final=True)
        assert talk.core.draft is None
        talk.wait(0.04)
        assert talk.core.draft is None


def test_while_the_last_word_is_on_its_way_nothing_is_begun():
    hasty = Turn(min_silence_to_speak_ms=200, flush_after_ms=100)
    for final in (f"{SEA} today", None):
        talk = Talk(turn=hasty)
        talk.wake()
        talk.speak(1.0)
        talk.hear(SEA)
        talk.wait(0.3)
        assert talk.core.decision.blocked_by is Blocker.NOTHING
        assert talk.core.draft is None
        if final:
            talk.hear(final, final=True)
            assert talk.core.draft.heard == final
        talk.wait(0.3)
        assert [order.messages[-1].text for order in talk.all(cmd.Generate)] == [final or SEA]


def test_a_last_word_has_settled():
    talk = Talk(turn=Turn(text_settle_ms=1000))
    talk.wake()
    talk.speak(1.0)
    talk.hear(SEA)
    talk.wait(0.25)
    talk.hear(f"{SEA} today", final=True)
    talk.wait(0.4)
    assert talk.place is Place.WAITING_FOR_LLM


def test_drafts_are_bounded_and_the_answer_comes_all_the_same():
    talk = drafting(speculation=Speculation(answers=2))
    for more in ("a", "b", "c", "d"):
        talk.say(f"{SEA} {more} now", seconds=0.2)
        talk.wait(0.04)
    assert len(talk.all(cmd.Generate)) == 2
    talk.wait(0.8)
    assert len(talk.all(cmd.Generate)) == 3
    talk.answer("It is wide.")
    assert talk.place is Place.PLAYING


def test_no_draft_when_none_are_wanted():
    talk = Talk(speculation=Speculation(answers=0))
    talk.wake()
    talk.say(SEA)
    talk.wait(0.1)
    assert talk.core.draft is None
    assert not talk.all(cmd.Generate)


def test_no_draft_for_what_is_unfinished_doubted_or_a_farewell():
    for text, confidence in (
        ("tell me about the", 0.9),
        (SEA, 0.4),
        ("thank you", 0.9),
        ("never mind", 0.9),
    ):
        talk = Talk()
        talk.wake()
        talk.say(text, confidence=confidence)
        talk.wait(0.1)
        assert talk.core.draft is None, text


def test_no_draft_while_the_button_says_when_the_turn_is_over():
    talk = Talk()
    talk.press()
    talk.say(SEA)
    talk.wait(2.0)
    assert talk.core.draft is None
    assert not talk.all(cmd.Generate)


def test_the_end_of_the_conversation_is_the_end_of_the_draft():
    for end in (
        ev.EndConversation(9.0),
        ev.Mute(9.0),
        ev.Suspend(9.0, "reload"),
        ev.Shutdown(9.0),
        ev.WakeHeard(9.0, "hey_jarvis", 0.9, 40_000),
        ev.Ask(9.0, "what is new"),
        ev.DeviceLost(9.0, ev.Device.MICROPHONE),
        ev.ButtonPressed(9.0),
    ):
        talk = ready()
        turn = talk.turn
        talk.feed(end)
        assert talk.core.draft is None, end
        assert talk.last(cmd.DropPlayback).turn >= turn
        assert turn not in [c.turn for c in talk.all(cmd.StartPlayback)]


# -- what a draft may not do ----------------------------------------------------------------


def test_a_tool_of_a_draft_runs_when_the_turn_is_over_and_not_before():
    talk = drafting()
    turn = talk.turn
    talk.feed(ev.ToolCalled(talk.now, turn, 1, "timer", "{}"))
    talk.feed(ev.ReplyDone(talk.now, turn))
    assert not talk.all(cmd.RunTool)
    talk.wait(0.5)
    assert talk.place is Place.TOOL_EXECUTING
    assert talk.last(cmd.RunTool) == cmd.RunTool(turn, 1, "timer", "{}")


def test_a_tool_of_a_dropped_draft_never_runs():
    talk = drafting()
    talk.feed(ev.ToolCalled(talk.now, talk.turn, 1, "timer", "{}"))
    talk.speak(0.1)
    talk.hear("no", final=True)
    talk.wait(2.0)
    assert not talk.all(cmd.RunTool)


def test_a_draft_that_fails_is_asked_again_when_it_is_wanted_and_nobody_hears_of_it():
    for kind in (FaultKind.LLM, FaultKind.TTS):
        talk = ready()
        talk.feed(ev.Fault(talk.now, kind, "think", "boom", turn=talk.turn))
        assert talk.place is Place.LISTENING
        assert not [c for c in talk.all(cmd.PlayEarcon) if c.name == "error"]
        talk.wait(0.5)
        assert talk.place is Place.WAITING_FOR_LLM
        assert len(talk.all(cmd.Generate)) == 2


def test_a_fault_of_the_engine_or_a_fatal_one_is_more_than_a_lost_draft():
    talk = ready()
    talk.feed(ev.Fault(talk.now, FaultKind.ENGINE, "think", "boom", turn=talk.turn))
    assert talk.place is Place.RECOVERING
    talk = ready()
    talk.feed(ev.Fault(talk.now, FaultKind.LLM, "think", "boom", turn=talk.turn, fatal=True))
    assert talk.place is Place.FAULTED


def test_a_fault_of_something_else_leaves_the_draft_alone():
    talk = ready()
    talk.feed(ev.Fault(talk.now, FaultKind.TTS, "speak", "boom", turn=99))
    assert talk.core.draft is not None


# -- reading ahead --------------------------------------------------------------------------


def read(talk: Talk) -> list[str]:
    return [c.messages[-1].text for c in talk.all(cmd.Prefill)]


def test_words_are_read_once_they_have_stopped_changing():
    talk = Talk()
    talk.wake()
    for text in ("what", "what is", "what is the", "what is the cap", "what is the capital of"):
        talk.speak(0.2)
        talk.hear(text)
    assert read(talk)[1:] == ["", "what", "what is", "what is the"]


def test_a_word_that_changes_after_all_is_read_anew():
    talk = Talk()
    talk.wake()
    for text in ("how far", "how far away", "how fair away", "how fair away is"):
        talk.speak(0.2)
        talk.hear(text)
    assert read(talk)[2:] == ["how far", "how fair away"]


def test_the_answer_is_guessed_from_words_and_not_from_the_history_alone():
    for tokens in (0, 5):
        talk = Talk(speculation=Speculation(opening_tokens=tokens))
        talk.wake()
        for text in ("what is", "what is the"):
            talk.speak(0.2)
            talk.hear(text)
        guesses = [(c.messages[-1].text, c.opening) for c in talk.all(cmd.Prefill)]
        assert guesses[1:] == [("", 0), ("what is", tokens)]


def test_nothing_is_read_ahead_when_that_is_not_wanted():
    talk = Talk(speculation=Speculation(read_ahead=False))
    talk.asked()
    assert not talk.all(cmd.Prefill)


def test_the_history_is_read_while_the_device_listens_for_more():
    talk = Talk()
    talk.answering("It is wide.")
    talk.finish()
    assert talk.core.place.state is State.LISTENING
    assert [m.text for m in talk.last(cmd.Prefill).messages[1:]] == [SEA, "It is wide.", ""]


# -- pieces ---------------------------------------------------------------------------------

LONG = "The sea is a very large body of salty water in most places of the earth."


def test_a_draft_has_time_for_a_whole_clause():
    talk = drafting()
    turn = talk.turn
    for word in LONG.split():
        talk.feed(ev.Token(talk.now, turn, word + " "))
    talk.feed(ev.ReplyDone(talk.now, turn))
    assert talk.last(cmd.Synthesise).text == LONG


def test_while_somebody_waits_the_first_words_are_spoken_at_the_next_natural_place():
    talk = Talk(speculation=Speculation(answers=0))
    talk.asked()
    for word in LONG.split()[:9]:
        talk.feed(ev.Token(talk.now, talk.turn, word + " "))
    assert talk.last(cmd.Synthesise).text == "The sea is a very large body"


def test_a_draft_is_awaited_when_the_verdict_is_pending():
    talk = drafting(turn=Turn(hysteresis_window_ms=400))
    turn = talk.turn
    for word in LONG.split()[:4]:
        talk.feed(ev.Token(talk.now, turn, word + " "))
    talk.wait(0.2)
    for word in LONG.split()[4:9]:
        talk.feed(ev.Token(talk.now, turn, word + " "))
    assert talk.place is Place.LISTENING
    assert talk.last(cmd.Synthesise).text == "The sea is a very large body"


def spoken_while_playing(after: float, tokens: int) -> str:
    """The newest piece when, so long into a second of speech, more of the sentence has come."""
    talk = Talk(speculation=Speculation(answers=0))
    talk.asked()
    talk.feed(ev.Token(talk.now, talk.turn, "The sea is deep. It "))
    talk.synthesise()
    talk.feed(ev.PlaybackStarted(talk.now, talk.turn))
    talk.pass_time(after)
    for word in ["is"] * tokens + LONG.split()[3:11]:
        talk.feed(ev.Token(talk.now, talk.turn, word + " "))
    return talk.last(cmd.Synthesise).text


def test_a_voice_that_is_about_to_run_dry_gets_the_next_words_at_the_next_natural_place():
    assert spoken_while_playing(0.1, 0) == "The sea is deep."
    assert spoken_while_playing(0.9, 0) != "The sea is deep."


def test_the_slower_the_model_the_sooner():
    assert spoken_while_playing(0.3, 30) == "The sea is deep."
    assert spoken_while_playing(0.3, 0) != "The sea is deep."
