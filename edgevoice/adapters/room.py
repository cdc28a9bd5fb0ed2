"""A room in software: loudspeaker, echo, noise and a talker, as Microphone and Speaker.

The device runs in it unchanged.  Each step of 10 ms asks the device for what it plays
from this moment on, lets sound travel, and delivers what the microphone heard in the
10 ms up to this moment.

Live, one thread (``room``) steps to an absolute schedule of the monotonic clock: it is
the sound card, calls the device's two callbacks, and waits for nothing but the clock and
`Room._lock`.  Otherwise nothing happens until `Room.advance`, time is a count of
samples, and the same scene and device give the same samples every time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType

import numpy as np

from edgevoice.adapters.room_acoustics import Signal
from edgevoice.adapters.room_air import Air
from edgevoice.adapters.room_cues import LoudspeakerWatch, Said, Script, Stretch
from edgevoice.adapters.room_path import FULL_SCALE
from edgevoice.adapters.scene import Scene
from edgevoice.adapters.talker import Utterance
from edgevoice.ports import Deliver, Fill, Samples

STEP_S = 0.01

AFTER_ANSWER_S = 3.0
AFTER_SILENCE_S = 8.0
"""Silence that ends the scene when the last line was answered, and when it was not."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What sounded: two int16 channels of one length and one clock, at ``rate``."""

    rate: int
    microphone: Samples
    loudspeaker: Samples
    """As it left the loudspeaker, its distortion and its clock's drift included."""


class _Jack:
    """Where one of the device's two audio callbacks is plugged in."""

    xruns = 0
    """In a room nothing is lost and nothing is late."""

    def __init__(self, rate: int, lock: threading.RLock, opened: Callable[[], None]) -> None:
        self._rate = rate
        self._lock = lock
        self._opened = opened
        self.callback: Callable[[Samples, float], None] | None = None
        self.failed: Callable[[str], None] | None = None

    @property
    def rate(self) -> int:
        """Samples per second."""
        return self._rate

    def stop(self) -> None:
        """Unplug; nothing is called any more when this returns."""
        with self._lock:
            self.callback = self.failed = None

    def _plug_in(
        self, callback: Callable[[Samples, float], None], failed: Callable[[str], None]
    ) -> None:
        with self._lock:
            self.callback, self.failed = callback, failed
            self._opened()


class RoomMicrophone(_Jack):
    """The microphone in the room (`edgevoice.ports.Microphone`)."""

    def start(self, deliver: Deliver, failed: Callable[[str], None]) -> None:
        """Hear the room from now on."""
        self._plug_in(deliver, failed)


class RoomSpeaker(_Jack):
    """The loudspeaker in the room (`edgevoice.ports.Speaker`)."""

    def start(self, fill: Fill, failed: Callable[[str], None]) -> None:
        """Play into the room from now on."""
        self._plug_in(fill, failed)


