"""What the ear brings: frames, transcripts, the wake word."""

from __future__ import annotations

from dataclasses import replace

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.bargein import knows_better, said
from edgevoice.core.conversation import Conversation
from edgevoice.core.policy import Blocker, TurnDecision, TurnState
from edgevoice.core.rules import speculation, steps
from edgevoice.core.rules.ending import act
from edgevoice.core.rules.rejoin import go_on_listening, may_go_on
from edgevoice.core.rules.ringing import is_ringing
from edgevoice.core.rules.silence import cancel_answer, commit, hold
from edgevoice.core.rules.utterance import begin_utterance
from edgevoice.core.table import Cause, Place
from edgevoice.core.timers import Timer
from edgevoice.core.turn import Kind, Utterance

_MIN_UTTERANCE_CONFIDENCE = 0.3
"""Words that the recogniser is less sure of than this were no words."""


_TAIL_MS = 400
"""Speech right behind the wake phrase that is shorter, before a pause, is its end.

Seen in the room: 270 to 350 ms of "jarvis" from where the utterance begins.  A
word of its own, said in the same breath, adds to that and is longer.
"""


def _hear(c: Conversation, event: ev.Event) -> ev.SoundFrame:
    """Count the frame's samples and follow the noise of the room."""
    assert isinstance(event, ev.SoundFrame)
    c.heard_until = event.end
    c.noise.update(event)
    return event


def _floor(c: Conversation) -> float:
    """Energy that the room's own noise may reach."""
    return c.noise.level * c.tuning.turn.noise_ratio_high


def _decide(c: Conversation, frame: ev.SoundFrame) -> TurnDecision:
    """Ask the turn policy, and the recogniser for its last word in an early silence."""
    c.decision = decision = c.policy.update(frame, c.linguistic(), c.noise.level)
    c.why = decision.explain()
    heard = c.the_hearing
    if c.policy.speech_started_at is None:
        return decision
    if decision.speaking:
        heard.flushed, heard.finished = False, None
    elif decision.silence_ms >= c.tuning.turn.flush_after_ms:
        _flush(c, heard)
    return decision


def _flush(c: Conversation, heard: Utterance) -> None:
    """Ask for the last word, or forget the end of the wake phrase that stood alone so far.

    The wake engine may fire before the phrase is over; what is left of it then
    comes up as "the" in front of whatever is said after a pause.
    """
    ended = c.policy.speech_ended_at
    tail = _TAIL_MS * ev.RATE // 1000
    if heard.called and ended is not None and ended - heard.since < tail:
        c.why = f"end of the wake phrase: {(ended - heard.since) * 1000 // ev.RATE} ms"
        begin_utterance(c, ended)
        c.the_hearing.addressed = True
    else:
        _ask_for_last_word(c, heard)


def _ask_for_last_word(c: Conversation, heard: Utterance) -> None:
    if not heard.flushed:
        heard.flushed = True
        c.do(cmd.FlushRecogniser(heard.turn))
        if c.tuning.turn.judges_sound:
            c.do(cmd.JudgeEnd(heard.turn, heard.since, c.heard_until))


# -- frames -------------------------------------------------------------------


def frame_ignored(c: Conversation, event: ev.Event) -> None:
    """Only the noise of the room is of interest."""
    _hear(c, event)


def frame_in_idle(c: Conversation, event: ev.Event) -> None:
    """With activation ``always``, speech begins a conversation by itself."""
    frame = _hear(c, event)
    if "always" not in c.tuning.activation or c.answer is not None:
        return
    onset = c.evidence.update(frame, _floor(c))
    if onset is not None:
        preroll = c.tuning.barge_in.preroll_ms * ev.RATE // 1000
        c.evidence.reset()
        steps.listen(c, Cause.USER_START, max(0, onset - preroll), c.tuning.timeouts.nothing_said_s)


