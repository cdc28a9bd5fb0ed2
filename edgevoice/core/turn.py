"""What is known of one turn: the user's utterance and the device's answer to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from edgevoice.core.events import SpokenWord, ToolCalled, Transcript, Word
from edgevoice.core.sentences import Splitter
from edgevoice.core.stability import StabilityTracker, common_prefix


@dataclass
class Utterance:
    """What the user is saying.  ``since`` and ``changed_at`` are sample indices."""

    turn: int
    since: int
    tracker: StabilityTracker
    text: str = ""
    words: tuple[Word, ...] = ()
    changed_at: int = 0
    """Since when it has not changed."""
    heard_until: int = 0
    """What was heard up to here is in `text`."""
    flushed: bool = False
    """The recogniser was asked for its last word in the present silence."""
    final: bool = False
    """The newest transcript is the answer to that, and nothing was said since."""
    finished: float | None = None
    """Probability by the sound of the present pause that the user has finished."""
    whole: float | None = None
    """The same by the words, once the language model has judged them."""
    understood: bool = False
    """They are those of an intent, from the first to the last: nothing is missing."""
    judged_until: int | None = None
    """What of it the model was asked about; None for words that it was not asked about."""
    before: str = ""
    """What was answered too early: the beginning of this sentence."""
    by_button: bool = False
    """The button is held: its release is the end of the turn."""
    released: bool = False
    """The button was released: the next final ends the turn."""
    called: bool = False
    """It begins right behind the wake phrase, whose end may still be in it."""
    addressed: bool = False
    """It was begun with the wake word: it is for the device, whatever else goes on."""
    cut: bool = False
    """It had lasted too long and was answered as it stood: what goes on is no part of it."""
    asked: bool = False
    """A prompt was sent for it; another one, for more words, needs another turn id."""
    settled: str = ""
    """The words that were the same in the last two transcripts: all of a final one."""
    read: str = ""
    """What of it the language model was given to read ahead."""
    drafts: int = 0
    """Answers begun before it was certain that this is all of it."""

    @property
    def is_over(self) -> bool:
        """Whether speech that goes on is no part of it any more."""
        return self.released or self.cut

    @property
    def latest(self) -> str:
        """The words without those of `before`."""
        return self.text[len(self.before) :].strip()

    def continue_from(self, before: str) -> None:
        """It is the rest of a sentence that began with ``before``."""
        self.before, self.text = before, _joined(before, self.text)

    def drop_latest(self) -> None:
        """What was said since `before` were no words."""
        self.text = self.before

    def take(self, transcript: Transcript) -> None:
        """Replace the text by a newer one.

        A final text changes no more: it has settled from the beginning.
        """
        text = _joined(self.before, transcript.text)
        self.heard_until = transcript.until
        self.settled = _unchanged(self.text, text, transcript.final)
        if text != self.text:
            self.text = text
            self.words = ()
            self.whole = self.judged_until = None
            self.understood = False
            self.changed_at = transcript.until
        if transcript.final:
            self.words = transcript.words
            self.changed_at = self.since
        self.final = transcript.final
        self.tracker.update(transcript.text, transcript.until, transcript.final)

    @property
    def confidence(self) -> float | None:
        """Mean word confidence of the last final, None while there is none for this text."""
        if not self.words:
            return None
        return sum(word.confidence for word in self.words) / len(self.words)


def _joined(before: str, rest: str) -> str:
    return f"{before} {rest}".strip()


def _unchanged(before: str, now: str, final: bool) -> str:
    """The words with which both texts begin; a final one changes no more."""
    if final:
        return now
    spoken = now.split()
    return " ".join(spoken[: common_prefix(before.split(), spoken)])


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
class Ring:
    """A timer or an alarm that is due and that nobody has stopped."""

    id: int
    text: str
    began: float | None = None
    """When it was first heard, on the monotonic clock."""
    rounds: int = 0
    """How often it has sounded or spoken."""
    last: float = 0.0
    """When it last did."""


@dataclass
class Answer:
    """What the device says, or is about to say."""

    turn: int
    heard: str
    kind: Kind
    splitter: Splitter
    utterance: Utterance | None = None
    """What it answers; None when the question was typed or a tool has answered since."""
    awaited: bool = True
    """Somebody waits for it: it is no draft, or one that is about to be wanted."""
    tokens: int = 0
    put_off: list[ToolCalled] = field(default_factory=list)
    """Tools that a draft has asked for: what has an effect waits until it is the answer."""
    text: list[str] = field(default_factory=list)
    """The pieces handed to the synthesiser."""
    spoken: list[SpokenWord] = field(default_factory=list)
    """The words that are buffered, placed in the turn's speech."""
    rate: int = 0
    end: int = 0
    """Where the buffered speech ends, in samples."""
    complete: bool = False
    """The last piece was handed to the synthesiser."""
    failed: bool = False
    """The model was told to stop: what still comes is not wanted, it will be asked again."""
    out: bool = False
    """The player was told to let it out."""
    touched_at: float = 0.0
    """When something of it last came, on the monotonic clock."""
    position: int = 0
    """Samples heard when playback was last held or dropped."""
    done: bool = False
    """Everything was played."""
    interrupted: bool = False
    retracted: bool = False
    """Its question was not over: neither is remembered."""
    holds: int = 0
    retries: int = 0
    called: set[int] = field(default_factory=set)
    """Every tool call of it."""
    running: set[int] = field(default_factory=set)
    """Those that are not back yet."""
    results: list[str] = field(default_factory=list)
    """What they brought, until the model gets it."""
    said_of: list[str] = field(default_factory=list)
    """What each of them wants to be said; empty where the model finds the words."""
    direct: bool = False
    """An intent called them: the model is not asked."""
    told: str = ""
    """The words of tools, when they are the answer."""
    rounds: int = 0
    """How often tools were called for the same question before."""
    long_running: bool = False
    """One of the tools is a task."""
    task_began: float = 0.0
    called_at: float = 0.0
    beat_at: float = 0.0
    """The newest call and the newest sign of life, on the monotonic clock."""
    progress: int = 0
    """How many of the progress lines of its task were due."""
    recorded: bool = False
    times: Times = field(default_factory=Times)

    @property
    def buffered(self) -> bool:
        """Whether there is speech to play."""
        return self.times.first_audio is not None

    def token_s(self, now: float) -> float:
        """Seconds a token has taken on average."""
        first = self.times.first_token
        return 0.0 if first is None else (now - first) / max(1, self.tokens - 1)

    def speech_left(self, now: float) -> float | None:
        """Seconds until all that was made is played.

        None while it does not play, and while words that were handed to the
        synthesiser are still to come.
        """
        if self.times.started is None or not self.rate:
            return None
        if len(self.spoken) < sum(len(piece.split()) for piece in self.text):
            return None
        return self.end / self.rate - (now - self.times.started)

    @property
    def uses_tools(self) -> bool:
        """Whether tools run for it, or have brought something that the model has not seen."""
        return bool(self.running or self.results)

    def stop_tool_clocks(self, since: float, now: float) -> None:
        """The clocks of its tools stood still from ``since`` to ``now``.

        One that was started in between starts now.
        """
        self.task_began += now - max(since, self.task_began)
        self.called_at += now - max(since, self.called_at)
        self.beat_at += now - max(since, self.beat_at)
