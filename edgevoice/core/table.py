"""Every state, every transition and every timeout of the conversation.

Theory of operation
===================

The device is in exactly one `State`.  Two states have an inner life: while
PROCESSING it waits for the language model, for a tool or for a long task;
while SPEAKING its voice plays or is held.  The leaves of that tree are places
(`Place`), and the machine moves between them.

`TABLE` has one `Row` for each place and event that belong together.  A row
names the rule that handles the event (a function of `edgevoice.core.rules`)
and every place the rule may lead to.  An event that has no row where it
arrives is refused: it changes nothing and is reported.  An event of a turn
that is over is stale and is dropped before the table is asked, so a late token
or a late audio chunk can never move the machine; there is no ``interrupted``
flag that could be forgotten.

The usual way round is::

    IDLE -wake-> LISTENING -turn.speak-> PROCESSING -tts.buffer_ready->
    SPEAKING -tts.complete-> LISTENING -silence-> IDLE

and the way of an interruption is::

    SPEAKING.PLAYING -evidence-> SPEAKING.HELD -verdict-> INTERRUPTED
    -50 ms-> LISTENING          (or back to PLAYING, and nothing happened)

`TIMEOUTS` gives each waiting place its deadline.  IDLE waits for ever, and so
does SUSPENDED while the device is muted; every other place leaves by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from edgevoice.core import events as ev


class State(Enum):
    """What the device is doing, as its owner sees it."""

    PREPARING = "preparing"
    IDLE = "idle"
    LISTENING = "listening"
    PROCESSING = "processing"
    SPEAKING = "speaking"
    INTERRUPTED = "interrupted"
    SUSPENDED = "suspended"
    RECOVERING = "recovering"
    FAULTED = "faulted"
    TERMINATING = "terminating"


class Place(Enum):
    """A state, or a phase of a state that has phases."""

    PREPARING = "preparing"
    IDLE = "idle"
    LISTENING = "listening"
    WAITING_FOR_LLM = "processing.waiting_for_llm"
    TOOL_EXECUTING = "processing.tool_executing"
    WAITING_FOR_TASK = "processing.waiting_for_task"
    PLAYING = "speaking.playing"
    HELD = "speaking.held"
    INTERRUPTED = "interrupted"
    SUSPENDED = "suspended"
    RECOVERING = "recovering"
    FAULTED = "faulted"
    TERMINATING = "terminating"

    @property
    def state(self) -> State:
        """The state this place is a part of."""
        return State(self.value.partition(".")[0])


class Cause(Enum):
    """Why the conversation moved."""

    READY = "ready"
    WAKE_DETECTED = "wake.detected"
    BUTTON_PRESSED = "button.pressed"
    BUTTON_RELEASED = "button.released"
    BUTTON_HELD = "button.held"
    USER_START = "user.start"
    USER_ASK = "user.ask"
    USER_STOP = "user.stop"
    USER_INTERRUPT = "user.interrupt"
    USER_RESUMED = "user.resumed"
    USER_SILENT = "user.silent"
    USER_GOODBYE = "user.goodbye"
    USER_MUTE = "user.mute"
    USER_UNMUTE = "user.unmute"
    STT_FINAL = "stt.final"
    TURN_SPEAK = "turn.speak"
    TURN_TIMEOUT = "turn.timeout"
    BARGE_IN_EVIDENCE = "bargein.evidence"
    BARGE_IN_REJECTED = "bargein.rejected"
    LLM_TIMEOUT = "llm.timeout"
    LLM_EMPTY = "llm.empty"
    TOOL_CALLED = "tool.called"
    TOOL_RESULT = "tool.result"
    TOOL_TIMEOUT = "tool.timeout"
    TASK_STARTED = "task.started"
    TTS_BUFFER_READY = "tts.buffer_ready"
    TTS_COMPLETE = "tts.complete"
    DEAD_AIR = "dead.air"
    ANNOUNCEMENT = "announcement"
    ALARM = "alarm"
    SETTLED = "settled"
    SUSPEND = "suspend"
    RESUME = "resume"
    DEVICE_LOST = "device.lost"
    DEVICE_FOUND = "device.found"
    CONFIG_RELOAD = "config.reload"
    RECOVERY_TIMEOUT = "recovery.timeout"
    START_TIMEOUT = "start.timeout"
    BREAKER_OPEN = "breaker.open"
    ERROR = "error"
    ERROR_CLEARED = "error.cleared"
    SHUTDOWN = "shutdown"


_S = State
MOVES: dict[State, frozenset[State]] = {
    _S.PREPARING: frozenset({_S.IDLE, _S.LISTENING}),
    _S.IDLE: frozenset({_S.LISTENING, _S.SPEAKING, _S.PREPARING}),
    _S.LISTENING: frozenset({_S.PROCESSING, _S.IDLE, _S.SPEAKING}),
    _S.PROCESSING: frozenset({_S.SPEAKING, _S.LISTENING, _S.IDLE}),
    _S.SPEAKING: frozenset({_S.LISTENING, _S.INTERRUPTED, _S.PROCESSING, _S.IDLE}),
    _S.INTERRUPTED: frozenset({_S.LISTENING}),
    _S.SUSPENDED: frozenset({_S.IDLE, _S.LISTENING, _S.PROCESSING, _S.SPEAKING}),
    _S.RECOVERING: frozenset({_S.IDLE, _S.LISTENING, _S.PROCESSING, _S.SPEAKING, _S.FAULTED}),
    _S.FAULTED: frozenset({_S.PREPARING, _S.IDLE, _S.TERMINATING}),
    _S.TERMINATING: frozenset(),
}
"""Where each state may go, besides `ANYWHERE`."""

ANYWHERE = frozenset({_S.SUSPENDED, _S.RECOVERING, _S.FAULTED, _S.TERMINATING})
"""Where every state but TERMINATING may go."""


def may_move(source: Place, target: Place) -> bool:
    """Whether the move is in the matrix; phases of one state move freely."""
    if source.state is State.TERMINATING:
        return False
    if source.state is target.state:
        return source is not target
    return target.state in MOVES[source.state] or target.state in ANYWHERE


@dataclass(frozen=True, slots=True)
class Timeout:
    """How long a place may last: the setting that says so, and the cause then given."""

    setting: str
    cause: Cause


P = Place
TIMEOUTS: dict[Place, Timeout | None] = {
    P.PREPARING: Timeout("preparing_s", Cause.START_TIMEOUT),
    P.IDLE: None,
    P.LISTENING: Timeout("listening_s", Cause.TURN_TIMEOUT),
    P.WAITING_FOR_LLM: Timeout("processing_s", Cause.LLM_TIMEOUT),
    P.TOOL_EXECUTING: Timeout("tool_s", Cause.TOOL_TIMEOUT),
    P.WAITING_FOR_TASK: Timeout("task_s", Cause.TOOL_TIMEOUT),
    P.PLAYING: Timeout("speaking_warning_s", Cause.TTS_COMPLETE),
    P.HELD: Timeout("held_s", Cause.BARGE_IN_REJECTED),
    P.INTERRUPTED: Timeout("interrupted_s", Cause.SETTLED),
    P.SUSPENDED: Timeout("suspended_s", Cause.RECOVERY_TIMEOUT),
    P.RECOVERING: Timeout("recovering_s", Cause.RECOVERY_TIMEOUT),
    P.FAULTED: Timeout("faulted_s", Cause.ERROR_CLEARED),
    P.TERMINATING: Timeout("terminating_s", Cause.SHUTDOWN),
}
"""The deadline of each place, by its name in `edgevoice.core.tuning.Timeouts`."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: who handles the event, and where that may lead.

    ``to`` lists every place the rule may move to, in passing or to stay; a
    rule may always leave the place as it is.
    """

    rule: str
    to: frozenset[Place] = frozenset()


def _row(rule: str, *to: Place) -> Row:
    return Row(rule, frozenset(to))


_IGNORED = _row("ignore")
_WAITING = (P.WAITING_FOR_LLM, P.TOOL_EXECUTING, P.WAITING_FOR_TASK)
_SPEAKING = (P.PLAYING, P.HELD)
_OPEN = (P.IDLE, P.LISTENING, *_WAITING, *_SPEAKING, P.INTERRUPTED)
"""Places in which the device is up and may be talked to."""
_AWAY = (P.SUSPENDED, P.RECOVERING)
"""Places that remember where they came from and go back there."""
_REST = (P.IDLE, P.LISTENING, P.WAITING_FOR_LLM)
"""Where the end of a conversation leads: to IDLE, and on if a question waits."""
_ANSWERED = (*_REST, P.TOOL_EXECUTING, P.WAITING_FOR_TASK, P.PLAYING)
"""Where the end of the user's turn leads: as far as the draft of an answer has come."""
_BACK = (*_REST, P.TOOL_EXECUTING, P.WAITING_FOR_TASK, P.PLAYING)
"""Where SUSPENDED and RECOVERING may go back to."""
_JUDGED = (P.PLAYING, P.INTERRUPTED, P.WAITING_FOR_TASK, *_REST)
"""Where a hold leads; back to the task if only its progress was talked over."""
_UP = (*_REST, P.SUSPENDED)
"""Where a start leads; to SUSPENDED when the device was muted meanwhile."""

