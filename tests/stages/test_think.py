"""The think stage: tokens in order, and silence after a cancellation."""

import os
import threading
from types import SimpleNamespace

from edgevoice.core.commands import Generate, JudgeWords, Message, Prefill
from edgevoice.core.events import Fault, FaultKind, ReplyDone, Token, WordsVerdict
from edgevoice.errors import EngineError
from edgevoice.ports import Call
from edgevoice.stages.think import Think
from tests.patience import until

QUESTION = (Message("user", "why"),)


class Scripted:
    """Says its words; calls ``between`` before each, as if time passed there."""

    def __init__(self, *words, between=None):
        self.words = words
        self.between = between or (lambda word: None)
        self.asked = []
        self.told_to_stop = False

    def prefill(self, messages, cancelled):
        self.read_ahead = messages

    def reply(self, messages, cancelled):
        self.asked.append(messages)
        for word in self.words:
            self.between(word)
            self.told_to_stop = cancelled()
            yield word


def stage(model):
    events = []
    return Think(events.append, model), events


def test_tokens_carry_the_turn_of_their_prompt_and_end_with_reply_done():
    think, events = stage(Scripted("Be", "cause."))
    think.handle(Generate(7, QUESTION))
    assert [type(e) for e in events] == [Token, Token, ReplyDone]
    assert [e.text for e in events[:2]] == ["Be", "cause."]
    assert {e.turn for e in events} == {7}


def test_a_cancellation_between_tokens_ends_the_answer_without_an_end():
    model = Scripted("one", "two", "three", between=lambda w: w == "two" and think.cancel(7))
    think, events = stage(model)
    think.handle(Generate(7, QUESTION))
    assert [e.text for e in events] == ["one"]
    assert model.told_to_stop


def test_a_cancellation_after_the_last_token_leaves_no_end_either():
    class Late:
        def reply(self, messages, cancelled):
            yield "all"
            think.cancel(7)

    think, events = stage(Late())
    think.handle(Generate(7, QUESTION))
    assert [type(e) for e in events] == [Token]


def test_a_prompt_that_was_cancelled_in_the_queue_is_never_asked():
    model = Scripted("word")
    think, events = stage(model)
    think.cancel(8)
    think.handle(Generate(7, QUESTION))
    think.handle(Generate(8, QUESTION))
    assert (events, model.asked) == ([], [])
    think.handle(Generate(9, QUESTION))
    assert len(model.asked) == 1


def test_an_older_cancellation_does_not_revive_a_newer_one():
    think, events = stage(Scripted("word"))
    think.cancel(9)
    think.cancel(3)
    think.handle(Generate(8, QUESTION))
    assert events == []


def test_a_model_that_fails_is_a_fault_of_that_turn_and_the_next_is_answered():
    def fail(word):
        if word == "bad":
            raise EngineError("the model is out of memory", "choose a smaller one")

    model = Scripted("good", "bad", between=fail)
    think, events = stage(model)
    think.start()
    think.post(Generate(7, QUESTION))
    think.post(Generate(8, QUESTION))
    until(lambda: len(events) == 4)
    assert think.stop()
    assert [(type(e), e.turn) for e in events] == [(Token, 7), (Fault, 7), (Token, 8), (Fault, 8)]
    assert events[1].kind is FaultKind.LLM
    assert events[1].reason == "EngineError: the model is out of memory; choose a smaller one"


def test_a_stage_that_stops_does_not_wait_for_the_end_of_an_answer():
    def endless():
        while True:
            yield "and"

    class Talkative:
        def reply(self, messages, cancelled):
            return endless()

    think, events = stage(Talkative())
    think.start()
    think.post(Generate(7, QUESTION))
    until(lambda: events)
    assert think.stop()
    assert ReplyDone not in {type(e) for e in events}


def test_a_prompt_is_read_ahead_without_a_word():
    model = Scripted("word")
    think, events = stage(model)
    think.handle(Prefill(7, QUESTION))
    assert model.read_ahead == QUESTION
    assert (events, model.asked) == ([], [])


class Caller:
    def reply(self, messages, cancelled):
        yield "Let me see. "
        yield Call("lamp", {"state": "on"}, long_running=True)
        yield "never said"


