"""Capture: from the two audio callbacks to pairs of 10 ms frames at 16 kHz.

Thread ``capture``.  Commanded by the driver (open, close); fed by the
microphone's callback through one ring and by the player's callback, which
writes what it really played, through another.  Owns the microphone and the
resamplers.  Blocks only while it opens the microphone.

The two devices have clocks of their own.  What was played is brought to the
microphone's, by the difference that `edgevoice.stages.clocks` measures: else
each echo would come a little sooner or later than the one before it, which no
canceller follows closely enough.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from edgevoice.core.events import RATE, Device, DeviceFound, DeviceLost, FaultKind
from edgevoice.errors import DeviceError
from edgevoice.ports import FRAME, Follower, Microphone, Resampler, Samples
from edgevoice.runtime.ring import Ring
from edgevoice.runtime.stage import HEARTBEAT_S, Clock, Post, Stage
from edgevoice.stages.clocks import Drift, Mark

log = logging.getLogger(__name__)

_NOTABLE_PPM = 2.0
"""A smaller change of the drift is left alone: it moves the echo by a sample in half a minute."""
_RING_S = 2.0
_LUMP_S = 0.08
"""Sound that is passed on at once while nobody waits for it: a chunk of the wake engine.

Each block rouses one thread after the other, whose caches are cold by then: with lumps of 10, 40
and 80 ms the idle daemon took 17, 14.3 and 13.2 % of a core in the same hour.
"""
_SPARE = FRAME
"""Silence beyond what is missing, so that one late block does not part the two again."""
_MAX_LEAD = 10 * FRAME
"""The reference may run ahead of the microphone by 100 ms before it is cut back."""


@dataclass(frozen=True, slots=True)
class Heard:
    """10 ms of microphone and of loudspeaker, both at 16 kHz.

    ``end`` is the sample index after the last sample, ``at`` the monotonic time
    at which that sample was heard.
    """

    near: Samples
    far: Samples
    end: int
    at: float


class MicrophoneOrder(Enum):
    """What the driver may ask of the microphone."""

    OPEN = "open"
    CLOSE = "close"
    REOPEN = "reopen"


class Reference:
    """What the loudspeaker plays, for the echo canceller.

    Written by the player's callback at the speaker's rate, read by `Capture`.
    """

    def __init__(self) -> None:
        self._ring = Ring(int(_RING_S * 48_000))
        self.rate = RATE
        self.mark = Mark()
        """How much was played until when."""

    def write(self, block: Samples, at: float) -> None:
        """Take the block that will be heard at ``at`` (audio thread)."""
        self._ring.write(block)
        self.mark = Mark(self.mark.sound + len(block) / self.rate, at)

    def take(self) -> Samples:
        """All that was played since the last call."""
        return self._ring.take()


class Capture(Stage[MicrophoneOrder]):
    """Pairs what is heard with what is played and passes it on."""

    fault_kind = FaultKind.DEVICE

    def __init__(
        self,
        events: Post,
        microphone: Microphone,
        reference: Reference,
        resampler: Callable[[int, int], Resampler],
        pass_on: Callable[[Sequence[Heard]], object],
        clock: Clock = time.monotonic,
        follower: Follower | None = None,
    ) -> None:
        """Without a ``follower`` what was played stays on its own clock."""
        super().__init__("capture", events)
        self._clock = clock
        self._microphone = microphone
        self._reference = reference
        self._resampler = resampler
        self._follower = follower
        self._pass_on = pass_on
        self._ring = Ring(int(_RING_S * 48_000))
        self._heard = Mark()
        self._near = np.zeros(0, np.int16)
        self._far = np.zeros(0, np.int16)
        self._mic_rate = self._speaker_rate = RATE
        self._near_resampler: Resampler | None = None
        self._far_resampler: Resampler | None = None
        self._followed_ppm = 0.0
        self._open = False
        self._failing = False
        self._quiet_turns = 0
        self.end = 0
        """Samples heard so far, at 16 kHz."""
        self.drift = Drift()
        self.realigned = 0
        """How often the reference had to be cut back or filled up."""
        self.unhurried = False
        """Whether nobody waits for the sound; set by the driver, one word, read once a block."""

    # -- the driver's side ------------------------------------------------------

    @property
    def progress(self) -> float:
        """Sound that was heard; of a closed or lost microphone none can be expected."""
        return self.end + self._quiet_turns

    @property
    def lost(self) -> int:
        """Samples that came when the ring was full."""
        return self._ring.lost

    @property
    def xruns(self) -> int:
        """Blocks that the microphone lost."""
        return self._microphone.xruns

    # -- the audio callback -------------------------------------------------------

    def _deliver(self, block: Samples, at: float) -> None:
        self._ring.write(block)
        self._heard = Mark(self._heard.sound + len(block) / self._mic_rate, at)
        if not self.unhurried or len(self._ring) >= _LUMP_S * self._mic_rate:
            self._wakeup.rouse()

    def _failed(self, reason: str) -> None:
        self._failing = True
        log.warning("%s", reason)
        self.emit(DeviceLost(self._clock(), Device.MICROPHONE, reason))

    # -- the stage's thread ---------------------------------------------------------

    def handle(self, message: MicrophoneOrder) -> None:
        """Open or close the microphone."""
        if message is MicrophoneOrder.OPEN and not self._open:
            self.open()
        elif message is MicrophoneOrder.CLOSE:
            self._close()
        elif message is MicrophoneOrder.REOPEN:
            self._close()
            try:
                self.open()
            except DeviceError as error:
                log.warning("%s", error)
                return  # the core counts the attempts and asks again
            self.emit(DeviceFound(self._clock(), Device.MICROPHONE))

    def open(self) -> None:
        """Open the microphone; raises `DeviceError`.  Also called before `start`."""
        self._microphone.start(self._deliver, self._failed)
        self._open, self._failing = True, False
        self._mic_rate = self._microphone.rate
        self._near_resampler = self._make(self._mic_rate)
        self._near = np.zeros(0, np.int16)
        self._far = np.zeros(0, np.int16)
        self._reference.take()  # what was played while nobody heard it

    def _close(self) -> None:
        if self._open:
            self._microphone.stop()
            self._open = False

    def _make(self, rate: int) -> Resampler | None:
        return None if rate == RATE else self._resampler(rate, RATE)

    def idle(self) -> float:
        """Pair what has come, then wait for more."""
        self._quiet_turns += self._failing or not self._open
        at = self._heard.at
        fresh = _converted(self._ring.take(), self._near_resampler)
        self._near = np.concatenate((self._near, fresh))
        self._follow_drift()
        self._take_reference()
        self._pair(at)
        return HEARTBEAT_S

    def _follow_drift(self) -> None:
        self.drift.look(self._heard, self._reference.mark)
        ppm = self.drift.ppm
        if self._follower is None or ppm is None:
            return
        if abs(ppm - self._followed_ppm) >= _NOTABLE_PPM:
            self._follower.follow(ppm)
            self._followed_ppm = ppm

    def _take_reference(self) -> None:
        if self._reference.rate != self._speaker_rate:
            self._speaker_rate = self._reference.rate
            self._far_resampler = self._make(self._speaker_rate)
        fresh = _converted(self._reference.take(), self._far_resampler)
        if self._follower is not None:
            fresh = self._follower.process(fresh)
        self._far = np.concatenate((self._far, fresh))

    def _pair(self, at: float) -> None:
        pairs: list[Heard] = []
        while len(self._near) >= FRAME:
            near, self._near = self._near[:FRAME], self._near[FRAME:]
            self.end += FRAME
            late = len(self._near) / RATE
            pairs.append(Heard(near, self._next_reference(), self.end, at - late))
        if pairs:
            self._pass_on(pairs)

    def _next_reference(self) -> Samples:
        """The frame that was played while the microphone heard its frame.

        Both run on clocks of their own; a gap is filled with silence and a
        backlog cut, and the echo canceller finds the delay again.
        """
        if len(self._far) < FRAME:
            self._far = np.concatenate((np.zeros(_SPARE, np.int16), self._far))
            return np.zeros(FRAME, np.int16)
        if len(self._far) > len(self._near) + FRAME + _MAX_LEAD:
            self._far = self._far[len(self._far) - len(self._near) - FRAME :]
            self.realigned += 1
        far, self._far = self._far[:FRAME], self._far[FRAME:]
        return far

    def closed(self) -> None:
        """The stage ends: the microphone too."""
        self._close()


def _converted(fresh: Samples, resampler: Resampler | None) -> Samples:
    return fresh if resampler is None else resampler.process(fresh)
