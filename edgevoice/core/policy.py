"""What a turn policy is told, what it answers, and the Protocol it keeps."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Protocol

from edgevoice.core.events import SoundFrame


class TurnState(Enum):
    """Whose turn it is."""

    HOLD = "HOLD"
    SPEAK = "SPEAK"


class Blocker(StrEnum):
    """The condition that is missing for SPEAK."""

    NOTHING = ""
    SPEAKING = "speaking"
    SILENCE = "silence"
    INCOMPLETE = "incomplete"
    TEXT_LENGTH = "text_length"
    CONFIDENCE = "confidence"
    STABILITY = "stability"
    TEXT_SETTLING = "text_settling"
    BUTTON = "button"


@dataclass(frozen=True, slots=True)
class Linguistic:
    """What the recogniser makes of the utterance.

    ``confidence`` is the mean word confidence, None when the hypothesis has
    none yet; ``changed_at`` is the sample at which ``text`` last changed.
    """

    text: str
    confidence: float | None
    changed_at: int
    stability: float
    finished: float | None = None
    """Probability by the sound of the present pause that it is whole; None: nobody has said."""
    whole: float | None = None
    """The same by its words, as the language model sees them; 1 for those of an intent."""

    @property
    def certainty(self) -> float:
        """The confidence; a partial without one counts as its stable share."""
        return self.stability if self.confidence is None else self.confidence


@dataclass(frozen=True, slots=True)
class TurnDecision:
    """Whose turn it is at sample ``at_sample``, and why.

    ``silence_ms`` is the time since the last speech (0 while it goes on),
    ``confidence`` how close the turn is to its end, 0 to 1.
    """

    state: TurnState
    reason: str
    at_sample: int
    speaking: bool
    silence_ms: float
    confidence: float
    blocked_by: Blocker = Blocker.NOTHING

    def explain(self) -> str:
        """One line for the owner; no words of the user are in it."""
        missing = f", waits for {self.blocked_by}" if self.blocked_by else ""
        return f"{self.reason}{missing} (silence {self.silence_ms:.0f} ms, {self.confidence:.2f})"


class TurnPolicy(Protocol):
    """Decides whose turn it is; another one needs no more than this."""

    @property
    def speaking(self) -> bool:
        """Whether the user speaks."""

    @property
    def speech_started_at(self) -> int | None:
        """First sample of the utterance's speech; None while there was none."""

    @property
    def speech_ended_at(self) -> int | None:
        """Sample at which its last speech ended; None while it goes on or there was none."""

    def update(self, frame: SoundFrame, heard: Linguistic, noise: float) -> TurnDecision:
        """Take a frame; ``noise`` is the noise floor, RMS of full scale."""

    def reset(self, at: int) -> None:
        """A new utterance begins at sample ``at``: HOLD, nothing heard, silent since ``at``."""
