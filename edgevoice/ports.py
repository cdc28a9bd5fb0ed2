"""What the house needs from the world: one Protocol for each kind of part.

Audio is int16, mono, one-dimensional.  What is heard runs at 16 kHz from the
echo canceller onwards; microphones and speakers have a rate of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from edgevoice.core.commands import Message
from edgevoice.core.events import Event, SpokenWord, Word
from edgevoice.core.lamps import Pattern

Samples: TypeAlias = npt.NDArray[np.int16]

FRAME = 160
"""Samples of a 10 ms frame at 16 kHz, the step of the echo canceller."""

Deliver: TypeAlias = Callable[[Samples, float], None]
"""Takes one captured block and the monotonic time of its last sample.

Called on the audio thread: must not lock, block or log.
"""

Fill: TypeAlias = Callable[[Samples, float], None]
"""Writes the block to be played into the given array, in place.

The second argument is the monotonic time at which its first sample will be
heard.  Called on the audio thread: must not lock, block or log.
"""


class Microphone(Protocol):
    """Delivers what it hears in blocks, in real time."""

    @property
    def rate(self) -> int:
        """Samples per second, known once it is open."""

    @property
    def xruns(self) -> int:
        """Blocks that were lost since it was made."""

    def start(self, deliver: Deliver, failed: Callable[[str], None]) -> None:
        """Open the stream.  ``failed`` is called once when it breaks later.

        Raises `edgevoice.errors.DeviceError` when it cannot be opened.
        """

    def stop(self) -> None:
        """Close the stream; harmless when it is closed."""


class Speaker(Protocol):
    """Plays what it is given, in blocks, in real time."""

    @property
    def rate(self) -> int:
        """Samples per second, known once it is open."""

    @property
    def xruns(self) -> int:
        """Blocks that were not there in time since it was made."""

    def start(self, fill: Fill, failed: Callable[[str], None]) -> None:
        """Open the stream.  ``failed`` is called once when it breaks later.

        Raises `edgevoice.errors.DeviceError` when it cannot be opened.
        """

    def stop(self) -> None:
        """Close the stream; harmless when it is closed."""


class Resampler(Protocol):
    """Converts one stream of samples from one rate to another."""

    def process(self, block: Samples) -> Samples:
        """Take a block; what is ready comes back, sometimes nothing."""

    def finish(self) -> Samples:
        """The rest of the stream, which ends here."""


class Follower(Protocol):
    """Brings a stream to another clock."""

    def follow(self, ppm: float) -> None:
        """From now on what comes in runs ``ppm`` parts per million faster than what is to go out.

        The stream goes on without a jump.
        """

    def process(self, block: Samples) -> Samples:
        """Take a block at 16 kHz; about as much comes back."""


class EchoCanceller(Protocol):
    """Takes the device's own voice out of what the microphone hears."""

    def process(self, near: Samples, far: Samples) -> Samples:
        """Cancel ``far`` in ``near``: `FRAME` samples each at 16 kHz, one call a frame."""


@dataclass(frozen=True, slots=True)
class EchoFiltered:
    """A block without its linear echo, and the RMS (of full scale) of the echo that was in it."""

    samples: Samples
    echo: float


class EchoFilter(Protocol):
    """Takes out of what the microphone hears what is linear in the device's own voice."""

    @property
    def block(self) -> int:
        """Samples it wants at 16 kHz, a multiple of `FRAME`."""

    @property
    def delay_ms(self) -> float:
        """How much later than the reference its echo arrives, as learned so far."""

    def process(self, near: Samples, far: Samples) -> EchoFiltered:
        """Cancel ``far`` in ``near``: `block` samples each at 16 kHz, one call a block."""

    def forget(self) -> None:
        """The echo takes another way than what was learned."""


class HighPass(Protocol):
    """Takes out what is below speech: hum, rumble and a converter's offset."""

    def process(self, near: Samples) -> Samples:
        """The same number of samples at 16 kHz, not delayed; keeps state."""


class SpeechDetector(Protocol):
    """Tells speech from other sounds."""

    @property
    def chunk(self) -> int:
        """Samples it wants at 16 kHz."""

    def probability(self, audio: Samples) -> float:
        """Speech probability of the next `chunk` samples, 0 to 1; keeps state."""


class WakeWord(Protocol):
    """Waits for the wake phrase."""

    @property
    def lag_ms(self) -> int:
        """How far before the end of the firing chunk the words after the phrase begin."""

    @property
    def chunk(self) -> int:
        """Samples it wants at 16 kHz."""

    def score(self, audio: Samples) -> tuple[str, float]:
        """Phrase and score (0 to 1) after the next `chunk` samples; keeps state."""

    def reset(self) -> None:
        """Forget what was heard, so that one utterance is one detection."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What the recogniser makes of an utterance so far."""

    text: str
    words: tuple[Word, ...] = ()
    """With confidences; empty in a partial result."""
    apart: tuple[Word, ...] = ()
    """The words, if they are nothing but phrases that were listened for apart.  In a partial
    result their confidence is 1."""


