"""EasyTurn: whose turn it is, HOLD for the user's and SPEAK for the device's.

Theory of operation
===================

Once a frame the policy gives a `TurnDecision`.  In HOLD `EasyTurn` looks for the
first of six conditions that is missing (`Blocker`, in this order): the user
is silent, long enough, has said something, the recogniser is sure of it, its
words are stable and have settled.  In SPEAK it looks for energy or speech over
the interruption thresholds.  A verdict against the present state is *pending*
and takes effect when it has stood for the hysteresis window without a break.

Time is counted in samples of the microphone.  The other policies decide by
less and are what EasyTurn is measured against.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from functools import partial

from edgevoice.core.completeness import promises_more
from edgevoice.core.events import RATE, SoundFrame
from edgevoice.core.lexicon import Lexicon, words
from edgevoice.core.policy import Blocker, Linguistic, TurnDecision, TurnPolicy, TurnState
from edgevoice.core.tuning import BargeIn, Turn
from edgevoice.core.voice import Thresholds, Voice
from edgevoice.errors import ConfigError

__all__ = [
    "POLICIES",
    "Blocker",
    "EasyTurn",
    "Hysteresis",
    "Linguistic",
    "ManualPolicy",
    "SilencePolicy",
    "TurnDecision",
    "TurnPolicy",
    "TurnState",
    "make_policy",
]

_OUTWEIGHS_THE_SOUND = 0.5
"""From here on the words are believed whatever the sound says.

Of the two they are the better judge (areas under the curve 0.91 and 0.72, `bench.turn`).
"""

SHORT_UTTERANCE = 20
"""Characters below which an utterance waits ``min_silence_short_utterance_ms``."""


class _Words(Enum):
    """What the language model makes of them."""

    UNJUDGED = auto()
    WHOLE = auto()
    DOUBTFUL = auto()
    UNFINISHED = auto()


class Hysteresis:
    """Lets a change of state through once it was wanted for a whole window."""

    def __init__(self, window_ms: int) -> None:
        self._window = window_ms * RATE // 1000
        self.reset()

    def reset(self) -> None:
        """Back to HOLD."""
        self.state = TurnState.HOLD
        self._pending_since: int | None = None

    def apply(self, desired: TurnState, now: int, sooner_ms: int = 0) -> str:
        """Take what is desired at sample ``now``; EasyTurn's reason for what `state` then is.

        The window is shorter by ``sooner_ms``.
        """
        if desired is self.state:
            self._pending_since = None
            return f"stable_{self.state.value}"
        if self._pending_since is None:
            self._pending_since = now
            return f"pending_{desired.value}"
        elapsed = now - self._pending_since
        if elapsed < self._window - sooner_ms * RATE // 1000:
            return f"pending_{desired.value}_{elapsed * 1000 // RATE}ms"
        self._pending_since = None
        self.state = desired
        return f"transition_to_{desired.value}_" + (
            "eot" if desired is TurnState.SPEAK else "interrupt"
        )


class _Listening:
    """What all policies share: they hear whether the user speaks, and count the silence."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._voice = Voice(turn)
        self._since = 0

    @property
    def speaking(self) -> bool:
        """Whether the user speaks."""
        return self._voice.speaking

    @property
    def speech_started_at(self) -> int | None:
        """First sample of the utterance's speech; None while there was none."""
        return self._voice.started_at

    @property
    def speech_ended_at(self) -> int | None:
        """Sample at which its last speech ended; None while it goes on or there was none."""
        return self._voice.ended_at

    def reset(self, at: int) -> None:
        """A new utterance begins at sample ``at``."""
        self._voice.reset()
        self._since = at

    def _hear(self, frame: SoundFrame, noise: float) -> float:
        """Take a frame; the silence up to its end in milliseconds."""
        if self._voice.update(frame, Thresholds.over(noise, self._turn)):
            return 0.0
        ended = self._voice.ended_at
        silent_since = self._since if ended is None else ended
        return max(0, frame.end - silent_since) * 1000 / RATE