def frame_in_listening(c: Conversation, event: ev.Event) -> None:
    """Has the user finished?"""
    frame = _hear(c, event)
    decision = _decide(c, frame)
    heard = c.the_hearing
    if c.policy.speech_started_at is not None and Timer.PATIENCE not in c.timers:
        c.after(c.tuning.timeouts.listening_s, Timer.PATIENCE)
        c.timers.clear(Timer.PLACE)
    if heard.by_button or not heard.text:
        return
    if decision.state is TurnState.SPEAK:
        speculation.end_turn(c, Cause.TURN_SPEAK)
    elif _patience_is_over(c, decision) and heard.final:
        _give_up_waiting(c, heard)
    else:
        speculation.consider(c, heard)


def _patience_is_over(c: Conversation, decision: TurnDecision) -> bool:
    """Whether doubts have lasted long enough; waiting for the button is no doubt."""
    waits_for_button = decision.blocked_by is Blocker.BUTTON
    return not waits_for_button and decision.silence_ms >= c.tuning.turn.patience_ms


def _give_up_waiting(c: Conversation, heard: Utterance) -> None:
    """Long silence, and the policy still has doubts: answer it, unless it was noise."""
    if heard.confidence is not None and heard.confidence < _MIN_UTTERANCE_CONFIDENCE:
        c.why = f"noise: confidence {heard.confidence:.2f}"
        heard.drop_latest()
    if heard.text:
        speculation.end_turn(c, Cause.TURN_TIMEOUT)
    else:
        begin_utterance(c, c.heard_until)


def frame_while_thinking(c: Conversation, event: ev.Event) -> None:
    """The user goes on before the answer began: their turn is not over.

    Unless the button or the clock said that it is, or the question came otherwise.
    """
    decision = _decide(c, _hear(c, event))
    heard = c.the_hearing
    if c.answer is None or c.answer.utterance is not heard:
        _keep_for_later(c, decision)
    elif decision.speaking and decision.state is TurnState.HOLD and not heard.is_over:
        go_on_listening(c, heard)


def frame_while_working(c: Conversation, event: ev.Event) -> None:
    """A tool runs: what the user says now is kept for afterwards."""
    _keep_for_later(c, _decide(c, _hear(c, event)))


def _keep_for_later(c: Conversation, decision: TurnDecision) -> None:
    """An utterance that is over waits until the present question is answered."""
    if c.the_hearing.text and decision.state is TurnState.SPEAK:
        steps.queue_utterance(c)
        begin_utterance(c, c.heard_until)


def frame_while_playing(c: Conversation, event: ev.Event) -> None:
    """Is somebody talking over the answer?"""
    frame = _hear(c, event)
    if not c.tuning.barge_in.enabled:
        return
    onset = c.evidence.update(frame, _floor(c))
    if onset is not None:
        c.why = f"evidence: energy {frame.energy:.4f}, vad {frame.vad:.2f}"
        hold(c, onset)
        if may_go_on(c):
            c.the_judge.expect_rest()


def frame_while_held(c: Conversation, event: ev.Event) -> None:
    """Do they mean it?"""
    frame = _hear(c, event)
    decision = _decide(c, frame)
    speaking = decision.speaking or c.evidence.is_evident(frame, _floor(c))
    judgement = c.the_judge.frame(frame, speaking)
    if c.the_judge.silence_ms >= c.tuning.turn.flush_after_ms:
        _ask_for_last_word(c, c.the_hearing)
    act(c, judgement)


def frame_while_interrupted(c: Conversation, event: ev.Event) -> None:
    """The utterance that interrupted goes on."""
    _decide(c, _hear(c, event))


# -- transcripts ----------------------------------------------------------------


def _take(c: Conversation, event: ev.Event) -> Utterance:
    assert isinstance(event, ev.Transcript)
    heard = c.the_hearing
    if knows_better(event, c.orders, c.lexicon):
        event = replace(event, text=said(event.apart), words=event.apart)
    heard.take(_without_wake_phrase(c, event) if heard.called else event)
    return heard


def _without_wake_phrase(c: Conversation, event: ev.Transcript) -> ev.Transcript:
    """What is left of it comes up as a word of its own: "the stop", which stops nothing."""
    first, _, rest = event.text.partition(" ")
    if first not in c.lexicon.strays:
        return event
    return replace(event, text=rest, words=event.words[1:])