def test_a_call_ends_the_answer_and_is_told_with_its_arguments():
    told = []
    Think(told.append, Caller()).handle(Generate(7, QUESTION))
    token, call = told
    assert token.text == "Let me see. "
    assert (call.turn, call.name, call.arguments) == (7, "lamp", '{"state": "on"}')
    assert call.long_running
    assert not call.direct


def test_only_the_newest_look_ahead_is_read_and_none_before_a_prompt():
    read = []

    class Reader(Scripted):
        def prefill(self, messages, cancelled):
            read.append(messages[-1].text)

    looks = [Prefill(7, (Message("user", text),)) for text in ("why", "why is", "why is it")]
    for orders, wanted in ((looks, ["why is it"]), ([*looks, Generate(8, QUESTION)], [])):
        read.clear()
        think, _ = stage(Reader("word"))
        for order in orders:
            think.post(order)
        think.start()
        assert think.stop()
        assert read == wanted


def test_reading_ahead_gives_way_to_a_prompt_and_to_no_cancellation():
    seen = []

    class Reader(Scripted):
        def prefill(self, messages, cancelled):
            think.cancel(7)
            seen.append(cancelled())
            think.post(Generate(8, QUESTION))
            seen.append(cancelled())

        def anticipate(self, messages, tokens, cancelled):
            seen.append("guessed all the same")
            return iter(())

    think, _ = stage(Reader("word"))
    think.handle(Prefill(7, QUESTION, opening=3))
    assert seen == [False, True]


def test_the_answer_to_what_was_read_is_guessed_until_there_is_something_to_do():
    seen = []

    class Reader(Scripted):
        def anticipate(self, messages, tokens, cancelled):
            seen.append((self.read_ahead == messages, tokens, cancelled()))
            yield
            think.post(Generate(8, QUESTION))
            seen.append(cancelled())

    think, events = stage(Reader("word"))
    think.handle(Prefill(7, QUESTION))
    assert seen == []
    think.handle(Prefill(7, QUESTION, opening=3))
    assert seen == [(True, 3, False), True]
    assert events == []


def test_whether_words_are_whole_is_told_before_the_answer_to_them():
    class Doubtful(Scripted):
        def whole(self, messages, cancelled):
            return 0.25 if messages == QUESTION else None

    think, events = stage(Doubtful("word"))
    think.post(JudgeWords(7, 640, QUESTION))
    think.post(JudgeWords(7, 960, (Message("user", "nobody knows"),)))
    think.post(Generate(8, QUESTION))
    think.start()
    assert think.stop()
    verdict, *answer = events
    assert isinstance(verdict, WordsVerdict)
    assert (verdict.turn, verdict.until, verdict.probability) == (7, 640, 0.25)
    assert [type(event) for event in answer] == [Token, ReplyDone]


def test_a_model_that_judges_too_late_is_not_asked_for_a_while(monkeypatch, caplog):
    clock = [0.0]
    monkeypatch.setattr("edgevoice.stages.think.time", SimpleNamespace(monotonic=lambda: clock[0]))
    takes = []

    class Slow(Scripted):
        def whole(self, messages, cancelled):
            clock[0] += takes[0]
            takes.pop(0)
            return 0.5

    think, events = stage(Slow())
    takes[:] = [0.3, 0.3, 0.1, 0.3, 0.3, 0.3, 0.1]
    with caplog.at_level("INFO"):
        for until in range(7):
            think.handle(JudgeWords(7, until, QUESTION))
    assert [event.until for event in events] == [0, 1, 2, 3, 4, 5]
    assert "too slow" in caplog.text
    assert "10 minutes" in caplog.text
    clock[0] += 599
    think.handle(JudgeWords(7, 7, QUESTION))
    clock[0] += 1
    think.handle(JudgeWords(7, 8, QUESTION))
    assert events[-1].until == 8
    assert takes == []


def test_it_thinks_behind_those_who_listen():
    niceness = []

    class Curious(Scripted):
        def reply(self, messages, cancelled):
            niceness.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
            return iter(())

    think, _ = stage(Curious())
    before = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    think.start()
    think.post(Generate(7, QUESTION))
    until(lambda: niceness)
    assert think.stop()
    assert niceness[0] == min(19, before + 5)
