"""What the ear brings: frames, transcripts, the wake word."""

from __future__ import annotations

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.bargein import Judgement, Verdict
from edgevoice.core.conversation import Conversation
from edgevoice.core.policy import TurnDecision, TurnState
from edgevoice.core.rules import steps
from edgevoice.core.table import Cause, Place
from edgevoice.core.timers import Timer

_MIN_UTTERANCE_CONFIDENCE = 0.3
"""Words that the recogniser is less sure of than this were no words."""


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
    decision = c.policy.update(frame, c.linguistic(), c.noise.level)
    c.why = decision.explain()
    heard = c.hearing
    if heard is None or c.policy.speech_started_at is None:
        return decision
    if decision.speaking:
        heard.flushed = False
    elif not heard.flushed and decision.silence_ms >= c.tuning.turn.flush_after_ms:
        heard.flushed = True
        c.do(cmd.FlushRecogniser(heard.turn))
    return decision


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
    heard = c.hearing
    assert heard is not None
    if c.policy.speech_started_at is not None and Timer.PATIENCE not in c.timers:
        c.after(c.tuning.timeouts.listening_s, Timer.PATIENCE)
        c.timers.clear(Timer.PLACE)
    if heard.by_button or not heard.text:
        return
    if decision.state is TurnState.SPEAK:
        steps.end_turn(c, Cause.TURN_SPEAK)
    elif decision.silence_ms >= c.tuning.turn.patience_ms and heard.final:
        _give_up_waiting(c)


def _give_up_waiting(c: Conversation) -> None:
    """Long silence, and the policy still has doubts: answer it, unless it was noise."""
    heard = c.hearing
    assert heard is not None
    if heard.confidence is not None and heard.confidence < _MIN_UTTERANCE_CONFIDENCE:
        c.why = f"noise: confidence {heard.confidence:.2f}"
        steps.begin_utterance(c, c.heard_until)
    else:
        steps.end_turn(c, Cause.TURN_TIMEOUT)


def frame_while_thinking(c: Conversation, event: ev.Event) -> None:
    """The user goes on before the answer began: their turn is not over."""
    decision = _decide(c, _hear(c, event))
    if c.hearing is None or decision.state is TurnState.SPEAK or not decision.speaking:
        return
    if c.answer is None or c.answer.heard == "" or c.hearing.text == "":
        return
    go_on_listening(c)


def go_on_listening(c: Conversation) -> None:
    """Take the prompt back; the same utterance continues."""
    steps.cancel_answer(c)
    assert c.hearing is not None
    c.hearing.flushed = False
    c.move(Place.LISTENING, Cause.USER_RESUMED, c.hearing.turn)
    c.after(c.tuning.timeouts.nothing_said_s, Timer.NOTHING_SAID)


def frame_while_working(c: Conversation, event: ev.Event) -> None:
    """A tool runs: what the user says now is kept for afterwards."""
    decision = _decide(c, _hear(c, event))
    heard = c.hearing
    if heard is None or not heard.text or decision.state is not TurnState.SPEAK:
        return
    c.questions.append(heard.text)
    steps.begin_utterance(c, c.heard_until)


def frame_while_playing(c: Conversation, event: ev.Event) -> None:
    """Is somebody talking over the answer?"""
    frame = _hear(c, event)
    if not c.tuning.barge_in.enabled:
        return
    onset = c.evidence.update(frame, _floor(c))
    if onset is not None:
        c.why = f"evidence: energy {frame.energy:.4f}, vad {frame.vad:.2f}"
        steps.hold(c, onset)


def frame_while_held(c: Conversation, event: ev.Event) -> None:
    """Do they mean it?"""
    frame = _hear(c, event)
    decision = _decide(c, frame)
    assert c.judge is not None
    _act(c, c.judge.frame(frame, decision.speaking))


def frame_while_interrupted(c: Conversation, event: ev.Event) -> None:
    """The utterance that interrupted goes on."""
    _decide(c, _hear(c, event))


# -- transcripts ----------------------------------------------------------------