class Recogniser(Protocol):
    """Streaming speech recognition of one utterance at a time."""

    def begin(self, apart: Sequence[str] = ()) -> None:
        """Forget everything; a new utterance starts.

        The phrases of ``apart`` are listened for apart: a short word said into the device's own
        voice is misheard by a decoder of all words, hardly by one that knows few others.
        """

    def accept(self, audio: Samples) -> Hypothesis:
        """Take more audio at 16 kHz; the whole utterance so far comes back."""

    def flush(self) -> Hypothesis:
        """The final result of all audio so far, with words.

        The utterance goes on: what `accept` returns later has this text in front.
        """


@dataclass(frozen=True, slots=True)
class Call:
    """A tool that is wanted; ``arguments`` are JSON values by name."""

    name: str
    arguments: Mapping[str, Any]
    long_running: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as the language model gets to know it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of an object."""
    long_running: bool = False


class EndOfTurn(Protocol):
    """Tells by the sound of a pause whether who spoke has finished."""

    @property
    def window(self) -> int:
        """Samples at 16 kHz that it listens to; more are of no use."""

    def probability(self, audio: Samples) -> float:
        """Probability, 0 to 1, that who spoke in ``audio`` has finished at its end."""


class LanguageModel(Protocol):
    """Generates answers as a stream of text."""

    tools: Sequence[Offer]
    """What it may call; set before the first question."""

    def reply(
        self, messages: Sequence[Message], cancelled: Callable[[], bool]
    ) -> Iterator[str | Call]:
        """Yield the answer piece by piece; stop soon after ``cancelled`` is true.

        A call of a tool is the last piece.
        Raises `edgevoice.errors.EngineError` when the model fails.
        """

    def prefill(self, messages: Sequence[Message], cancelled: Callable[[], bool]) -> None:
        """Read ``messages`` ahead of a `reply` that begins with them.

        The last message may still grow: what it shares with the reply's is used.
        What was read when ``cancelled`` became true is kept.
        """

    def anticipate(
        self, messages: Sequence[Message], tokens: int, cancelled: Callable[[], bool]
    ) -> Iterator[None]:
        """Guess the first ``tokens`` of the answer to ``messages``, whose last may still grow.

        A `reply` to more words that begins as was guessed has its beginning sooner; what was
        guessed wrongly is no part of it.  Yields after each step, and ends when ``cancelled``
        is true.
        """

    def whole(self, messages: Sequence[Message], cancelled: Callable[[], bool]) -> float | None:
        """Probability, 0 to 1, that the last of ``messages`` is whole as it stands.

        None when ``cancelled`` became true, or the model cannot tell.  Reads ahead as well, so
        that a `reply` to the same ``messages`` has its first token at once.
        """

    def count_tokens(self, text: str) -> int:
        """Tokens of ``text`` in this model's vocabulary."""


@dataclass(frozen=True, slots=True)
class Speech:
    """Some synthesised speech; word positions are samples from its start."""

    samples: Samples
    words: tuple[SpokenWord, ...]


class Synthesiser(Protocol):
    """Turns text into speech."""

    @property
    def rate(self) -> int:
        """Samples per second of what it makes."""

    def speak(self, text: str, cancelled: Callable[[], bool]) -> Iterator[Speech]:
        """Yield the speech of ``text`` in chunks; stop soon after ``cancelled`` is true.

        Raises `edgevoice.errors.EngineError` when synthesis fails.
        """


class Lamps(Protocol):
    """Shows the state as light."""

    def show(self, pattern: Pattern) -> None:
        """Change to ``pattern`` now; returns at once."""

    def close(self) -> None:
        """Light out."""


class Button(Protocol):
    """The push-to-talk button, debounced."""

    def start(self, pressed: Callable[[], None], released: Callable[[], None]) -> None:
        """Call these from now on, on a thread of the button's own."""

    def close(self) -> None:
        """Call nothing any more."""


# -- skills ---------------------------------------------------------------------------


class Sentences(Protocol):
    """Finds sentences that are known by their templates."""

    def match(self, text: str) -> tuple[str, Mapping[str, Any]] | None:
        """Name and slots of the template that ``text`` fits best, if it fits one whole."""


class Intents(Protocol):
    """Knows what needs no language model.  Looking has no effect."""

    def warm_up(self) -> None:
        """Build what the first match would have to wait for."""

    def match(self, text: str) -> Call | None:
        """The tool that ``text``, a whole utterance in small letters, asks for."""


class Task(Protocol):
    """What a running tool knows of its call."""

    def cancelled(self) -> bool:
        """Whether nobody waits for the result any more."""

    def beat(self) -> None:
        """Show that the work goes on; for tools that take long."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call."""

    result: str = ""
    """For the language model: text, or JSON; an object with an ``error`` key is a failure."""
    spoken: str = ""
    """What is to be said of it; empty: the model, if it has asked, finds the words."""
    then: Event | None = None
    """What the house is told when the result has been handed over."""


class Toolbox(Protocol):
    """Runs tools."""

    def run(self, name: str, arguments: str, task: Task) -> Outcome:
        """Run ``name`` with ``arguments``, a JSON object; never raises.

        Blocks for as long as the tool takes.
        """


class Device(Protocol):
    """What skills may do to the device itself; each returns at once."""

    volume: int
    """Loudness of the voice, 0 to 100."""

    @property
    def last_answer(self) -> str:
        """What it said last in answer to something; empty before that."""
