"""Steps that several rules take: listen, ask, speak, close."""

from __future__ import annotations

from edgevoice.core import commands as cmd
from edgevoice.core.conversation import Conversation
from edgevoice.core.lexicon import words
from edgevoice.core.rules.ringing import hush, is_ringing, sound
from edgevoice.core.rules.silence import cancel_answer, settle_closing
from edgevoice.core.rules.utterance import (
    begin_utterance,
    drop_draft,
    forget_utterance,
    read_ahead,
)
from edgevoice.core.table import Cause, Place
from edgevoice.core.timers import Timer
from edgevoice.core.turn import Answer, Kind, Utterance

_PAUSES = (Place.IDLE, Place.LISTENING)

_CANNED_SPEECH_S = 8.0
"""Synthesis of a phrase of the device's own that takes longer has failed."""


# -- listening --------------------------------------------------------------


def listen(c: Conversation, cause: Cause, since: int, window_s: float) -> None:
    """Go to LISTENING for a new utterance that must begin within ``window_s``."""
    begin_utterance(c, since)
    c.move(Place.LISTENING, cause)
    c.after(window_s, Timer.NOTHING_SAID)
    read_ahead(c)


def greet(c: Conversation, cause: Cause, since: int) -> None:
    """The user wants to talk: say that the device listens, and do."""
    c.engaged = True
    c.do(cmd.PlayEarcon("wake"))
    listen(c, cause, since, c.tuning.timeouts.nothing_said_s)


def expect_long_hold(c: Conversation) -> None:
    """The button is down while the device listens: not for ever, if nothing is said."""
    if c.pressed_at is not None:
        c.timers.set(Timer.LONG_HOLD, c.pressed_at + c.tuning.button.long_hold_ms / 1000)


def go_idle(c: Conversation, cause: Cause) -> None:
    """Close the conversation; what has waited for a pause comes now."""
    forget_utterance(c)
    cancel_answer(c)
    c.check_ins = 0
    c.engaged = False
    c.evidence.reset()
    if c.muted:
        c.came_from = Place.IDLE
        c.move(Place.SUSPENDED, cause)
        return
    c.move(Place.IDLE, cause)
    next_in_line(c)


def next_in_line(c: Conversation) -> None:
    """In a pause: ask the next question that waits, ring, or say the next announcement."""
    if not c.questions or c.answer is not None:
        ring_on(c)
        announce_next(c)
        return
    if c.place is Place.IDLE:
        listen(c, Cause.USER_ASK, c.heard_until, c.tuning.timeouts.nothing_said_s)
    prompt(c, c.questions.popleft(), Cause.USER_ASK)


def announce_next(c: Conversation) -> None:
    """Say the next announcement, unless something else is about to be said."""
    if c.announcements and c.answer is None and not c.rings:
        say(c, c.announcements.popleft(), Kind.ANNOUNCEMENT)


# -- ringing ----------------------------------------------------------------


def ring_on(c: Conversation) -> None:
    """Let the alarm that nobody has stopped be heard, and listen whether somebody does."""
    muted = c.place is Place.SUSPENDED and c.muted
    if not c.rings or c.answer is not None or not (c.place in _PAUSES or muted):
        return
    hands_free = c.tuning.activation & {"wake_word", "always"}
    if c.place is Place.IDLE and hands_free:
        listen(c, Cause.ALARM, c.heard_until, c.tuning.timeouts.nothing_said_s)
    if (text := sound(c)) is not None:
        say(c, text, Kind.PHRASE)


def overheard(c: Conversation) -> None:
    """Somebody speaks while it rings, and not to the device: it rings on."""
    begin_utterance(c, c.heard_until)
    if Timer.RING not in c.timers:
        ring_on(c)


def stop_ringing(c: Conversation, cause: Cause) -> None:
    """Somebody has heard it."""
    hush(c)
    c.do(cmd.PlayEarcon("close"))
    go_idle(c, cause)


# -- asking -----------------------------------------------------------------


def end_turn(c: Conversation, cause: Cause) -> None:
    """The user has finished: answer, or close if that is what was said."""
    heard = c.the_hearing
    if c.rings and c.lexicon.silences(heard.text):
        stop_ringing(c, Cause.USER_STOP)
    elif is_ringing(c):
        overheard(c)
    elif c.lexicon.closes(words(heard.latest)):
        c.questions.clear()
        go_idle(c, Cause.USER_GOODBYE)
        c.do(cmd.PlayEarcon("close"))
    elif c.lexicon.stops(heard.latest):
        c.questions.clear()
        go_idle(c, Cause.USER_STOP)
    else:
        prompt(c, heard.text, cause, heard)


