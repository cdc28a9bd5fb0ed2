"""Play: the device's voice, and its silence.

Thread ``play``, and the speaker's audio callback.  Chunks of speech come from
`edgevoice.stages.speak` through the inbox; the driver starts, holds, resumes
and drops by writing one word that the callback reads at its next block, so
nothing lies between a decision and silence but one period of the sound card.

The callback (`Play.fill`) owns the position and the loudness of the track it
plays; the thread owns the tracks and looks at them every few milliseconds to
tell the driver what has happened.  Neither waits for the other.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from enum import Enum

import numpy as np

from edgevoice.core.events import (
    Device,
    DeviceFound,
    DeviceLost,
    FaultKind,
    PieceBuffered,
    PlaybackDone,
    PlaybackDropped,
    PlaybackHeld,
    PlaybackStarted,
    SpokenWord,
)
from edgevoice.errors import DeviceError
from edgevoice.ports import Samples, Speaker
from edgevoice.runtime.stage import HEARTBEAT_S, Clock, Post, Stage
from edgevoice.stages.capture import Reference
from edgevoice.stages.earcons import earcon

log = logging.getLogger(__name__)

_LOOK_S = 0.004
"""While a track exists the thread looks at it this often."""
_FADE_S = 0.005
_ROOM_S = 20
"""Speech that a track has room for at first, in seconds; it grows."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Speech of one piece; the words are counted from the start of the piece."""

    turn: int
    piece: int
    samples: Samples
    words: tuple[SpokenWord, ...]
    rate: int


@dataclass(frozen=True, slots=True)
class End:
    """The turn's speech is complete."""

    turn: int


class Gate(Enum):
    """What the driver wants of a track."""

    WAIT = "wait"
    PLAY = "play"
    HOLD = "hold"
    DROP = "drop"


class Track:
    """The speech of one turn.

    The play thread appends and sets `complete`; the driver sets `gate` and
    `seek`; the callback moves `position`.  Each word has one writer.
    """

    def __init__(self, turn: int, rate: int) -> None:
        self.turn = turn
        self.rate = rate
        self.gate = Gate.WAIT
        self.seek: int | None = None
        self.complete = False
        self.length = 0
        self.piece = -1
        self.piece_start = 0
        self.position = 0
        self.loud = False
        self.started_at: float | None = None
        self.silent_at: float | None = None
        self.ended_at: float | None = None
        self.starved = 0
        self.holds = 0
        """Holds so far; the driver counts them, and the thread those it told of."""
        self.told_holds = 0
        self.told_start = False
        self._samples = np.zeros(_ROOM_S * rate, np.int16)
        self._fade = int(_FADE_S * rate)

    def append(self, samples: Samples) -> None:
        """More speech (play thread)."""
        end = self.length + len(samples)
        if end > len(self._samples):
            bigger = np.zeros(max(2 * len(self._samples), end), np.int16)
            bigger[: self.length] = self._samples[: self.length]
            self._samples = bigger
        self._samples[self.length : end] = samples
        self.length = end

    def render(self, block: Samples, at: float) -> None:
        """Fill a silent block that will be heard at ``at`` (audio thread)."""
        if self.gate is Gate.PLAY:
            self._play(block, at)
        elif self.loud:
            self._fall_silent(block, at)
        elif self.silent_at is None:
            self.silent_at = at

    def _play(self, block: Samples, at: float) -> None:
        if self.seek is not None:
            self.position, self.seek = self.seek, None
        self.silent_at = None
        n = self._copy(block)
        if n and not self.loud:
            fade = min(self._fade, n)
            block[:fade] = block[:fade] * np.linspace(0.0, 1.0, fade)
        self.loud = n > 0
        if n and self.started_at is None:
            self.started_at = at
        if self.complete and self.position >= self.length:
            if self.ended_at is None:
                self.ended_at = at + n / self.rate
        elif n < len(block) and self.started_at is not None:
            self.starved += 1

    def _fall_silent(self, block: Samples, at: float) -> None:
        fade = min(self._fade, len(block))
        n = self._copy(block[:fade])
        block[:n] = block[:n] * np.linspace(1.0, 0.0, n)
        self.loud = False
        self.silent_at = at + n / self.rate
        if self.complete and self.position >= self.length:
            self.ended_at = self.silent_at

    def _copy(self, block: Samples) -> int:
        n = min(len(block), self.length - self.position)
        block[:n] = self._samples[self.position : self.position + n]
        self.position += n
        return n


