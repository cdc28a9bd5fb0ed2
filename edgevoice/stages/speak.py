"""Speak: text to speech, piece by piece.

Thread ``speak``.  Commanded by the driver: pieces through the inbox, a
cancellation by one word that is read between chunks.  Owns the synthesiser.
Blocks while it computes.
"""

from __future__ import annotations

from collections.abc import Callable

from edgevoice.core.commands import EndSpeech, Synthesise
from edgevoice.core.events import FaultKind, SpokenWord
from edgevoice.ports import Resampler, Speech, Synthesiser
from edgevoice.runtime.stage import Post, TurnStage
from edgevoice.stages.play import Chunk, End


class Speak(TurnStage[Synthesise | EndSpeech]):
    """Synthesises, brings it to the speaker's rate and passes it to the player."""

    fault_kind = FaultKind.TTS

    def __init__(
        self,
        events: Post,
        synthesiser: Synthesiser,
        speaker_rate: Callable[[], int],
        resampler: Callable[[int, int], Resampler],
        pass_on: Callable[[Chunk | End], object],
    ) -> None:
        super().__init__("speak", events, capacity=256)
        self._synthesiser = synthesiser
        self._speaker_rate = speaker_rate
        self._resampler = resampler
        self._pass_on = self.outlet(pass_on)

    def work(self, message: Synthesise | EndSpeech, cancelled: Callable[[], bool]) -> None:
        """One piece, or the end of a turn's speech."""
        if isinstance(message, EndSpeech):
            self._pass_on(End(message.turn))
        else:
            self._speak(message, cancelled)

    def _speak(self, order: Synthesise, cancelled: Callable[[], bool]) -> None:
        own, wanted = self._synthesiser.rate, self._speaker_rate()
        resampler = None if own == wanted else self._resampler(own, wanted)
        before = 0
        for speech in self._synthesiser.speak(order.text, cancelled):
            samples = speech.samples if resampler is None else resampler.process(speech.samples)
            words = placed(speech, before, wanted / own)
            self._pass_on(Chunk(order.turn, order.piece, samples, words, wanted))
            before += len(speech.samples)
        if resampler is not None and before:
            self._pass_on(Chunk(order.turn, order.piece, resampler.finish(), (), wanted))


def placed(speech: Speech, before: int, ratio: float) -> tuple[SpokenWord, ...]:
    """The words counted from the start of their piece, at the speaker's rate."""
    return tuple(
        SpokenWord(w.text, round((before + w.start) * ratio), round((before + w.end) * ratio))
        for w in speech.words
    )
