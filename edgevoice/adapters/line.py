"""A line: an open PortAudio stream, in one direction or in both, and who watches it.

Threads: PortAudio calls back on a thread of its own for each line; there the
audio is handed over and nothing else is done.  Beside each line runs a small
watching thread, because PortAudio does not tell when a device dies: the
callback merely stays away.  It alone calls ``failed``.

Latency: PyAudio has one knob, the period.  PortAudio asks ALSA for a buffer of
9 ms and one period, which comes to two whole periods on a card and three
through the pulse plugin: 20 or 30 ms at the default period of 10 ms.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from edgevoice.adapters import portaudio
from edgevoice.adapters.sound_devices import IN, RATES, Direction, Found, busy, find
from edgevoice.errors import DeviceError
from edgevoice.ports import Samples

_WATCH_S = 0.1
_DEAD_AFTER_S = 1.0
"""A stream without a callback for so long is dead; a period is a hundredth of it."""
_PLAUSIBLE_S = 1.0
"""Some plugins report no time at all, or one of another clock."""

_CONTINUE, _ABORT = 0, 2  # pyaudio.paContinue and paAbort, which must not be imported yet
_INPUT_LOST, _OUTPUT_LOST = 1 | 2, 4 | 8  # paInput- and paOutput-, -Underflow and -Overflow
_STEREO = 2

_TimeInfo = Mapping[str, float]


class End:
    """One direction of a device: which, how, and who takes or gives its sound."""

    def __init__(self, direction: Direction, device: str, rate: int = 0, channel: int = 1) -> None:
        """``rate`` 0 takes the first of `RATES` that the device accepts; ``channel`` counts from 1.

        Of a microphone, only that channel is heard; a loudspeaker plays mono on all of its own.
        """
        self.direction = direction
        self.device = device
        self.wanted_rate = rate
        self.channel = channel
        self.rate = rate
        """Samples per second; 0 until it was open when it is to be found out."""
        self.xruns = 0
        """Blocks that were lost or came too late, since it was made."""
        self.found: Found | None = None
        """The device that it had at last: it is looked for first when it was lost."""
        self.keep_awake = False
        """Whether silence is played as noise of one bit, for a sink that sleeps in real silence."""
        self.exchange: Callable[[Samples, float], None]
        self.failed: Callable[[str], None]

    def __str__(self) -> str:
        return f'{self.direction.noun} "{self.device}"'

    def find(self, audio: Any) -> Found:
        """The device, as it is numbered now; raises `DeviceError`."""
        return find(audio, self.device, self.direction, self.found.pin if self.found else "")


class Line:
    """A PortAudio stream for one end, or for a microphone and a speaker that are one card."""

    def __init__(self, ends: Sequence[End], period_ms: int, rate: int = 0) -> None:
        """``rate`` is the one to open at; with 0 it is found out."""
        self.ends = tuple(ends)
        self.failed = False
        """Whether it died and its ends were told."""
        self._hears = next((end for end in ends if end.direction is IN), None)
        self._plays = next((end for end in ends if end.direction is not IN), None)
        self._rate = rate
        self._period_ms = period_ms
        self._channels = 1
        self._latency_s = 0.0
        self._beat = 0.0
        self._trouble = ""
        self._audio: Any = None
        self._stream: Any = None
        self._closing = threading.Event()
        self._watcher: threading.Thread | None = None

    def __str__(self) -> str:
        return " and ".join(map(str, self.ends))

    # -- open and close ---------------------------------------------------------------

    def open(self) -> None:
        """Open the stream and watch it; raises `DeviceError` when it cannot be opened."""
        with portaudio.quietly():
            self._connect(portaudio.admit)
        self._watcher = threading.Thread(
            target=self._watch, name=f"watch-{self.ends[0].direction.noun}", daemon=True
        )
        self._watcher.start()

    def close(self) -> None:
        """Close the stream, dropping what is buffered; harmless when it is closed.

        To have the last word heard out, fill 100 ms of silence behind it first.
        """
        self._closing.set()
        if self._watcher and self._watcher is not threading.current_thread():
            self._watcher.join()
        self._watcher = None
        with portaudio.lock:
            self.let_go()

    def let_go(self) -> None:
        """Terminate PortAudio, for a moment or for good.  The caller holds its lock."""
        audio, self._audio, self._stream = self._audio, None, None
        if audio is not None:
            # Not stop_stream() first: that waits for a period that a dead device never ends.
            portaudio.dismiss(self, audio)

    def take_up(self) -> None:
        """Go on where `let_go` stopped; when that fails, the line has failed."""
        try:
            self._connect(portaudio.readmit)
        except DeviceError as error:
            self._trouble = f"is gone ({error.what})"

    def _connect(self, enter: Callable[..., tuple[Any, list[Found]]]) -> None:
        self._audio, found = enter(self, lambda audio: [end.find(audio) for end in self.ends])
        try:
            self._stream = self._opened(found)
            self._prepare()
            self._start(found)
        except BaseException:
            self.let_go()
            raise

    def _opened(self, found: list[Found]) -> Any:
        reason = ""
        for rate in self._rates():
            for channels in self._channel_counts():
                try:
                    stream = self._try(found, rate, channels)
                except OSError as error:
                    self._refuse_busy(error, found)
                    reason = str(error.args[0])
                    continue
                self._rate, self._channels = rate, channels
                return stream
        raise self._no_rate(reason)

    def _rates(self) -> Sequence[int]:
        fixed = self._rate or next((end.wanted_rate for end in self.ends if end.wanted_rate), 0)
        return [fixed] if fixed else RATES

    def _channel_counts(self) -> Sequence[int]:
        """PortAudio adapts mono to most devices by itself; some are stereo and nothing else."""
        needed = max(end.channel for end in self.ends)
        return [needed] if needed >= _STEREO else [needed, _STEREO]

    def _try(self, found: list[Found], rate: int, channels: int) -> Any:
        which: dict[str, Any] = {}
        for end, device in zip(self.ends, found, strict=True):
            flag = end.direction.flag
            which |= {flag: True, f"{flag}_device_index": device.index}
        return self._audio.open(
            rate=rate,
            channels=channels,
            format=portaudio.library().paInt16,
            frames_per_buffer=rate * self._period_ms // 1000,
            stream_callback=self._call_back,
            start=False,
            **which,
        )

    def _refuse_busy(self, error: OSError, found: list[Found]) -> None:
        if portaudio.library().paDeviceUnavailable in error.args:
            pairs = zip(self.ends, found, strict=True)
            by = [holder for end, device in pairs for holder in end.direction.holders(device)]
            raise busy(str(self), list(dict.fromkeys(by))) from error

    def _no_rate(self, reason: str) -> DeviceError:
        rates = self._rates()
        if len(rates) == 1:
            return DeviceError(
                f"{self} does not open at {rates[0]} Hz ({reason})",
                "leave its rate at 0 to have one found that it takes",
            )
        return DeviceError(
            f"{self} opens at none of {', '.join(map(str, rates))} Hz ({reason})",
            "is it still plugged in? else choose another device",
        )

    def _prepare(self) -> None:
        """Make what the callback needs, now that the rate is known."""
        for end in self.ends:
            end.rate = self._rate
        self._block: Samples = np.zeros(self._rate * self._period_ms // 1000, np.int16)
        self._silence = bytes(self._block.nbytes * self._channels) if self._plays else None
        self._noise = np.random.default_rng(0).integers(-1, 2, len(self._block), np.int16)
        if self._plays:
            self._latency_s = float(self._stream.get_output_latency())

    def _start(self, found: list[Found]) -> None:
        self._trouble = ""
        self._beat = time.monotonic()
        try:
            self._stream.start_stream()
        except OSError as error:
            raise DeviceError(
                f"{self} does not start ({error.args[0]})",
                "is it still plugged in? else choose another device",
            ) from error
        for end, device in zip(self.ends, found, strict=True):
            end.found = device

    # -- the watching thread ------------------------------------------------------------

    def _watch(self) -> None:
        while not self._closing.wait(_WATCH_S):
            if trouble := self._diagnosis():
                self.failed = True
                for end in self.ends:
                    end.failed(f"{end} {trouble}")
                return

    def _diagnosis(self) -> str:
        stream = self._stream
        if self._trouble or stream is None:
            return self._trouble
        if not stream.is_active():
            return "stopped by itself" if stream is self._stream else ""
        silent = time.monotonic() - self._beat
        return f"gave no sign of life for {silent:.1f} s" if silent > _DEAD_AFTER_S else ""

    # -- the audio thread ---------------------------------------------------------------

    def _call_back(
        self, data: bytes | None, frames: int, times: _TimeInfo, status: int
    ) -> tuple[bytes | None, int]:
        try:
            now = self._beat = time.monotonic()
            played = self._play(self._plays, now, times, status) if self._plays else None
            if self._hears:
                self._hear(self._hears, data or b"", now, times, status)
            return played, _CONTINUE
        except BaseException as error:  # PortAudio must never see it
            self._trouble = f"stopped by an error in its callback: {type(error).__name__}: {error}"
            return self._silence, _ABORT

    def _play(self, end: End, now: float, times: _TimeInfo, status: int) -> bytes:
        end.xruns += bool(status & _OUTPUT_LOST)
        block = self._block
        end.exchange(block, _first_sample_at(now, times, self._latency_s))
        if end.keep_awake and not block.any():
            block = self._noise
        return (block if self._channels == 1 else block.repeat(self._channels)).tobytes()

    def _hear(self, end: End, data: bytes, now: float, times: _TimeInfo, status: int) -> None:
        end.xruns += bool(status & _INPUT_LOST)
        block = np.frombuffer(data, np.int16)[end.channel - 1 :: self._channels]
        end.exchange(block, _last_sample_at(now, times, len(block) / self._rate))


def _last_sample_at(now: float, times: _TimeInfo, length: float) -> float:
    """When the last sample of a block was captured; never later than now."""
    age = times["current_time"] - times["input_buffer_adc_time"]
    return min(now, now - age + length) if 0 < age < _PLAUSIBLE_S else now


def _first_sample_at(now: float, times: _TimeInfo, latency: float) -> float:
    """When the first sample of a block will be heard."""
    ahead = times["output_buffer_dac_time"] - times["current_time"]
    return now + (ahead if 0 < ahead < _PLAUSIBLE_S else latency)
