"""What the owner may know of the conversation: counters, events for subscribers, status.

Thread: the driver's alone, as a recorder of `edgevoice.runtime.driver`: it is shown every
event and what followed, and what it has to tell goes to `publish`, which must not
block.  Nothing is kept on disk, and words are told only with the owner's leave.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from edgevoice.core import commands as cmd
from edgevoice.core import events as ev
from edgevoice.core.conversation import Conversation, Snapshot
from edgevoice.core.lexicon import lexicon
from edgevoice.core.table import Place, State

KEPT_TURNS = 10
"""Turns whose figures are remembered."""

Publish = Callable[[str, dict[str, Any]], object]
"""Takes the kind of an event and its payload."""

_USERS = (Place.LISTENING, Place.INTERRUPTED)
"""Where it is the user's turn."""
_ENDS = (Place.WAITING_FOR_LLM, Place.IDLE)
"""Where the user's turn leads to when it was one: to an answer, or to a goodbye."""

_LATENCIES = {
    "eot": "eot_ms",
    "llmFirstToken": "llm_first_token_ms",
    "ttsFirstAudio": "tts_first_audio_ms",
    "response": "response_ms",
    "bargeInDecision": "onset_to_decision_ms",
    "bargeInSilence": "decision_to_silence_ms",
    "bargeInListening": "commit_to_listening_ms",
}


@dataclass
class Counts:
    """Since the start."""

    turns: int = 0
    interrupted: int = 0
    holds: int = 0
    first_audio_ms: float = 0.0
    spoken: int = 0
    """Turns that were asked by voice and answered: those `first_audio_ms` is the sum of."""
    tool_calls: int = 0
    tool_errors: int = 0
    errors: int = 0

    def metrics(self) -> dict[str, Any]:
        """As the owner sees them; rates are shares of 1, None where there is nothing to share."""
        return {
            "turns": self.turns,
            "interruptions": self.interrupted,
            "interruptionRate": _share(self.interrupted, self.turns),
            "averageFirstAudioMs": _share(self.first_audio_ms, self.spoken, digits=0),
            "holds": self.holds,
            "toolCalls": self.tool_calls,
            "toolErrors": self.tool_errors,
            "errors": self.errors,
        }


@dataclass
class _Speaker:
    """Who is speaking, for the events of turns."""

    turn: int
    since: float
    confidence: float | None = None
    words: str = ""


@dataclass
class Waiter:
    """Somebody who wants to know how the turn of a question or an announcement ended."""

    text: str
    is_question: bool
    done: Callable[[dict[str, Any]], object]

    def wants(self, record: cmd.TurnRecord) -> bool:
        """Whether it is the turn that was asked for."""
        if self.is_question:
            return record.heard == self.text
        return record.heard == "" and record.answered == self.text


