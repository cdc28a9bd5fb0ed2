"""What must be done: everything that may leave the core.

A command that belongs to a turn copies the turn id of the event that caused
it; the stage that receives it may drop it when that turn is over.
"""

from __future__ import annotations

from dataclasses import dataclass

from edgevoice.core.events import Device
from edgevoice.core.table import Cause, Place


@dataclass(frozen=True, slots=True)
class Command:
    """Something a stage must do now."""


@dataclass(frozen=True, slots=True)
class TurnCommand(Command):
    """Something a stage must do for turn ``turn``."""

    turn: int


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of the conversation; ``role`` as in chat templates."""

    role: str
    text: str


# -- the ear ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Recognise(TurnCommand):
    """Begin a new utterance with the audio since sample ``since``.

    ``apart`` are phrases to listen for apart: `edgevoice.core.events.Transcript.apart`.
    """

    since: int
    apart: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FlushRecogniser(TurnCommand):
    """Give a final result of what was said; more may follow and is joined."""


@dataclass(frozen=True, slots=True)
class JudgeEnd(TurnCommand):
    """Tell by the sound from sample ``since`` to ``until`` whether the user has finished."""

    since: int
    until: int


@dataclass(frozen=True, slots=True)
class JudgeWords(TurnCommand):
    """Tell by its words whether the last message, heard up to sample ``until``, is whole."""

    until: int
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class StopRecognising(TurnCommand):
    """The utterance is over or was none: forget it."""


@dataclass(frozen=True, slots=True)
class SetMicrophone(Command):
    """Open or close the microphone stream."""

    open: bool


# -- the mind --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Generate(TurnCommand):
    """Answer ``messages``; the tokens come back with this turn's id.

    It may come before the user's turn is over, and be cancelled if it is not.
    ``heard`` is the question alone, in which an intent may be found; empty when
    the model is asked once more, with what its tools have brought.
    """

    messages: tuple[Message, ...]
    heard: str = ""


@dataclass(frozen=True, slots=True)
class Prefill(TurnCommand):
    """Read ``messages`` ahead of a `Generate` that will begin with them; nothing comes back.

    A newer prompt takes its place if it was not begun.  Then guess the first ``opening``
    tokens of the answer, as if the last of them were whole.
    """

    messages: tuple[Message, ...]
    opening: int = 0


@dataclass(frozen=True, slots=True)
class CancelGeneration(TurnCommand):
    """Stop generating for this turn and every turn before it."""


@dataclass(frozen=True, slots=True)
class RunTool(TurnCommand):
    """Run a tool with JSON ``arguments``."""

    call: int
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class CancelTool(TurnCommand):
    """Stop a tool that is running."""

    call: int


# -- the mouth -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Synthesise(TurnCommand):
    """Speak ``text`` as piece number ``piece`` of the turn."""

    piece: int
    text: str


@dataclass(frozen=True, slots=True)
class EndSpeech(TurnCommand):
    """No piece follows: when what is buffered was played, the turn was spoken."""


@dataclass(frozen=True, slots=True)
class CancelSynthesis(TurnCommand):
    """Stop synthesis for this turn and every turn before it."""


@dataclass(frozen=True, slots=True)
class StartPlayback(TurnCommand):
    """Let the turn's buffered speech out."""


@dataclass(frozen=True, slots=True)
class HoldPlayback(TurnCommand):
    """Fade out within 5 ms and keep the place."""


@dataclass(frozen=True, slots=True)
class ResumePlayback(TurnCommand):
    """Go on from sample ``position`` of the turn's speech."""

    position: int


@dataclass(frozen=True, slots=True)
class DropPlayback(TurnCommand):
    """Fall silent within 5 ms and throw the turn's speech away."""


@dataclass(frozen=True, slots=True)
class PlayEarcon(Command):
    """Play a short sound: ``ready``, ``wake``, ``close``, ``error``, ``mute`` or ``alarm``."""

    name: str


@dataclass(frozen=True, slots=True)
class RingOver(Command):
    """A timer or alarm rings no more; ``stopped`` when somebody stopped it."""

    ring: int
    stopped: bool


# -- the world -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Transition(Command):
    """The conversation moved; for the journal, the lamps and every observer."""

    at: float
    source: Place
    target: Place
    cause: Cause
    turn: int


@dataclass(frozen=True, slots=True)
class TurnRecord(Command):
    """A turn is over.  Times are milliseconds; None where they do not apply.

    ``heard`` and ``answered`` and ``played`` are words and never reach a log;
    ``played`` holds exactly the words that left the loudspeaker.
    """

    turn: int
    at: float
    heard: str
    answered: str
    played: str
    interrupted: bool
    eot_ms: float | None
    """End of user speech to the decision that the turn is over."""
    response_ms: float | None
    """End of user speech to the first audio of the answer."""
    llm_first_token_ms: float | None
    """Decision to the first token; 0 when it was there before."""
    tts_first_audio_ms: float | None
    """First piece handed to the synthesiser to its first buffered audio."""
    onset_to_decision_ms: float | None
    """Onset of the speech that stopped this answer to the hold."""
    decision_to_silence_ms: float | None
    """The hold to the last audible sample."""
    commit_to_listening_ms: float | None
    """Verdict that it was an interruption to LISTENING."""
    holds: int
    """How often this answer was held, whether it was resumed or not."""
    drafts: int
    """Answers begun before it was certain that the user had finished, since the last record."""
    wasted_tokens: int
    """Tokens of those that were thrown away."""


@dataclass(frozen=True, slots=True)
class Refused(Command):
    """An event that has no row in the table was refused (counted, and logged)."""

    place: Place
    event: str


@dataclass(frozen=True, slots=True)
class Warn(Command):
    """Something unusual that is worth a line in the journal."""

    what: str
    turn: int


@dataclass(frozen=True, slots=True)
class RebuildPart(Command):
    """Build a failed part again."""

    part: str


@dataclass(frozen=True, slots=True)
class ReopenDevice(Command):
    """Try to open a lost device again."""

    device: Device


@dataclass(frozen=True, slots=True)
class Exit(Command):
    """Leave the process with this status (sysexits)."""

    status: int