class Room:
    """A scene, played once.

    ``utterances`` are the scene's lines as `edgevoice.adapters.talker.rehearse` makes
    them at ``microphone_rate``, a multiple of 100.  `finished` is set when the script is
    over and both sides have fallen silent, and after ``limit_s`` in any case.
    """

    def __init__(
        self,
        scene: Scene,
        utterances: Sequence[Utterance],
        *,
        microphone_rate: int = 16_000,
        speaker_rate: int = 16_000,
        live: bool = True,
        limit_s: float = 600.0,
    ) -> None:
        self._lock = threading.RLock()  # guards the sound, and that a stopped jack stays silent
        self.microphone = RoomMicrophone(microphone_rate, self._lock, self._open)
        self.speaker = RoomSpeaker(speaker_rate, self._lock, self._open)
        self.finished = threading.Event()
        self.late_steps = 0
        """Steps that began a whole step late: the machine was too slow for real time."""
        self._air = Air(scene.acoustics, utterances, scene.seed, microphone_rate, speaker_rate)
        self._watch = LoudspeakerWatch(microphone_rate)
        self._script = Script(scene.lines, utterances, self._watch)
        self._tape: list[tuple[Samples, Samples]] = []
        self._live, self._limit_s = live, limit_s
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._epoch, self._steps, self._played = 0.0, 0, 0

    # -- for whoever stages the scene --------------------------------------------------

    def ready(self) -> None:
        """The device is ready: the script begins."""
        with self._lock:
            self._script.ready = self._watch.now

    def advance(self, seconds: float) -> None:
        """Let time pass as fast as can be, in a room that is not live."""
        assert not self._live, "a live room keeps its own time"
        for _ in range(round(seconds / STEP_S)):
            self._step()

    def close(self) -> None:
        """End it; harmless when it has ended."""
        self._closing.set()
        if self._thread and self._thread is not threading.current_thread():
            self._thread.join(timeout=5)

    def __enter__(self) -> Room:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- for the report ----------------------------------------------------------------

    @property
    def recording(self) -> Recording:
        """Everything so far."""
        with self._lock:
            tape = list(self._tape)
        empty = np.zeros(0, np.int16)
        microphone = np.concatenate([empty, *(block[0] for block in tape)])
        loudspeaker = np.concatenate([empty, *(block[1] for block in tape)])
        return Recording(self.microphone.rate, microphone, loudspeaker)

    @property
    def said(self) -> list[Said]:
        """What the talker has said so far; the last of it may still be in the air."""
        with self._lock:
            return list(self._script.said)

    @property
    def device_spoke(self) -> list[Stretch]:
        """When speech left the loudspeaker, in samples of the recording."""
        with self._lock:
            return [Stretch(each.start, each.end) for each in self._watch.speech]

    @property
    def scene_over(self) -> bool:
        """Whether every line was said; not so when `finished` came by the limit."""
        with self._lock:
            return self._script.over

    def time_of(self, sample: int) -> float:
        """Monotonic time of a sample of the recording."""
        return self._epoch + sample / self.microphone.rate

    # -- the sound card ----------------------------------------------------------------

    def _open(self) -> None:
        if self._live and self._thread is None:
            self._epoch = time.monotonic()
            self._thread = threading.Thread(target=self._run, name="room", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        try:
            while not self._closing.is_set():
                self._await_step()
                self._step()
        except Exception as error:  # of a callback; a sound card would break as well
            self._break(f"the room broke: {type(error).__name__}: {error}")

    def _await_step(self) -> None:
        wait = self._epoch + self._steps * STEP_S - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        elif wait < -STEP_S:
            self.late_steps += 1

    def _break(self, reason: str) -> None:
        self.finished.set()
        for failed in (self.microphone.failed, self.speaker.failed):
            if failed:
                failed(reason)

    def _step(self) -> None:
        with self._lock:
            self._play()
            if self._steps:
                self._hear(self._epoch + self._steps * STEP_S)
            self._steps += 1
            if self._is_over():
                self.finished.set()

    def _play(self) -> None:
        """Fill the loudspeaker to the end of this step; its own clock decides how often."""
        rate = self._air.speaker_rate
        while self._played < (self._steps + 1) * STEP_S * rate:
            block = np.zeros(self.speaker.rate // 100, np.int16)
            if self.speaker.callback:
                self.speaker.callback(block, self._epoch + self._played / rate)
            self._air.play(block)
            self._played += len(block)

    def _hear(self, now: float) -> None:
        leaving = self._air.propagate()
        self._watch.hear(leaving)
        self._let_talk()
        heard = _digital(self._air.heard(self._watch.speaking))
        self._tape.append((heard, _digital(leaving)))
        if self.microphone.callback:
            self.microphone.callback(heard.copy(), now)

    def _let_talk(self) -> None:
        """Begin the next line if it is due before the end of this block."""
        due = self._script.due()
        if due is not None and due.onset - due.lead < self._watch.now:
            level_db = self._air.speak(due.line, due.onset, due.lead, due.level_db)
            self._script.say(due, level_db)

    def _is_over(self) -> bool:
        if self._steps * STEP_S >= self._limit_s:
            return True
        if self._script.ready is None or not self._script.over:
            return False
        return self._script.quiet >= (AFTER_ANSWER_S if self._script.answered else AFTER_SILENCE_S)


def _digital(signal: Signal) -> Samples:
    """As an analogue-digital converter has it: rounded, and clipped at full scale."""
    return np.clip(np.rint(signal * FULL_SCALE), -FULL_SCALE, FULL_SCALE - 1).astype(np.int16)