def _take(c: Conversation, event: ev.Event) -> ev.Transcript:
    assert isinstance(event, ev.Transcript)
    assert c.hearing is not None
    c.hearing.take(event)
    return event


def transcript(c: Conversation, event: ev.Event) -> None:
    """More words; after the button's release the final is the end of the turn."""
    _take(c, event)
    heard = c.hearing
    assert heard is not None
    if heard.released and heard.final:
        if heard.text:
            steps.end_turn(c, Cause.BUTTON_RELEASED)
        else:
            steps.go_idle(c, Cause.USER_SILENT)


def transcript_while_thinking(c: Conversation, event: ev.Event) -> None:
    """A last word came after the prompt was sent: take it back and send it whole."""
    _take(c, event)
    answer, heard = c.answer, c.hearing
    assert heard is not None
    if answer is None or not answer.heard or not heard.final or heard.text == answer.heard:
        return
    steps.cancel_answer(c)
    again = c.new_answer(heard.text, answer.kind)
    again.times.decided = answer.times.decided
    again.times.speech_ended = answer.times.speech_ended
    steps.send_prompt(c, again)


def transcript_while_working(c: Conversation, event: ev.Event) -> None:
    """What calls the tool off acts at once; all else waits."""
    _take(c, event)
    assert c.hearing is not None
    if c.lexicon.stops(c.hearing.text):
        steps.cancel_answer(c)
        steps.drop_parked(c)
        steps.go_idle(c, Cause.USER_STOP)


def transcript_while_held(c: Conversation, event: ev.Event) -> None:
    """The words decide."""
    heard = _take(c, event)
    assert c.judge is not None
    _act(c, c.judge.transcript(heard.text, heard.words if heard.final else None, heard.until))


def transcript_while_interrupted(c: Conversation, event: ev.Event) -> None:
    """More words of the utterance that interrupted."""
    _take(c, event)


def _act(c: Conversation, judgement: Judgement) -> None:
    """Carry the verdict on a hold out."""
    c.why = f"{judgement.verdict.value} by {judgement.rule} ({judgement.detail})"
    if judgement.verdict is Verdict.COMMIT:
        steps.commit(c, Cause.USER_INTERRUPT)
    elif judgement.verdict is Verdict.RESUME:
        steps.resume_speech(c, Cause.BARGE_IN_REJECTED)


# -- the wake word ----------------------------------------------------------------


def wake(c: Conversation, event: ev.Event) -> None:
    """Hands-free listening begins right after the phrase."""
    assert isinstance(event, ev.WakeHeard)
    if "wake_word" not in c.tuning.activation:
        return
    steps.cancel_answer(c)
    c.do(cmd.PlayEarcon("wake"))
    steps.listen(c, Cause.WAKE_DETECTED, event.end, c.tuning.timeouts.nothing_said_s)


def wake_again(c: Conversation, event: ev.Event) -> None:
    """Already listening: the utterance begins after the phrase."""
    assert isinstance(event, ev.WakeHeard)
    if "wake_word" not in c.tuning.activation:
        return
    steps.cancel_answer(c)
    steps.begin_utterance(c, event.end)
    if c.place is Place.LISTENING:
        c.after(c.tuning.timeouts.nothing_said_s, Timer.NOTHING_SAID)


def wake_while_thinking(c: Conversation, event: ev.Event) -> None:
    """The user would rather ask something else."""
    assert isinstance(event, ev.WakeHeard)
    if "wake_word" not in c.tuning.activation:
        return
    steps.cancel_answer(c)
    steps.drop_parked(c)
    c.do(cmd.PlayEarcon("wake"))
    steps.listen(c, Cause.WAKE_DETECTED, event.end, c.tuning.timeouts.nothing_said_s)


def wake_while_speaking(c: Conversation, event: ev.Event) -> None:
    """The wake word always means it."""
    assert isinstance(event, ev.WakeHeard)
    if "wake_word" in c.tuning.activation:
        c.why = f"commit by wake_word ({event.score:.2f})"
        steps.commit(c, Cause.WAKE_DETECTED, event.end)
