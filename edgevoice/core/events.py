"""What happened, when, and in which turn: everything that may enter the core.

Each event is a frozen dataclass.  ``at`` is the moment it happened, in seconds
of one monotonic clock; positions in recorded audio are sample indices at
16 kHz (`RATE`), counted from the first sample the microphone delivered, and
positions in played audio are samples of the turn's own speech at the
speaker's rate.  An event that came out of a turn carries that turn's id.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from edgevoice.core.tuning import Tuning

RATE = 16_000
"""Samples per second of everything the device hears, after resampling."""


@dataclass(frozen=True, slots=True)
class Word:
    """A recognised word with the recogniser's confidence in it, 0 to 1."""

    text: str
    confidence: float


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word of the answer and where it lies in the turn's speech, in samples."""

    text: str
    start: int
    end: int


class FaultKind(Enum):
    """What broke; one row each in the fault table of the documentation."""

    DEVICE = "device"
    ENGINE = "engine"
    LLM = "llm"
    TTS = "tts"
    TOOL = "tool"
    UNKNOWN = "unknown"


class Device(Enum):
    """The two ends of the sound path."""

    MICROPHONE = "microphone"
    SPEAKER = "speaker"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened at ``at`` seconds of the monotonic clock."""

    at: float


@dataclass(frozen=True, slots=True)
class TurnEvent(Event):
    """Something that came out of turn ``turn``; dropped when that turn is over."""

    turn: int


# -- the shell -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ready(Event):
    """Every engine is loaded and the microphone has delivered audio."""


@dataclass(frozen=True, slots=True)
class Tick(Event):
    """The clock passed the core's deadline."""


@dataclass(frozen=True, slots=True)
class Fault(Event):
    """A part failed.  ``turn`` is the turn it was working on, if any."""

    kind: FaultKind
    part: str
    reason: str
    fatal: bool = False
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class PartRebuilt(Event):
    """A part that had failed was built again and works."""

    part: str


@dataclass(frozen=True, slots=True)
class Retuned(Event):
    """The configuration was read again: these numbers are to be decided by."""

    tuning: Tuning


@dataclass(frozen=True, slots=True)
class DeviceLost(Event):
    """The microphone or the speaker went away."""

    device: Device
    reason: str = ""


@dataclass(frozen=True, slots=True)
class DeviceFound(Event):
    """A lost device is back and its stream is open."""

    device: Device


# -- the owner -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ButtonPressed(Event):
    """The button went down (debounced)."""


@dataclass(frozen=True, slots=True)
class ButtonReleased(Event):
    """The button came up (debounced)."""


@dataclass(frozen=True, slots=True)
class StartConversation(Event):
    """Begin to listen, as if the wake word had been heard."""


@dataclass(frozen=True, slots=True)
class EndConversation(Event):
    """Close the conversation and go back to IDLE."""


@dataclass(frozen=True, slots=True)
class Interrupt(Event):
    """Stop speaking and listen."""


@dataclass(frozen=True, slots=True)
class Mute(Event):
    """Close the microphone until `Unmute`."""


@dataclass(frozen=True, slots=True)
class Unmute(Event):
    """Open the microphone again."""


@dataclass(frozen=True, slots=True)
class Suspend(Event):
    """Pause for a reload, a device change or diagnostics."""

    reason: str


@dataclass(frozen=True, slots=True)
class Resume(Event):
    """The reason for a suspension is gone."""


@dataclass(frozen=True, slots=True)
class Say(Event):
    """Speak ``text`` at the next pause (an announcement)."""

    text: str


@dataclass(frozen=True, slots=True)
class Rings(Event):
    """A timer or an alarm is due: ring, and say ``text``, until somebody stops it."""

    ring: int
    text: str


@dataclass(frozen=True, slots=True)
class Ask(Event):
    """Treat ``text`` as if the user had said it."""

    text: str


@dataclass(frozen=True, slots=True)
class Shutdown(Event):
    """The daemon was told to stop."""


# -- the ear ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SoundFrame(Event):
    """One frame of the echo-cancelled microphone.

    ``end`` is the sample index after its last sample and ``samples`` its
    length; ``energy`` is its RMS as a share of full scale, ``vad`` the speech
    probability of the newest complete detector chunk, ``echo`` the RMS of what
    the loudspeaker played in the same frame, and ``leak`` the RMS that what is
    left of the device's own voice may reach.
    """

    end: int
    samples: int
    energy: float
    vad: float
    echo: float = 0.0
    leak: float = 0.0


@dataclass(frozen=True, slots=True)
class WakeHeard(Event):
    """The wake phrase ended at sample ``end``."""

    phrase: str
    score: float
    end: int


@dataclass(frozen=True, slots=True)
class Transcript(TurnEvent):
    """What the recogniser makes of the turn's utterance up to sample ``until``.

    ``text`` is the whole utterance so far, lower case.  ``final`` is true for
    the result of a flush: ``words`` then has one confidence per word.  ``apart`` is
    what is heard by who knows nothing but the phrases of
    `edgevoice.core.commands.Recognise.apart`; empty when there was anything else.
    """

    text: str
    until: int
    final: bool = False
    words: tuple[Word, ...] = ()
    apart: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnVerdict(TurnEvent):
    """By the sound up to sample ``until`` the user has finished, with this probability."""

    probability: float
    until: int


@dataclass(frozen=True, slots=True)
class WordsVerdict(TurnEvent):
    """By the words up to sample ``until`` the utterance is whole, with this probability.

    It is the language model's: as an ending of that sentence, among all that may come next.
    """

    probability: float
    until: int


# -- the mind --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Token(TurnEvent):
    """The next piece of text of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReplyDone(TurnEvent):
    """The language model has finished; ``finish`` is ``stop`` or ``length``."""

    finish: str = "stop"


@dataclass(frozen=True, slots=True)
class ToolCalled(TurnEvent):
    """A tool is wanted, by the model or by an intent; ``arguments`` is JSON text.

    Asking has no effect yet: the core decides whether it is run.
    """

    call: int
    name: str
    arguments: str
    long_running: bool = False
    direct: bool = False
    """An intent asks: what the tool says is the answer, and the model has no part in it."""


@dataclass(frozen=True, slots=True)
class TaskBeat(TurnEvent):
    """A long-running tool is alive."""

    call: int


@dataclass(frozen=True, slots=True)
class ToolDone(TurnEvent):
    """A tool came back; ``result`` is text, or JSON with an ``error`` key.

    ``spoken`` is what it wants to be said of it; without that the model finds the words.
    """

    call: int
    result: str
    spoken: str = ""


# -- the mouth -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PieceBuffered(TurnEvent):
    """Speech for piece ``piece`` lies ready at the player.

    A piece may come in several chunks.  ``words`` are those of this chunk,
    placed in the turn's speech; ``end`` is where the turn's buffered speech now
    ends and ``rate`` its sample rate.
    """

    piece: int
    words: tuple[SpokenWord, ...]
    end: int
    rate: int


@dataclass(frozen=True, slots=True)
class PlaybackStarted(TurnEvent):
    """The first sample of the turn's speech left the loudspeaker."""


@dataclass(frozen=True, slots=True)
class PlaybackHeld(TurnEvent):
    """A hold took effect: silence since ``at``, ``position`` samples were heard."""

    position: int


@dataclass(frozen=True, slots=True)
class PlaybackDropped(TurnEvent):
    """A drop took effect: ``position`` samples were heard, the rest is gone."""

    position: int


@dataclass(frozen=True, slots=True)
class PlaybackDone(TurnEvent):
    """The turn's speech was played to its end, ``position`` samples."""

    position: int
