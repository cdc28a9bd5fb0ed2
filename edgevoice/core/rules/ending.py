"""The device has spoken: what next?"""

from __future__ import annotations

from edgevoice.core.bargein import Judgement, Verdict
from edgevoice.core.conversation import Conversation
from edgevoice.core.rules import steps
from edgevoice.core.rules.rejoin import may_go_on, rejoin
from edgevoice.core.rules.silence import cancel_phrase, commit, resume_speech
from edgevoice.core.rules.tools import take_result, wait_for_tool
from edgevoice.core.table import Cause, Place
from edgevoice.core.timers import Timer
from edgevoice.core.turn import Answer, Kind


def finish(c: Conversation, cause: Cause) -> None:
    """The answer was spoken to its end."""
    answer = c.the_answer
    c.record(answer)
    if back_to_tool(c):
        return
    c.answer = None
    if not _keeps_listening(c, answer):
        steps.go_idle(c, cause)
        return
    steps.listen(c, cause, c.heard_until, follow_up_s(c))
    steps.next_in_line(c)


def listen_on(c: Conversation) -> None:
    """The answer is over and somebody speaks: that is the next utterance."""
    answer = c.the_answer
    c.judge = None
    c.record(answer)
    if back_to_tool(c):
        return
    c.answer = None
    c.move(Place.LISTENING, Cause.TTS_COMPLETE, answer.turn)
    c.after(c.tuning.timeouts.follow_up_s, Timer.NOTHING_SAID)


def back_to_tool(c: Conversation) -> bool:
    """Wait for the tool that was called in mid-answer, or for the task that goes on."""
    cause = Cause.TOOL_CALLED
    if c.parked is not None:
        c.answer, c.parked = c.parked, None
        cause = Cause.TTS_COMPLETE
    if not c.the_answer.uses_tools:
        return False
    _wait(c, cause)
    return True


def _wait(c: Conversation, cause: Cause) -> None:
    wait_for_tool(c, c.the_answer, cause)
    take_result(c)


def act(c: Conversation, judgement: Judgement) -> None:
    """Carry the verdict on a hold out."""
    c.why = f"{judgement.verdict.value} by {judgement.rule} ({judgement.detail})"
    if judgement.verdict is Verdict.RESUME:
        resume_speech(c, Cause.BARGE_IN_REJECTED)
    elif judgement.verdict is Verdict.COMMIT and _only_progress(c):
        _talked_over(c)
    elif judgement.verdict is Verdict.COMMIT and not judgement.is_order and may_go_on(c):
        rejoin(c)
    elif judgement.verdict is Verdict.COMMIT:
        commit(c, Cause.USER_INTERRUPT)


def _only_progress(c: Conversation) -> bool:
    """Whether a progress line was talked over, and not to stop the task."""
    said = "" if c.hearing is None else c.hearing.text
    return c.parked is not None and not c.lexicon.stops(said)


def _talked_over(c: Conversation) -> None:
    """The task goes on; what is being said is kept for afterwards."""
    cancel_phrase(c)
    _wait(c, Cause.USER_INTERRUPT)


def asks_into_silence(c: Conversation) -> bool:
    """Whether the device asks if anybody is there: never when nobody has been."""
    wanted = c.tuning.dead_air.enabled
    always = "always" in c.tuning.activation
    return c.engaged and (wanted == "on" or (wanted == "auto" and always))


def follow_up_s(c: Conversation) -> float:
    """How long the device listens when it has spoken."""
    return c.tuning.dead_air.after_s if asks_into_silence(c) else c.tuning.timeouts.follow_up_s


def _keeps_listening(c: Conversation, answer: Answer) -> bool:
    """Whether a follow-up is listened for without wake word."""
    if answer.kind is Kind.ANNOUNCEMENT:
        return "always" in c.tuning.activation
    hands_free = c.tuning.activation & {"wake_word", "always"}
    return bool(hands_free) and c.tuning.timeouts.follow_up_s > 0