def transcript(c: Conversation, event: ev.Event) -> None:
    """More words; after the button's release the final is the end of the turn."""
    heard = _take(c, event)
    if c.rings and c.lexicon.silences(heard.text):
        steps.stop_ringing(c, Cause.USER_STOP)
    elif heard.released and heard.final:
        if heard.text:
            steps.end_turn(c, Cause.BUTTON_RELEASED)
        else:
            steps.go_idle(c, Cause.USER_SILENT)
    elif not is_ringing(c):
        speculation.follow(c, heard)


def transcript_while_thinking(c: Conversation, event: ev.Event) -> None:
    """A last word came after the prompt was sent: take it back and send it whole."""
    heard, answer = _take(c, event), c.answer
    if answer is None or answer.utterance is not heard or heard.cut:
        _call_off(c, heard)
    elif heard.final and heard.text not in ("", answer.heard) and answer.kind is Kind.REPLY:
        cancel_answer(c)
        steps.end_turn(c, Cause.STT_FINAL)


def transcript_while_working(c: Conversation, event: ev.Event) -> None:
    """What calls the tool off acts at once; all else waits."""
    _call_off(c, _take(c, event))


def _call_off(c: Conversation, heard: Utterance) -> None:
    if c.lexicon.stops(heard.latest):
        c.questions.clear()
        steps.go_idle(c, Cause.USER_STOP)


def transcript_while_held(c: Conversation, event: ev.Event) -> None:
    """The words decide."""
    heard = _take(c, event)
    sure = heard.words if heard.final else None
    act(c, c.the_judge.transcript(heard.text, sure, heard.heard_until))


def transcript_while_interrupted(c: Conversation, event: ev.Event) -> None:
    """More words of the utterance that interrupted."""
    _take(c, event)


def turn_verdict(c: Conversation, event: ev.Event) -> None:
    """How the pause sounds, unless it is over: the next one is judged anew."""
    assert isinstance(event, ev.TurnVerdict)
    ended = c.policy.speech_ended_at
    if ended is not None and ended <= event.until:
        c.the_hearing.finished = event.probability
        c.why = f"by its sound it is whole with {event.probability:.2f}"


def words_verdict(c: Conversation, event: ev.Event) -> None:
    """Whether the words are whole, unless there are others by now."""
    assert isinstance(event, ev.WordsVerdict)
    heard = c.the_hearing
    if heard.judged_until == event.until:
        heard.whole = event.probability
        c.why = f"by its words it is whole with {event.probability:.4f}"


# -- the wake word ----------------------------------------------------------------


def _called(c: Conversation, event: ev.Event) -> ev.WakeHeard | None:
    assert isinstance(event, ev.WakeHeard)
    return event if "wake_word" in c.tuning.activation else None


def _mark_called(c: Conversation) -> None:
    c.the_hearing.called = c.the_hearing.addressed = True


def wake(c: Conversation, event: ev.Event) -> None:
    """Hands-free listening begins right after the phrase, whatever else was asked before."""
    if heard := _called(c, event):
        cancel_answer(c)
        steps.greet(c, Cause.WAKE_DETECTED, heard.end)
        _mark_called(c)


def wake_again(c: Conversation, event: ev.Event) -> None:
    """Already listening: the utterance begins after the phrase."""
    heard = _called(c, event)
    if heard is None:
        return
    cancel_answer(c)
    begin_utterance(c, heard.end)
    _mark_called(c)
    if c.place is Place.LISTENING:
        c.timers.clear(Timer.PATIENCE, Timer.RELEASED, Timer.RING)
        c.after(c.tuning.timeouts.listening_s, Timer.PLACE)
        c.after(c.tuning.timeouts.nothing_said_s, Timer.NOTHING_SAID)


def wake_while_speaking(c: Conversation, event: ev.Event) -> None:
    """The wake word always means it."""
    if heard := _called(c, event):
        c.why = f"commit by wake_word ({heard.score:.2f})"
        commit(c, Cause.WAKE_DETECTED, heard.end)
        _mark_called(c)