@dataclass
class Tally:
    """Counts what happens, and tells it."""

    language: str
    tell_words: bool
    publish: Publish
    session: str
    """A random name of this run of the daemon."""
    counts: Counts = field(default_factory=Counts)
    levels: tuple[float, float] = (0.0, 0.0)
    """RMS of full scale of the cancelled microphone and of the loudspeaker, newest."""
    _began: float = field(default_factory=time.monotonic)
    _turns: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=KEPT_TURNS))
    _waiting: list[Waiter] = field(default_factory=list)
    _place: Place = Place.PREPARING
    _user: _Speaker | None = None
    _device: _Speaker | None = None
    _confidence: tuple[int, float | None] = (0, None)
    """Of the utterance of which turn."""

    def __post_init__(self) -> None:
        self.reload(self.language, words=self.tell_words)

    def reload(self, language: str, *, words: bool) -> None:
        """Tell in another language, and other things (any thread)."""
        self.tell_words = words
        self._labels = lexicon(language).labels

    # -- what happens -----------------------------------------------------------------

    def __call__(self, event: ev.Event, commands: Sequence[cmd.Command]) -> None:
        """Take one event and what followed."""
        match event:
            case ev.SoundFrame():
                self.levels = (event.energy, event.echo)
            case ev.Transcript():
                self._hear(event)
            case ev.Fault() | ev.DeviceLost():
                self.counts.errors += 1
            case ev.ToolDone():
                self.counts.tool_errors += _is_error(event.result)
        for command in commands:
            self._follow(command)

    def _follow(self, command: cmd.Command) -> None:
        match command:
            case cmd.Transition():
                self._move(command)
            case cmd.TurnRecord():
                self._close(command)
            case cmd.RunTool():
                self.counts.tool_calls += 1

    def _hear(self, heard: ev.Transcript) -> None:
        if self.tell_words:
            told = {"turnId": turn_id(heard.turn), "text": heard.text, "final": heard.final}
            self.publish("partial", told)
        if self._place not in _USERS or not heard.text:
            return  # what is said into an answer is no turn before it has stopped the answer
        if self._user is None or self._user.turn != heard.turn:
            self._user = _Speaker(heard.turn, heard.at)
            self._tell_turn("turn-started", heard.turn, "user")
        self._user.words = heard.text
        if heard.words:
            self._user.confidence = sum(w.confidence for w in heard.words) / len(heard.words)

    def _move(self, moved: cmd.Transition) -> None:
        self._place = moved.target
        self.publish("state", self._state_of_move(moved))
        if moved.target not in _USERS:
            self._user_has_finished(moved)
        if moved.target is Place.PLAYING and self._speaking_turn != moved.turn:
            self._device = _Speaker(moved.turn, moved.at)
            self._tell_turn("turn-started", moved.turn, "assistant")

    @property
    def _speaking_turn(self) -> int | None:
        return None if self._device is None else self._device.turn

    def _user_has_finished(self, moved: cmd.Transition) -> None:
        user, self._user = self._user, None
        if user is None or moved.target not in _ENDS:
            return
        self._confidence = (user.turn, user.confidence)
        self._tell_turn(
            "turn-completed",
            user.turn,
            "user",
            seconds=moved.at - user.since,
            confidence=user.confidence,
            words=user.words,
        )

    def _close(self, record: cmd.TurnRecord) -> None:
        self._count(record)
        device = self._device
        outcome = "interrupted" if record.interrupted else "completed"
        figures = latencies(record)
        self._turns.append(
            {"turnId": turn_id(record.turn), "outcome": outcome, "latenciesMs": figures}
        )
        if device is not None and device.turn == record.turn:
            self._device = None
            turn, confidence = self._confidence
            self._tell_turn(
                f"turn-{outcome}",
                record.turn,
                "assistant",
                seconds=record.at - device.since,
                confidence=confidence if turn == record.turn else None,
                words=record.played,
                latenciesMs=figures,
            )
        self._settle(record, outcome)

    def _count(self, record: cmd.TurnRecord) -> None:
        counts = self.counts
        counts.turns += 1
        counts.interrupted += record.interrupted
        counts.holds += record.holds
        if record.response_ms is not None:
            counts.spoken += 1
            counts.first_audio_ms += record.response_ms

    def _tell_turn(
        self,
        what: str,
        turn: int,
        role: str,
        seconds: float | None = None,
        confidence: float | None = None,
        words: str = "",
        **more: Any,
    ) -> None:
        payload = {
            "event": what,
            "turnId": turn_id(turn),
            "role": role,
            "durationMs": None if seconds is None else round(seconds * 1000),
            "confidence": None if confidence is None else round(confidence, 3),
            **more,
        }
        if self.tell_words and words:
            payload["transcript"] = words
        self.publish("turn", payload)

    # -- those who wait (the driver's thread, by an errand) ----------------------------

    def wait_for(self, waiter: Waiter) -> None:
        """Tell it how its turn ended; call this where the event was taken."""
        self._waiting.append(waiter)

    def give_up(self, core: Conversation) -> None:
        """Tell all who wait that nothing comes any more, if that is so."""
        if self._waiting and not _is_pending(core):
            waiting, self._waiting = self._waiting, []
            for waiter in waiting:
                waiter.done({"outcome": "dropped"})

    def _settle(self, record: cmd.TurnRecord, outcome: str) -> None:
        for waiter in self._waiting:
            if waiter.wants(record):
                self._waiting.remove(waiter)
                told = {"outcome": outcome, "turnId": turn_id(record.turn)}
                if self.tell_words:
                    told["transcript"] = record.played
                waiter.done(told)
                return

    # -- what is so now (the driver's thread, by an errand) -----------------------------

    def snapshot(self, core: Conversation) -> dict[str, Any]:
        """The payload of a ``state`` event for this moment."""
        now = core.snapshot()
        cause = core.transitions[-1].cause.value if core.transitions else None
        return self._state(now, cause)

    def status(self, core: Conversation) -> dict[str, Any]:
        """Everything the owner may see."""
        now = time.monotonic()  # the core's own stands still while nothing is heard
        return {
            **self.snapshot(core),
            "elapsedMs": _ms(now - core.since),
            "uptimeMs": _ms(now - self._began),
            "timeline": _timeline(core, now),
            "metrics": {**self.counts.metrics(), "refused": core.refused, "stale": core.stale},
            "turns": list(self._turns),
        }

    def _state_of_move(self, moved: cmd.Transition) -> dict[str, Any]:
        """As `snapshot`, of the transition itself: by now the core may have moved on."""
        label = self._labels[moved.target]
        now = Snapshot(moved.target, moved.source, moved.turn, moved.at, label, 0, ())
        return self._state(now, moved.cause.value)

    def _state(self, now: Snapshot, cause: str | None) -> dict[str, Any]:
        return {
            "state": now.place.state.value,
            "phase": phase(now.place),
            "previousState": None if now.previous is None else now.previous.state.value,
            "localizedLabel": now.label,
            "turnId": turn_id(now.turn),
            "since": iso(now.since),
            "metadata": {
                "sessionId": self.session,
                "cause": cause,
                "interruptionCount": self.counts.interrupted,
                "retryCount": now.retries,
                "pendingActions": list(now.pending),
            },
        }