class EasyTurn(_Listening):
    """The default: silence, confidence, stability and completeness together.

    Whether what was said is complete its ``words`` tell, or its ``sound``, or both; then
    either doubt is enough for the long wait.  The words are judged by rules and by the
    language model, which may hold them to be unfinished, as a rule does, or only doubt that
    they are whole, for which the wait is shorter.  Neither the model nor the sound is asked
    about a short answer or a soft-ack: "yes" and "uh-huh" always sound complete.
    """

    def __init__(
        self,
        turn: Turn,
        lexicon: Lexicon,
        barge_in: BargeIn,
        *,
        words: bool = True,
        sound: bool = False,
    ) -> None:
        super().__init__(turn)
        self._by_words, self._by_sound = words, sound
        self._lexicon = lexicon
        self._barge_in = barge_in
        self._hysteresis = Hysteresis(turn.hysteresis_window_ms)
        self._text = ""
        self._promises_more = self._is_enough = False
        self._is_answer = True
        self._is_open = False
        self._words = _Words.UNJUDGED

    def reset(self, at: int) -> None:
        """A new utterance begins at sample ``at``."""
        super().reset(at)
        self._hysteresis.reset()

    def update(self, frame: SoundFrame, heard: Linguistic, noise: float) -> TurnDecision:
        """Take a frame; ``noise`` is the noise floor, RMS of full scale."""
        silence_ms = self._hear(frame, noise)
        self._read(heard.text)
        self._words = self._judged(heard.whole)
        reads_open = self._promises_more or self._words is _Words.UNFINISHED
        self._is_open = reads_open or self._sounds_open(heard)
        if self._hysteresis.state is TurnState.HOLD:
            blocker = self._missing(heard, silence_ms, frame.end)
            desired = TurnState.HOLD if blocker else TurnState.SPEAK
        else:
            blocker = Blocker.NOTHING
            desired = TurnState.HOLD if self._interrupts(frame, noise) else TurnState.SPEAK
        sooner = desired is TurnState.SPEAK and self._is_sure(heard.whole)
        sooner_ms = self._turn.whole_sooner_ms if sooner else 0
        reason = self._hysteresis.apply(desired, frame.end, sooner_ms)
        return TurnDecision(
            state=self._hysteresis.state,
            reason=reason,
            at_sample=frame.end,
            speaking=self.speaking,
            silence_ms=silence_ms,
            confidence=_confidence(frame, heard, silence_ms, self._patience_ms()),
            blocked_by=blocker,
        )

    def _read(self, text: str) -> None:
        """Judge the words once, not once a frame."""
        if text != self._text:
            self._text = text
            self._promises_more = self._by_words and promises_more(text, self._lexicon)
            short_answer = self._lexicon.is_short_answer(text)
            self._is_answer = short_answer or not self._lexicon.without_acks(words(text))
            long_enough = len(text) >= self._turn.min_text_length
            self._is_enough = text != "" and (long_enough or short_answer)

    def _judged(self, whole: float | None) -> _Words:
        """The language model's verdict on words of which it thinks that they are ``whole``."""
        if whole is None or self._is_answer or not self._by_words:
            return _Words.UNJUDGED
        if whole >= self._turn.whole_probability:
            return _Words.WHOLE
        unfinished = whole < self._turn.unfinished_probability
        return _Words.UNFINISHED if unfinished else _Words.DOUBTFUL

    def _is_sure(self, whole: float | None) -> bool:
        """Whether the language model leaves so little doubt that less has to be waited for."""
        if whole is None or self._words is not _Words.WHOLE or self._is_open:
            return False
        return whole >= self._turn.sure_probability

    def _sounds_open(self, heard: Linguistic) -> bool:
        """Whether the sound says that more will come; what is not known says nothing."""
        if heard.finished is None or self._is_answer or not self._by_sound:
            return False
        if self._by_words and heard.whole is not None and heard.whole >= _OUTWEIGHS_THE_SOUND:
            return False
        return heard.finished < self._turn.finished_probability

    def _missing(self, heard: Linguistic, silence_ms: float, now: int) -> Blocker:
        """The first condition that is not met, in EasyTurn's order."""
        turn = self._turn
        if self.speaking:
            return Blocker.SPEAKING
        if silence_ms < self._patience_ms():
            return Blocker.INCOMPLETE if self._is_open else Blocker.SILENCE
        if not self._is_enough:
            return Blocker.TEXT_LENGTH
        if heard.certainty < turn.min_confidence_to_speak:
            return Blocker.CONFIDENCE
        if heard.stability < turn.stability_threshold:
            return Blocker.STABILITY
        if (now - heard.changed_at) * 1000 / RATE < turn.text_settle_ms:
            return Blocker.TEXT_SETTLING
        return Blocker.NOTHING

    def _patience_ms(self) -> int:
        """The silence that what was said so far deserves."""
        turn = self._turn
        short = len(self._text) < SHORT_UTTERANCE
        wait = turn.min_silence_short_utterance_ms if short else turn.min_silence_to_speak_ms
        if turn.hysteresis_overlaps_silence:
            wait -= turn.hysteresis_window_ms
        if self._is_open:
            return max(wait, turn.incomplete_extra_ms)
        return max(wait, turn.doubtful_extra_ms) if self._words is _Words.DOUBTFUL else wait

    def _interrupts(self, frame: SoundFrame, noise: float) -> bool:
        """Whether the user takes the turn back."""
        floor = noise * self._turn.noise_ratio_high
        loud = frame.energy > max(self._barge_in.interrupt_energy_threshold, floor)
        likely = frame.vad > self._barge_in.interrupt_vad_threshold
        return likely or (loud and not self._voice.denied)


