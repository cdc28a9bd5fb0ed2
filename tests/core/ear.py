"""Sound and transcripts for tests of the turn policies, in simulated time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from edgevoice.core.easyturn import Linguistic, TurnDecision, TurnPolicy, make_policy
from edgevoice.core.events import RATE, SoundFrame
from edgevoice.core.lexicon import lexicon
from edgevoice.core.tuning import Turn

FRAME = RATE // 100
SPEECH = {"energy": 0.1, "vad": 0.95}
SILENCE = {"energy": 0.001, "vad": 0.02}


def ms(milliseconds: float) -> int:
    """Samples."""
    return round(milliseconds * RATE / 1000)


class Ear:
    """Feeds a policy frame by frame; the transcript is what the test says it is."""

    def __init__(self, turn: Turn | None = None, language: str = "en", noise: float = 1e-4):
        self.policy: TurnPolicy = make_policy(turn or Turn(), lexicon(language))
        self.now = 0
        self.noise = noise
        self.heard = Linguistic("what time is it in paris", 0.9, 0, 1.0)

    def hears(self, text: str, **changes: float | None) -> None:
        self.heard = replace(
            Linguistic(text, 0.9, self.now, 1.0),
            **changes,  # type: ignore[arg-type]
        )

    def frame(self, energy: float, vad: float, samples: int = FRAME) -> TurnDecision:
        self.now += samples
        frame = SoundFrame(self.now / RATE, self.now, samples, energy, vad)
        return self.policy.update(frame, self.heard, self.noise)

    def run(
        self, milliseconds: int, energy: float, vad: float, samples: int = FRAME
    ) -> Iterator[TurnDecision]:
        for _ in range(ms(milliseconds) // samples):
            yield self.frame(energy, vad, samples)

    def listen(self, milliseconds: int, energy: float, vad: float) -> TurnDecision:
        """The last decision."""
        return list(self.run(milliseconds, energy, vad))[-1]

    def until_speak(self, limit_ms: int = 5000, samples: int = FRAME) -> float | None:
        """Milliseconds of silence until SPEAK, None when it does not come."""
        since = self.now
        for decision in self.run(limit_ms, **SILENCE, samples=samples):
            if decision.state.value == "SPEAK":
                return (decision.at_sample - since) * 1000 / RATE
        return None
