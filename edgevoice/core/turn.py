"""What is known of one turn: the user's utterance and the device's answer to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from edgevoice.core.events import SpokenWord, Transcript, Word
from edgevoice.core.sentences import Splitter
from edgevoice.core.stability import StabilityTracker


@dataclass
class Utterance:
    """What the user is saying.  ``since`` and ``changed_at`` are sample indices."""

    turn: int
    since: int
    tracker: StabilityTracker
    text: str = ""
    words: tuple[Word, ...] = ()
    changed_at: int = 0
    flushed: bool = False
    """The recogniser was asked for its last word in the present silence."""
    final: bool = False
    """The newest transcript is the answer to that, and nothing was said since."""
    by_button: bool = False
    """The button is held: its release is the end of the turn."""
    released: bool = False
    """The button was released: the next final ends the turn."""
    asked: bool = False
    """A prompt was sent for it; another one, for more words, needs another turn id."""

    def take(self, transcript: Transcript) -> None:
        """Replace the text by a newer one."""
        if transcript.text != self.text:
            self.text = transcript.text
            self.changed_at = transcript.until
            self.words = ()
        if transcript.final:
            self.words = transcript.words
        self.final = transcript.final
        self.tracker.update(transcript.text, transcript.until, transcript.final)

    @property
    def confidence(self) -> float | None:
        """Mean word confidence of the last final, None while there is none for this text."""
        if not self.words:
            return None
        return sum(word.confidence for word in self.words) / len(self.words)


class Kind(Enum):
    """Where an answer comes from."""

    REPLY = "reply"
    """The language model's."""
    PHRASE = "phrase"
    """The device's own words about itself: an apology, a check-in, progress."""
    ANNOUNCEMENT = "announcement"
    """Asked for by the owner, a timer or a tool."""


@dataclass
class Times:
    """Moments of a turn on the monotonic clock; None until they happen."""

    speech_ended: float | None = None
    decided: float | None = None
    first_token: float | None = None
    first_piece: float | None = None
    first_audio: float | None = None
    started: float | None = None
    onset: float | None = None
    held: float | None = None
    silent: float | None = None
    committed: float | None = None
    listening: float | None = None


@dataclass
class Answer:
    """What the device says, or is about to say."""

    turn: int
    heard: str
    kind: Kind
    splitter: Splitter
    text: list[str] = field(default_factory=list)
    """The pieces handed to the synthesiser."""
    spoken: list[SpokenWord] = field(default_factory=list)
    """The words that are buffered, placed in the turn's speech."""
    rate: int = 0
    complete: bool = False
    """The last piece was handed to the synthesiser."""
    position: int = 0
    """Samples heard when playback was last held or dropped."""
    done: bool = False
    """Everything was played."""
    interrupted: bool = False
    holds: int = 0
    retries: int = 0
    closes: bool = False
    """The conversation ends with this answer."""
    call: int | None = None
    """The tool that is running for it."""
    result: str | None = None
    """What that tool brought, until the model gets it."""
    progress: int = 0
    """How often the progress of its task was spoken."""
    tool_follows: bool | None = None
    """A tool was called in mid-answer: wait for it after the speech; true for a long task."""
    times: Times = field(default_factory=Times)

    @property
    def buffered(self) -> bool:
        """Whether there is speech to play."""
        return self.times.first_audio is not None