def _confidence(frame: SoundFrame, heard: Linguistic, silence_ms: float, wait_ms: int) -> float:
    """How close the turn is to its end: the product of what speaks for it, 0 to 1.

    EasyTurn leaves the formula open.  The factors are the share of the wait that
    has passed, the recogniser's certainty, the stability of its words and the
    probability that this frame is no speech.
    """
    waited = min(1.0, silence_ms / wait_ms) if wait_ms > 0 else 1.0
    return waited * heard.certainty * heard.stability * (1.0 - frame.vad)


class SilencePolicy(_Listening):
    """A plain timeout, as most assistants have it: the baseline for comparisons."""

    def update(self, frame: SoundFrame, heard: Linguistic, noise: float) -> TurnDecision:
        """Take a frame; ``noise`` is the noise floor, RMS of full scale."""
        silence_ms = self._hear(frame, noise)
        wait = self._turn.min_silence_to_speak_ms
        if self.speaking:
            blocker = Blocker.SPEAKING
        elif silence_ms < wait:
            blocker = Blocker.SILENCE
        else:
            blocker = Blocker.NOTHING if heard.text else Blocker.TEXT_LENGTH
        return TurnDecision(
            state=TurnState.HOLD if blocker else TurnState.SPEAK,
            reason="stable_HOLD" if blocker else "stable_SPEAK",
            at_sample=frame.end,
            speaking=self.speaking,
            silence_ms=silence_ms,
            confidence=_confidence(frame, heard, silence_ms, wait),
            blocked_by=blocker,
        )


class ManualPolicy(_Listening):
    """Push-to-talk: only the release of the button ends a turn."""

    def update(self, frame: SoundFrame, heard: Linguistic, noise: float) -> TurnDecision:
        """Take a frame; ``noise`` is the noise floor, RMS of full scale."""
        return TurnDecision(
            state=TurnState.HOLD,
            reason="stable_HOLD",
            at_sample=frame.end,
            silence_ms=self._hear(frame, noise),
            speaking=self.speaking,
            confidence=0.0,
            blocked_by=Blocker.BUTTON,
        )


Maker = Callable[[Turn, Lexicon, BargeIn], TurnPolicy]

POLICIES: dict[str, Maker] = {
    "easyturn": EasyTurn,
    "smart_turn": partial(EasyTurn, words=False, sound=True),
    "easyturn+smart_turn": partial(EasyTurn, sound=True),
    "silence": lambda turn, lexicon, barge_in: SilencePolicy(turn),
    "manual": lambda turn, lexicon, barge_in: ManualPolicy(turn),
}
"""The turn policies by their names in the configuration (GUD-001)."""


def make_policy(turn: Turn, lexicon: Lexicon, barge_in: BargeIn | None = None) -> TurnPolicy:
    """The policy that ``turn.policy`` names.

    ``barge_in`` has the thresholds at which the user takes the turn back, the
    defaults when it is left out.  Raises `edgevoice.errors.ConfigError` for a
    name that is not in `POLICIES`.
    """
    if turn.policy not in POLICIES:
        raise ConfigError(
            f"turn.policy: there is no policy {turn.policy!r}",
            f"use one of {', '.join(POLICIES)}",
        )
    return POLICIES[turn.policy](turn, lexicon, barge_in or BargeIn())