_Rows = dict[type[ev.Event], Row]


def _rows(places: Iterable[Place], rows: _Rows) -> dict[Place, _Rows]:
    return dict.fromkeys(places, rows)


def _joined(*parts: dict[Place, _Rows]) -> dict[Place, _Rows]:
    table: dict[Place, _Rows] = {place: {} for place in Place}
    for part in parts:
        for place, rows in part.items():
            doubled = table[place].keys() & rows.keys()
            assert not doubled, f"two rows for {place} and {doubled}"
            table[place].update(rows)
    return table


TABLE: dict[Place, _Rows] = _joined(
    # -- everywhere ---------------------------------------------------------
    _rows(set(Place) - {P.TERMINATING}, {ev.Shutdown: _row("shut_down", P.TERMINATING)}),
    _rows(set(Place) - {P.TERMINATING}, {ev.Retuned: _row("retune")}),
    _rows(
        {*_OPEN, P.SUSPENDED} - set(_WAITING),
        {ev.Fault: _row("fault", P.RECOVERING, P.FAULTED)},
    ),
    _rows(
        (P.TOOL_EXECUTING, P.WAITING_FOR_TASK),
        {ev.Fault: _row("fault", P.RECOVERING, P.FAULTED, P.WAITING_FOR_LLM)},
    ),
    _rows((*_OPEN, P.SUSPENDED), {ev.DeviceLost: _row("device_lost", P.RECOVERING)}),
    _rows(
        (P.PREPARING, P.FAULTED),
        {
            ev.Mute: _row("mute_later"),
            ev.Unmute: _row("unmute_more"),
            ev.Ask: _row("queue_question"),
            ev.Say: _row("queue_announcement"),
            ev.Rings: _row("queue_ring"),
            ev.SoundFrame: _row("frame_ignored"),
        },
    ),
    _rows(
        set(Place) - {P.PREPARING, *_SPEAKING, *_AWAY},
        {
            ev.PlaybackStarted: _row("playback_started"),
            ev.PlaybackHeld: _row("held"),
            ev.PlaybackDropped: _row("dropped"),
            ev.PlaybackDone: _row("dropped"),
        },
    ),
    _rows(
        (*_OPEN, P.SUSPENDED, P.FAULTED),
        {ev.DeviceFound: _row("device_is_there"), ev.PartRebuilt: _row("part_works")},
    ),
    {
        P.WAITING_FOR_LLM: {
            ev.Fault: _row("fault", P.RECOVERING, P.FAULTED, P.LISTENING),
        },
        P.PREPARING: {
            ev.Fault: _row("fault_at_rest", P.FAULTED),
            ev.DeviceLost: _row("device_lost_at_start"),
            ev.DeviceFound: _row("device_found", *_UP),
            ev.PartRebuilt: _row("part_rebuilt", *_UP),
        },
        P.RECOVERING: {
            ev.DeviceLost: _row("device_lost"),
            ev.Fault: _row("fault", P.FAULTED),
            ev.DeviceFound: _row("device_found", *_BACK, P.SUSPENDED),
            ev.PartRebuilt: _row("part_rebuilt", *_BACK, P.SUSPENDED),
        },
        P.FAULTED: {
            ev.Fault: _row("fault_at_rest"),
            ev.DeviceLost: _row("device_is_lost"),
        },
    },
    # -- coming up and going down -------------------------------------------
    {
        P.PREPARING: {
            ev.Ready: _row("ready", *_UP),
            ev.Tick: _row("preparing_too_long", P.FAULTED),
        },
        P.FAULTED: {
            ev.Tick: _row("fault_over", P.PREPARING, P.TERMINATING, *_UP),
            ev.Ready: _row("ready_later"),
            ev.WakeHeard: _IGNORED,
            ev.ButtonPressed: _IGNORED,
            ev.ButtonReleased: _IGNORED,
        },
        P.TERMINATING: {
            ev.Tick: _row("leave"),
            ev.DeviceFound: _row("device_is_there"),
            **dict.fromkeys(
                (ev.Shutdown, ev.SoundFrame, ev.WakeHeard, ev.Fault, ev.DeviceLost, ev.Retuned),
                _IGNORED,
            ),
        },
    },
    # -- the owner ----------------------------------------------------------
    _rows(
        _OPEN,
        {
            ev.Mute: _row("mute", P.SUSPENDED),
            ev.Suspend: _row("suspend", P.SUSPENDED),
            ev.Unmute: _IGNORED,
            ev.Resume: _IGNORED,
            ev.ButtonReleased: _row("button_released", P.SUSPENDED),
            ev.Ready: _IGNORED,
        },
    ),
    _rows(
        set(_OPEN) - {P.IDLE, P.INTERRUPTED},
        {ev.EndConversation: _row("end_conversation", P.IDLE, P.LISTENING)},
    ),
    _rows(
        set(_OPEN) - {P.IDLE, P.LISTENING},
        {ev.Say: _row("queue_announcement"), ev.Rings: _row("queue_ring")},
    ),
    {
        P.IDLE: {
            ev.SoundFrame: _row("frame_in_idle", P.LISTENING),
            ev.WakeHeard: _row("wake", P.LISTENING),
            ev.StartConversation: _row("start", P.LISTENING),
            ev.EndConversation: _IGNORED,
            ev.Interrupt: _IGNORED,
            ev.ButtonPressed: _row("button_pressed", P.LISTENING),
            ev.Ask: _row("ask", P.LISTENING, P.WAITING_FOR_LLM),
            ev.Say: _row("announce"),
            ev.Rings: _row("rings", P.LISTENING),
            ev.PieceBuffered: _row("speech_buffered", P.PLAYING),
            ev.Tick: _row("idle_tick", P.LISTENING),
        },
        P.LISTENING: {
            ev.SoundFrame: _row("frame_in_listening", *_ANSWERED),
            ev.Transcript: _row("transcript", *_REST),
            ev.WakeHeard: _row("wake_again"),
            ev.StartConversation: _row("start_twice"),
            ev.Interrupt: _IGNORED,
            ev.ButtonPressed: _row("button_pressed", *_REST),
            ev.Ask: _row("ask", P.WAITING_FOR_LLM),
            ev.Say: _row("announce"),
            ev.Rings: _row("rings"),
            ev.Token: _row("token"),
            ev.ReplyDone: _row("reply_done"),
            ev.ToolCalled: _row("tool_called"),
            ev.PieceBuffered: _row("speech_buffered", P.PLAYING),
            ev.Tick: _row("listening_tick", *_ANSWERED),
        },
    },
    _rows(
        (P.LISTENING, *_WAITING, P.HELD, P.INTERRUPTED),
        {
            ev.TurnVerdict: _row("turn_verdict"),
            ev.WordsVerdict: _row("words_verdict"),
        },
    ),
    # -- thinking -----------------------------------------------------------
    _rows(
        _WAITING,
        {
            ev.WakeHeard: _row("wake", P.LISTENING),
            ev.Interrupt: _row("stop_thinking", P.LISTENING),
            ev.ButtonPressed: _row("button_pressed", P.LISTENING),
            ev.StartConversation: _row("start_twice"),
            ev.Ask: _row("queue_question"),
            ev.TaskBeat: _row("task_beat"),
        },
    ),
    {
        P.WAITING_FOR_LLM: {
            ev.SoundFrame: _row("frame_while_thinking", P.LISTENING),
            ev.Transcript: _row("transcript_while_thinking", *_REST),
            ev.Token: _row("token"),
            ev.ReplyDone: _row("reply_done", *_REST),
            ev.ToolCalled: _row("tool_called", P.TOOL_EXECUTING, P.WAITING_FOR_TASK),
            ev.ToolDone: _IGNORED,
            ev.PieceBuffered: _row("speech_buffered", P.PLAYING),
            ev.Tick: _row("thinking_tick", P.LISTENING),
        },
        P.TOOL_EXECUTING: {
            ev.SoundFrame: _row("frame_while_working"),
            ev.Transcript: _row("transcript_while_working", P.IDLE, P.LISTENING),
            ev.Token: _IGNORED,
            ev.ReplyDone: _IGNORED,
            ev.ToolCalled: _row("tool_called", P.WAITING_FOR_TASK),
            ev.ToolDone: _row("tool_done", *_REST),
            ev.PieceBuffered: _row("speech_buffered", P.PLAYING),
            ev.Tick: _row("tool_too_long", P.WAITING_FOR_LLM),
        },
        P.WAITING_FOR_TASK: {
            ev.SoundFrame: _row("frame_while_working"),
            ev.Transcript: _row("transcript_while_working", P.IDLE, P.LISTENING),
            ev.Token: _IGNORED,
            ev.ReplyDone: _IGNORED,
            ev.ToolCalled: _row("tool_called"),
            ev.ToolDone: _row("tool_done", *_REST),
            ev.PieceBuffered: _row("speech_buffered", P.PLAYING),
            ev.Tick: _row("task_tick", P.WAITING_FOR_LLM),
        },
    },
    # -- speaking -----------------------------------------------------------
    _rows(
        (*_SPEAKING, *_AWAY),
        {
            ev.Ask: _row("queue_question"),
            ev.Token: _row("token"),
            ev.ReplyDone: _row("reply_done"),
            ev.ToolCalled: _row("tool_called"),
            ev.ToolDone: _row("tool_done"),
            ev.TaskBeat: _row("task_beat"),
            ev.PieceBuffered: _row("more_speech"),
            ev.PlaybackStarted: _row("playback_started"),
            ev.PlaybackHeld: _row("held"),
            ev.PlaybackDropped: _row("dropped"),
        },
    ),
    _rows(
        _SPEAKING,
        {
            ev.WakeHeard: _row("wake_while_speaking", P.INTERRUPTED),
            ev.Interrupt: _row("interrupt", P.INTERRUPTED),
            ev.ButtonPressed: _row("button_pressed", P.INTERRUPTED),
            ev.StartConversation: _row("start_twice"),
        },
    ),
    {
        P.PLAYING: {
            ev.SoundFrame: _row("frame_while_playing", P.HELD),
            ev.PlaybackDone: _row("spoken", *_REST, P.TOOL_EXECUTING, P.WAITING_FOR_TASK),
            ev.Tick: _row("speaking_tick", P.LISTENING),
        },
        P.HELD: {
            ev.SoundFrame: _row("frame_while_held", *_JUDGED),
            ev.Transcript: _row("transcript_while_held", *_JUDGED),
            ev.PlaybackDone: _row("spoken_while_held", P.IDLE, P.LISTENING, *_WAITING),
            ev.Tick: _row("held_tick", *_JUDGED),
        },
        P.INTERRUPTED: {
            ev.SoundFrame: _row("frame_while_interrupted"),
            ev.Transcript: _row("transcript_while_interrupted"),
            ev.EndConversation: _row("end_conversation", P.LISTENING, P.IDLE),
            ev.WakeHeard: _row("wake_again"),
            ev.ButtonPressed: _row("button_pressed"),
            ev.Interrupt: _IGNORED,
            ev.StartConversation: _row("start_twice"),
            ev.Ask: _row("queue_question"),
            ev.Tick: _row("settled", P.LISTENING),
        },
    },
    # -- away ---------------------------------------------------------------
    _rows(
        _AWAY,
        {
            ev.SoundFrame: _row("frame_ignored"),
            ev.WakeHeard: _IGNORED,
            ev.Transcript: _IGNORED,
            ev.TurnVerdict: _IGNORED,
            ev.WordsVerdict: _IGNORED,
            ev.PlaybackDone: _row("spoken_while_away"),
            ev.Say: _row("queue_announcement"),
            ev.Rings: _row("rings"),
            ev.EndConversation: _row("end_while_away"),
            ev.Ready: _IGNORED,
        },
    ),
    {
        P.SUSPENDED: {
            ev.Mute: _row("mute_more"),
            ev.Suspend: _row("suspend_more"),
            ev.Unmute: _row("unmute", *_BACK, P.RECOVERING),
            ev.Resume: _row("resume", *_BACK),
            ev.ButtonPressed: _row("button_while_suspended", *_BACK, P.RECOVERING),
            ev.ButtonReleased: _IGNORED,
            ev.Tick: _row("suspended_too_long", P.RECOVERING),
        },
        P.RECOVERING: {
            ev.Mute: _row("mute_more", P.SUSPENDED),
            ev.Unmute: _row("unmute_more"),
            ev.Suspend: _IGNORED,
            ev.Resume: _row("resume", *_BACK),
            ev.ButtonPressed: _IGNORED,
            ev.ButtonReleased: _IGNORED,
            ev.Tick: _row("recovering_tick", P.FAULTED, *_BACK),
        },
    },
)
"""What may happen where.  No row: the event is refused there."""