def prompt(c: Conversation, text: str, cause: Cause, utterance: Utterance | None = None) -> None:
    """Send the one prompt of ``utterance``, or of a typed question, and wait for the answer.

    A draft has sent it already: it becomes the answer.
    """
    draft = _accepted(c, text, utterance)
    if draft is None:
        cancel_answer(c)
        settle_closing(c)
        c.history.abandon()
    answer = draft or c.new_answer(text, Kind.REPLY, utterance)
    answer.times.decided = c.now
    if utterance is not None:
        answer.times.speech_ended = speech_ended(c)
    c.check_ins = 0
    c.engaged = True
    c.move(Place.WAITING_FOR_LLM, cause, answer.turn)
    if draft is None:
        send_prompt(c, answer)
    elif answer.times.first_token is None and not answer.complete:
        await_token(c)


def _accepted(c: Conversation, text: str, utterance: Utterance | None) -> Answer | None:
    """The draft as the answer, if it answers just that."""
    draft = c.draft
    if draft is None or draft.utterance is not utterance or draft.heard != text:
        return None
    c.answer, c.draft = draft, None
    draft.awaited = True
    draft.touched_at = c.now
    return draft


def send_prompt(c: Conversation, answer: Answer) -> None:
    """Give the prompt of ``answer`` to the language model, and await its first word."""
    generate(c, answer)
    await_token(c)


def generate(c: Conversation, answer: Answer) -> None:
    """Give the prompt of ``answer`` to the language model."""
    heard = "" if answer.rounds else answer.heard
    c.do(cmd.Generate(answer.turn, c.history.messages(answer.heard), heard))


def await_token(c: Conversation) -> None:
    """Give the model its time again."""
    c.after(c.tuning.timeouts.first_token_s, Timer.FIRST_TOKEN)


def speech_ended(c: Conversation) -> float | None:
    """When the user stopped speaking, dated back to where the energy fell."""
    sample = c.policy.speech_ended_at
    return None if sample is None else c.clock_of(sample)


def queue_utterance(c: Conversation) -> None:
    """What is being said is no part of the question that is answered: it comes after it."""
    heard = c.hearing
    utterance = None if c.answer is None else c.answer.utterance
    if heard is not None and heard is not utterance and heard.text:
        c.questions.append(heard.text)


# -- speaking ---------------------------------------------------------------


def speak_piece(c: Conversation, answer: Answer, text: str) -> None:
    """Hand one piece of the answer to the synthesiser."""
    if not answer.text:
        answer.times.first_piece = c.now
    c.do(cmd.Synthesise(answer.turn, len(answer.text), text))
    answer.text.append(text)


def finish_text(c: Conversation, answer: Answer) -> None:
    """No more text comes: hand the rest of it to the synthesiser."""
    if answer.complete:
        return
    for piece in answer.splitter.finish():
        speak_piece(c, answer, piece)
    answer.complete = True
    if answer.text:
        c.do(cmd.EndSpeech(answer.turn))


def say(
    c: Conversation, text: str, kind: Kind, heard: str = "", utterance: Utterance | None = None
) -> Answer:
    """Say something that the language model has no part in."""
    drop_draft(c)
    answer = c.new_answer(heard, kind, utterance)
    speak_piece(c, answer, text)
    finish_text(c, answer)
    c.after(_CANNED_SPEECH_S, Timer.SPEECH)
    return answer


def await_phrase(c: Conversation) -> None:
    """Give the synthesiser its time again."""
    c.after(_CANNED_SPEECH_S, Timer.SPEECH)


def start_speaking(c: Conversation, answer: Answer) -> None:
    """Let the voice out; from now on speech is an interruption, not an addition."""
    queue_utterance(c)
    forget_utterance(c)
    c.evidence.reset()
    answer.out = True
    c.do(cmd.StartPlayback(answer.turn))
    cause = Cause.ANNOUNCEMENT if answer.kind is Kind.ANNOUNCEMENT else Cause.TTS_BUFFER_READY
    c.move(Place.PLAYING, cause, answer.turn)


def speech_failed(c: Conversation) -> None:
    """The device's own words cannot be spoken: a sound must do."""
    cancel_answer(c, put_off=False)
    c.do(cmd.PlayEarcon("error"))
