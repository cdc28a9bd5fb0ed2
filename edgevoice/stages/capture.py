"""Capture: from the two audio callbacks to pairs of 10 ms frames at 16 kHz.

Thread ``capture``.  Commanded by the driver (open, close); fed by the
microphone's callback through one ring and by the player's callback, which
writes what it really played, through another.  Owns the microphone and the
resamplers.  Blocks only while it opens the microphone.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from edgevoice.core.events import RATE, Device, DeviceFound, DeviceLost, FaultKind
from edgevoice.errors import DeviceError
from edgevoice.ports import FRAME, Microphone, Resampler, Samples
from edgevoice.runtime.ring import Ring
from edgevoice.runtime.stage import HEARTBEAT_S, Clock, Post, Stage
from edgevoice.stages.soundcheck import Drift

log = logging.getLogger(__name__)

_RING_S = 2.0
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

    def write(self, block: Samples) -> None:
        """Take what is being played now (audio thread)."""
        self._ring.write(block)

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
        pass_on: Callable[[Heard], object],
        clock: Clock = time.monotonic,
    ) -> None:
        super().__init__("capture", events)
        self._clock = clock
        self._microphone = microphone
        self._reference = reference
        self._resampler = resampler
        self._pass_on = pass_on
        self._ring = Ring(int(_RING_S * 48_000))
        self._heard_at = 0.0
        self._near = np.zeros(0, np.int16)
        self._far = np.zeros(0, np.int16)
        self._mic_rate = self._speaker_rate = RATE
        self._near_resampler: Resampler | None = None
        self._far_resampler: Resampler | None = None
        self._open = False
        self._failing = False
        self._quiet_turns = 0
        self.end = 0
        """Samples heard so far, at 16 kHz."""
        self.drift = Drift()
        self.realigned = 0
        """How often the reference had to be cut back or filled up."""

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
        self._heard_at = at
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
        self.drift.restart()

    def _close(self) -> None:
        if self._open:
            self._microphone.stop()
            self._open = False

    def _make(self, rate: int) -> Resampler | None:
        return None if rate == RATE else self._resampler(rate, RATE)

    def idle(self) -> float:
        """Pair what has come, then wait for more."""
        self._quiet_turns += self._failing or not self._open
        at = self._heard_at
        near, far = len(self._near), len(self._far)
        fresh = self._ring.take()
        if len(fresh):
            self._near = _joined(self._near, fresh, self._near_resampler)
        self._take_reference()
        self.drift.add(len(self._near) - near, len(self._far) - far)
        self._pair(at)
        return HEARTBEAT_S

    def _take_reference(self) -> None:
        if self._reference.rate != self._speaker_rate:
            self._speaker_rate = self._reference.rate
            self._far_resampler = self._make(self._speaker_rate)
        self._far = _joined(self._far, self._reference.take(), self._far_resampler)

    def _pair(self, at: float) -> None:
        while len(self._near) >= FRAME:
            near, self._near = self._near[:FRAME], self._near[FRAME:]
            self.end += FRAME
            late = len(self._near) / RATE
            self._pass_on(Heard(near, self._next_reference(), self.end, at - late))

    def _next_reference(self) -> Samples:
        """The frame that was played while the microphone heard its frame.

        Both run on clocks of their own; a gap is filled with silence and a
        backlog cut, and the echo canceller finds the delay again.
        """
        if len(self._far) < FRAME:
            return np.zeros(FRAME, np.int16)
        if len(self._far) > len(self._near) + FRAME + _MAX_LEAD:
            self._far = self._far[len(self._far) - len(self._near) - FRAME :]
            self.realigned += 1
        far, self._far = self._far[:FRAME], self._far[FRAME:]
        return far

    def closed(self) -> None:
        """The stage ends: the microphone too."""
        self._close()


def _joined(kept: Samples, fresh: Samples, resampler: Resampler | None) -> Samples:
    if resampler is not None:
        fresh = resampler.process(fresh)
    return np.concatenate((kept, fresh))