def _timeline(core: Conversation, now: float) -> list[dict[str, Any]]:
    moves = list(core.transitions)
    ends = [*(later.at for _, later in pairwise(moves)), now]
    return [
        {
            "state": move.target.state.value,
            "phase": phase(move.target),
            "cause": move.cause.value,
            "turnId": turn_id(move.turn),
            "since": iso(move.at),
            "durationMs": _ms(end - move.at),
        }
        for move, end in zip(moves, ends, strict=False)
    ]


def turn_id(turn: int) -> str:
    """A turn's id as clients see it; the number is the journal's EDGEVOICE_TURN."""
    return f"turn-{turn}"


def phase(place: Place) -> str | None:
    """The inner life of a state, None where it has none."""
    return place.value.partition(".")[2] or None


def iso(monotonic: float) -> str:
    """A moment of the monotonic clock as wall time, ISO 8601 in UTC to the millisecond."""
    wall = time.time() - (time.monotonic() - monotonic)
    text = datetime.fromtimestamp(wall, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def latencies(record: cmd.TurnRecord) -> dict[str, float]:
    """The figures of a turn that there are, in ms."""
    found = {name: getattr(record, field) for name, field in _LATENCIES.items()}
    return {name: round(value, 1) for name, value in found.items() if value is not None}


def _is_pending(core: Conversation) -> bool:
    """Whether anything is being said or waits for it."""
    if core.place.state is State.TERMINATING:
        return False
    busy = core.answer or core.parked or core.closing
    return bool(busy or core.questions or core.announcements)


def _is_error(result: str) -> bool:
    """A tool's result tells of an error by an object with that key."""
    try:
        told = json.loads(result)
    except (ValueError, RecursionError):
        return False
    return isinstance(told, dict) and "error" in told


def _share(part: float, whole: int, digits: int = 3) -> float | None:
    return round(part / whole, digits) if whole else None


def _ms(seconds: float) -> int:
    return round(max(0.0, seconds) * 1000)
