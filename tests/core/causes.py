"""Why the conversation may move: what each event gives as the cause, and where each cause leads.

Written down a second time, apart from the rules, so that a wrong cause is noticed.
"""

from __future__ import annotations

from edgevoice.core import events as ev
from edgevoice.core.table import Cause, Place

C, P = Cause, Place
_OPEN = {P.IDLE, P.LISTENING, P.WAITING_FOR_LLM}
_BACK = {*_OPEN, P.TOOL_EXECUTING, P.WAITING_FOR_TASK, P.PLAYING}

LEADS_TO: dict[C, set[P]] = {
    C.READY: {P.IDLE, P.LISTENING, P.SUSPENDED},
    C.WAKE_DETECTED: {P.LISTENING, P.INTERRUPTED},
    C.BUTTON_PRESSED: {P.INTERRUPTED, *_BACK},
    C.BUTTON_RELEASED: {P.WAITING_FOR_LLM},
    C.BUTTON_HELD: {P.IDLE, P.SUSPENDED},
    C.USER_START: {P.LISTENING},
    C.USER_ASK: {P.LISTENING, P.WAITING_FOR_LLM},
    C.USER_STOP: {P.IDLE},
    C.USER_INTERRUPT: {P.LISTENING, P.INTERRUPTED, P.WAITING_FOR_TASK},
    C.USER_RESUMED: {P.LISTENING, P.INTERRUPTED},
    C.USER_SILENT: {P.IDLE},
    C.USER_GOODBYE: {P.IDLE},
    C.USER_MUTE: {P.SUSPENDED},
    C.USER_UNMUTE: _BACK | {P.SUSPENDED},
    C.TURN_SPEAK: {P.WAITING_FOR_LLM},
    C.TURN_TIMEOUT: {P.WAITING_FOR_LLM},
    C.BARGE_IN_EVIDENCE: {P.HELD},
    C.BARGE_IN_REJECTED: {P.PLAYING},
    C.LLM_TIMEOUT: {P.LISTENING},
    C.LLM_EMPTY: {P.IDLE},
    C.TOOL_CALLED: {P.TOOL_EXECUTING, P.WAITING_FOR_TASK},
    C.TOOL_RESULT: {P.WAITING_FOR_LLM},
    C.TASK_STARTED: {P.WAITING_FOR_TASK},
    C.TTS_BUFFER_READY: {P.PLAYING},
    C.TTS_COMPLETE: {P.LISTENING, P.IDLE, P.WAITING_FOR_TASK},
    C.DEAD_AIR: {P.IDLE},
    C.ANNOUNCEMENT: {P.PLAYING},
    C.ALARM: {P.LISTENING},
    C.SETTLED: {P.LISTENING},
    C.SUSPEND: {P.SUSPENDED},
    C.RESUME: _BACK | {P.SUSPENDED},
    C.DEVICE_LOST: {P.RECOVERING},
    C.DEVICE_FOUND: _BACK | {P.SUSPENDED},
    C.RECOVERY_TIMEOUT: {P.RECOVERING, P.FAULTED},
    C.START_TIMEOUT: {P.FAULTED},
    C.BREAKER_OPEN: {P.FAULTED},
    C.ERROR: {P.RECOVERING, P.FAULTED, P.LISTENING, P.TERMINATING},
    C.ERROR_CLEARED: {*_OPEN, P.PREPARING, P.SUSPENDED},
    C.SHUTDOWN: {P.TERMINATING},
}

_PAUSE = {C.USER_ASK, C.ALARM}
"""In the first pause, whatever has brought it about, a question that has waited is asked, or
an alarm rings and is listened for the end of."""
_RETURN = {
    C.TTS_BUFFER_READY, C.ANNOUNCEMENT, C.TOOL_CALLED, C.TOOL_RESULT, C.TTS_COMPLETE, C.LLM_EMPTY,
}  # fmt: skip
"""What has got ready while the device was away goes on at the return."""
_DRAFT = {C.TTS_BUFFER_READY, C.TOOL_CALLED, C.TASK_STARTED, C.LLM_EMPTY}
"""What was drafted before the end of the turn was certain goes on when it is."""
_WORDS = {
    C.USER_STOP, C.USER_GOODBYE, C.USER_INTERRUPT, C.BARGE_IN_REJECTED, C.TOOL_RESULT, C.LLM_EMPTY,
}  # fmt: skip

GIVES: dict[type[ev.Event], set[C]] = {
    ev.Ready: {C.READY, *_PAUSE},
    ev.Fault: {C.ERROR, C.BREAKER_OPEN, C.DEVICE_LOST, C.TOOL_RESULT},
    ev.PartRebuilt: {C.RESUME, *_RETURN, *_PAUSE},
    ev.DeviceLost: {C.DEVICE_LOST},
    ev.DeviceFound: {C.DEVICE_FOUND, *_RETURN, *_PAUSE},
    ev.ButtonPressed: {C.BUTTON_PRESSED, C.USER_STOP, C.DEVICE_LOST, *_RETURN, *_PAUSE},
    ev.ButtonReleased: {C.USER_MUTE},
    ev.StartConversation: {C.USER_START},
    ev.EndConversation: {C.USER_STOP, C.SETTLED, C.ALARM},
    ev.Interrupt: {C.USER_INTERRUPT},
    ev.Mute: {C.USER_MUTE},
    ev.Unmute: {C.USER_UNMUTE, C.DEVICE_LOST, *_RETURN, *_PAUSE},
    ev.Suspend: {C.SUSPEND},
    ev.Resume: {C.RESUME, *_RETURN, *_PAUSE},
    ev.Ask: {*_PAUSE},
    ev.Rings: {C.ALARM},
    ev.Shutdown: {C.SHUTDOWN},
    ev.SoundFrame: {
        C.TURN_SPEAK, C.TURN_TIMEOUT, C.USER_START, C.USER_RESUMED, C.BARGE_IN_EVIDENCE,
        *_DRAFT, *_WORDS, *_PAUSE,
    },
    ev.WakeHeard: {C.WAKE_DETECTED},
    ev.Transcript: {C.BUTTON_RELEASED, C.USER_SILENT, C.USER_RESUMED, *_WORDS, *_PAUSE},
    ev.ReplyDone: {C.LLM_EMPTY, *_PAUSE},
    ev.ToolCalled: {C.TOOL_CALLED, C.TASK_STARTED},
    ev.ToolDone: {C.TOOL_RESULT, C.LLM_EMPTY, *_PAUSE},
    ev.PieceBuffered: {C.TTS_BUFFER_READY, C.ANNOUNCEMENT},
    ev.PlaybackDone: {C.TTS_COMPLETE, C.TOOL_CALLED, C.TOOL_RESULT, C.LLM_EMPTY, *_PAUSE},
    ev.Tick: {
        C.TURN_TIMEOUT, C.USER_SILENT, C.USER_STOP, C.USER_GOODBYE, C.DEAD_AIR, C.SETTLED,
        C.BUTTON_HELD, C.BARGE_IN_REJECTED, C.USER_INTERRUPT, C.LLM_TIMEOUT, C.TOOL_RESULT, C.ERROR,
        C.START_TIMEOUT, C.RECOVERY_TIMEOUT, C.ERROR_CLEARED, C.RESUME, C.USER_RESUMED,
        *_RETURN, *_DRAFT,
        *_PAUSE,
    },
}  # fmt: skip
"""The causes of the moves that follow from each event; any other event moves nothing."""