class Play(Stage[Chunk | End]):
    """Keeps the tracks and tells what became of them."""

    fault_kind = FaultKind.DEVICE

    def __init__(
        self,
        events: Post,
        speaker: Speaker,
        reference: Reference,
        volume: float = 1.0,
        clock: Clock = time.monotonic,
    ) -> None:
        super().__init__("play", events, capacity=4096)
        self._clock = clock
        self.volume = volume
        """Factor of the voice, 0 to 1; what is buffered already keeps its own."""
        self._speaker = speaker
        self._reference = reference
        self._tracks: dict[int, Track] = {}
        self._current: Track | None = None
        self._chime: Samples = np.zeros(0, np.int16)
        self._chime_at = 0
        self._dropped = -1
        self._blocks = 0
        self._speaker_plays = False
        self.starved = 0
        """Blocks that came out silent because speech was not ready in time."""

    # -- before the start, and when the device is back ------------------------------

    def open(self) -> None:
        """Open the speaker; raises `DeviceError`."""
        self._speaker.start(self.fill, self._failed)
        self._speaker_plays = True
        self._reference.rate = self._speaker.rate

    def reopen(self) -> None:
        """Try again after the speaker was lost (the driver's thread)."""
        self._speaker_plays = False
        self._speaker.stop()
        try:
            self.open()
        except DeviceError as error:
            log.warning("%s", error)
            return  # the core counts the attempts and asks again
        self.emit(DeviceFound(self._clock(), Device.SPEAKER))

    @property
    def rate(self) -> int:
        """The speaker's."""
        return self._speaker.rate

    @property
    def xruns(self) -> int:
        """Blocks that the speaker did not get in time."""
        return self._speaker.xruns

    @property
    def progress(self) -> float:
        """Blocks that the speaker took; of a lost speaker it is enough that the thread lives."""
        return self._blocks if self._speaker_plays else self.beat

    def _failed(self, reason: str) -> None:
        self._speaker_plays = False
        log.warning("%s", reason)
        self.emit(DeviceLost(self._clock(), Device.SPEAKER, reason))

    # -- the driver's thread ----------------------------------------------------------

    def let_out(self, turn: int) -> None:
        """Let a turn's speech be heard."""
        track = self._tracks.get(turn)
        if track is not None:
            track.gate = Gate.PLAY
            self._current = track

    def hold(self, turn: int) -> None:
        """Silence, but keep the place."""
        track = self._tracks.get(turn)
        if track is not None:
            track.holds += 1
            track.gate = Gate.HOLD

    def resume(self, turn: int, position: int) -> None:
        """Go on from ``position``."""
        track = self._tracks.get(turn)
        if track is not None:
            track.ended_at = None
            track.seek = position
            track.gate = Gate.PLAY

    def track(self, turn: int) -> Track | None:
        """The speech of a turn while there is any, for whoever watches."""
        return self._tracks.get(turn)

    def drop(self, turn: int) -> None:
        """Silence, and throw the turn away."""
        self._dropped = max(self._dropped, turn)
        track = self._tracks.get(turn)
        if track is not None:
            track.gate = Gate.DROP
        self._wakeup.rouse()

    def chime(self, name: str) -> None:
        """Play an earcon over whatever is heard."""
        self._chime_at = 0
        self._chime = earcon(name, self._speaker.rate)

    # -- the audio callback --------------------------------------------------------------

    def fill(self, block: Samples, at: float) -> None:
        """Write the block that will be heard at ``at``; the reference gets the same."""
        block[:] = 0
        self._blocks += 1
        if self._current is not None:
            self._current.render(block, at)
        self._mix_chime(block)
        self._reference.write(block, at)

    def _mix_chime(self, block: Samples) -> None:
        chime, start = self._chime, self._chime_at
        n = min(len(block), len(chime) - start)
        if n > 0:
            mixed = block[:n].astype(np.int32) + chime[start : start + n]
            block[:n] = np.clip(mixed, -32768, 32767)
            self._chime_at = start + n

    # -- the stage's thread ----------------------------------------------------------------

    def handle(self, message: Chunk | End) -> None:
        """More speech, or its end."""
        if message.turn <= self._dropped:
            return
        track = self._tracks.get(message.turn)
        if isinstance(message, End):
            if track is not None:
                track.complete = True
        else:
            self._add(track or self._new_track(message), message)
        self._look()

    def _new_track(self, chunk: Chunk) -> Track:
        return self._tracks.setdefault(chunk.turn, Track(chunk.turn, chunk.rate))

    def _add(self, track: Track, chunk: Chunk) -> None:
        if chunk.piece != track.piece:
            track.piece, track.piece_start = chunk.piece, track.length
        start = track.piece_start
        words = tuple(SpokenWord(w.text, start + w.start, start + w.end) for w in chunk.words)
        track.append((chunk.samples * self.volume).astype(np.int16))
        self.emit(
            PieceBuffered(self._clock(), chunk.turn, chunk.piece, words, track.length, chunk.rate)
        )

    def idle(self) -> float:
        """Look at the tracks."""
        self._look()
        return _LOOK_S if self._tracks else HEARTBEAT_S

    def _look(self) -> None:
        for track in tuple(self._tracks.values()):
            self._tell_about(track)

    def _tell_about(self, track: Track) -> None:
        if track.started_at is not None and not track.told_start:
            track.told_start = True
            self.emit(PlaybackStarted(track.started_at, track.turn))
        silent = track.silent_at if track is self._current else self._clock()
        if track.gate is Gate.DROP and silent is not None:
            self.emit(PlaybackDropped(silent, track.turn, track.position))
            self._forget(track)
            return
        if track.gate is Gate.HOLD and silent is not None and track.told_holds < track.holds:
            track.told_holds = track.holds
            self.emit(PlaybackHeld(silent, track.turn, track.position))
        self._tell_end(track)

    def _tell_end(self, track: Track) -> None:
        """The end is told when its last sample was heard, not when it was handed over."""
        if track.ended_at is not None and self._clock() >= track.ended_at:
            self.emit(PlaybackDone(track.ended_at, track.turn, track.position))
            self._forget(track)

    def _forget(self, track: Track) -> None:
        self.starved += track.starved
        self._tracks.pop(track.turn, None)
        if self._current is track:
            self._current = None

    def closed(self) -> None:
        """The stage ends: the speaker too."""
        self._speaker.stop()
