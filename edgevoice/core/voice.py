"""Whether the user is speaking, and from where to where: EasyTurn's first condition."""

from __future__ import annotations

from dataclasses import dataclass

from edgevoice.core.events import RATE, SoundFrame
from edgevoice.core.tuning import Turn


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Energies as RMS of full scale, raised to what the noise of the room demands."""

    high: float
    low: float

    @classmethod
    def over(cls, noise: float, turn: Turn) -> Thresholds:
        """Those of the configuration are floors: a fixed 0.02 is wrong in every second room."""
        return cls(
            max(turn.energy_threshold_high, noise * turn.noise_ratio_high),
            max(turn.energy_threshold_low, noise * turn.noise_ratio_low),
        )


class Voice:
    """EasyTurn's verdict on each frame, with its times in samples.

    Speaking is energy above the high threshold *or* speech probability above
    its own; not speaking needs *both* below the low ones; in between the last
    verdict stands.  Two facts of real detectors are built in:

    - A dog, a door or a fan is loud as well.  Loudness that the speech detector
      denies for longer than it may lag (``energy_alone_ms``) is noise: it ends
      nobody's silence, and afterwards it is as if it had not been.
    - The detector reports the end of speech late.  `ended_at` is dated back to
      where the energy fell, by ``vad_lag_ms`` at most.
    """

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self.reset()

    def reset(self) -> None:
        """Nothing was heard yet."""
        self.speaking = False
        self.started_at: int | None = None
        """First sample of the utterance's first speech."""
        self.ended_at: int | None = None
        """Where the last speech ended; None before any and while it goes on."""
        self.denied = False
        """Whether it is loud, and the speech detector has had time enough to say that
        this is no speech."""
        self._before: tuple[int | None, int | None] = (None, None)
        self._began_at = 0
        self._rose_at: int | None = None
        self._fell_at = 0
        self._supported_at = 0

    def update(self, frame: SoundFrame, thresholds: Thresholds) -> bool:
        """Take a frame; whether the user speaks in it."""
        self._follow(frame, thresholds.low)
        likely = frame.vad > self._turn.vad_threshold_speaking
        loud = frame.energy > thresholds.high and not self.denied
        quiet = frame.energy < thresholds.low or self.denied
        if likely or loud:
            self._begin(frame.end - frame.samples)
        elif quiet and frame.vad < self._turn.vad_threshold_silent:
            self._end(frame.end)
        return self.speaking

    def _follow(self, frame: SoundFrame, low: float) -> None:
        """Note when the energy rose and fell, and when the detector last thought of speech."""
        if frame.energy < low:
            self._rose_at = None
        else:
            self._fell_at = frame.end
            if self._rose_at is None:
                self._rose_at = frame.end - frame.samples
        if frame.vad >= self._turn.vad_threshold_silent:
            self._supported_at = frame.end
        doubtful_since = max(self._rose_at or 0, self._supported_at)
        patience = _samples(self._turn.energy_alone_ms)
        self.denied = self._rose_at is not None and frame.end - doubtful_since >= patience

    def _begin(self, start: int) -> None:
        if self.speaking:
            return
        self.speaking = True
        self._before = self.started_at, self.ended_at
        self._began_at = start if self._rose_at is None else self._dated_back(self._rose_at, start)
        self.ended_at = None
        if self.started_at is None:
            self.started_at = self._began_at

    def _end(self, now: int) -> None:
        if not self.speaking:
            return
        self.speaking = False
        if self._supported_at <= self._began_at:
            self.started_at, self.ended_at = self._before
        else:
            self.ended_at = self._end_of_speech(now)

    def _end_of_speech(self, now: int) -> int:
        """Where the energy fell, or the detector's own verdict if that was sooner.

        A voice that never rose over the low threshold has no fall to go by.
        """
        if self._fell_at <= self._began_at:
            return self._supported_at
        return min(self._dated_back(self._fell_at, now), self._supported_at)

    def _dated_back(self, sample: int, now: int) -> int:
        return max(sample, now - _samples(self._turn.vad_lag_ms))


def _samples(milliseconds: int) -> int:
    return milliseconds * RATE // 1000
