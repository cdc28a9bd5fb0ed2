"""Microphone and speaker on ALSA, through PyAudio and PortAudio.

Threads: PortAudio calls back on a thread of its own for each stream; there the
audio is handed over and nothing else is done.  Beside each open stream runs a
small watching thread, because PortAudio does not tell when a device dies: the
callback merely stays away.  It alone calls ``failed``.

Latency: PyAudio has one knob, the period.  PortAudio asks ALSA for a buffer of
9 ms and one period, which comes to two whole periods on a card and three
through the pulse plugin: 20 or 30 ms at the default period of 10 ms.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from edgevoice.adapters import portaudio
from edgevoice.adapters.portaudio import RATES, Device, Direction, devices, has_capture_device
from edgevoice.errors import DeviceError
from edgevoice.ports import Deliver, Fill, Samples

__all__ = ["RATES", "AlsaMicrophone", "AlsaSpeaker", "Device", "devices", "has_capture_device"]

_WATCH_S = 0.1
_DEAD_AFTER_S = 1.0
"""A stream without a callback for so long is dead; a period is a hundredth of it."""
_PLAUSIBLE_S = 1.0
"""Some plugins report no time at all, or one of another clock."""

_Failed = Callable[[str], None]
_TimeInfo = Mapping[str, float]


class _Stream:
    """An open stream of one direction and the thread that watches it."""

    _direction: ClassVar[Direction]

    def __init__(self, device: str = "default", rate: int = 0, period_ms: int = 10) -> None:
        """Open nothing yet.

        ``device`` is the name of an ALSA pcm (``default``, ``hw:1,0``) or any part of a
        device's name that only one device has.  ``rate`` 0 takes the first of `RATES` that
        the device accepts.  ``period_ms`` is the length of a block and sets the latency.
        """
        self.xruns = 0
        """Overflows and underflows since it was made."""
        self._device = device
        self._wanted = rate
        self._rate = rate
        self._period_ms = period_ms
        self._latency_s = 0.0
        self._beat = 0.0
        self._raised = ""
        self._audio: Any = None
        self._stream: Any = None
        self._closing = threading.Event()
        self._watcher: threading.Thread | None = None

    @property
    def rate(self) -> int:
        """Samples per second; 0 until it is open when it is to be found out."""
        return self._rate

    def stop(self) -> None:
        """Close the stream, dropping what is buffered; harmless when it is closed.

        To have the last word heard out, fill 100 ms of silence behind it first.
        """
        self._closing.set()
        if self._watcher and self._watcher is not threading.current_thread():
            self._watcher.join()
        self._watcher = None
        if self._audio is not None:
            # Not stop_stream() first: that waits for a period that a dead device never ends.
            with portaudio.lock:
                self._audio.terminate()
        self._audio = self._stream = None

    def _call_back(
        self, data: bytes | None, frames: int, times: _TimeInfo, status: int
    ) -> tuple[bytes | None, int]:
        raise NotImplementedError

    def _open(self, failed: _Failed) -> None:
        self.stop()
        with portaudio.quietly():
            self._audio = portaudio.initialised()
            try:
                self._stream = self._opened(self._audio)
                self._prepare()
                self._start_stream()
            except BaseException:
                self._audio.terminate()
                self._audio = self._stream = None
                raise
        self._watch(failed)

    def _opened(self, audio: Any) -> Any:
        index = portaudio.find(audio, self._device, self._direction)
        reason = ""
        for rate in [self._wanted] if self._wanted else RATES:
            try:
                stream = self._try(audio, index, rate)
            except OSError as error:
                self._refuse_busy(error)
                reason = str(error.args[0])
                continue
            self._rate = rate
            return stream
        raise self._no_rate(reason)

    def _try(self, audio: Any, index: int, rate: int) -> Any:
        # Mono always: PortAudio takes the first channel of a device that has only more,
        # and plays mono on both channels of a stereo one.
        return audio.open(
            rate=rate,
            channels=1,
            format=portaudio.library().paInt16,
            frames_per_buffer=rate * self._period_ms // 1000,
            stream_callback=self._call_back,
            start=False,
            **{self._direction.flag: True, f"{self._direction.flag}_device_index": index},
        )

    def _refuse_busy(self, error: OSError) -> None:
        if portaudio.library().paDeviceUnavailable in error.args:
            raise DeviceError(
                f'{self._direction.noun} "{self._device}" is busy',
                "end the program that uses it (fuser -v /dev/snd/* names it)",
            ) from error

    def _no_rate(self, reason: str) -> DeviceError:
        name = f'{self._direction.noun} "{self._device}"'
        if self._wanted:
            return DeviceError(
                f"{name} does not open at {self._wanted} Hz ({reason})",
                "leave its rate at 0 to have one found that it takes",
            )
        tried = ", ".join(map(str, RATES))
        return DeviceError(
            f"{name} opens at none of {tried} Hz ({reason})",
            "is it still plugged in? else choose another device",
        )

    def _prepare(self) -> None:
        """Make what the callback needs, now that the rate is known."""

    def _start_stream(self) -> None:
        self._raised = ""
        self._beat = time.monotonic()
        try:
            self._stream.start_stream()
        except OSError as error:
            raise DeviceError(
                f'{self._direction.noun} "{self._device}" does not start ({error.args[0]})',
                "is it still plugged in? else choose another device",
            ) from error

    def _watch(self, failed: _Failed) -> None:
        self._closing = threading.Event()
        self._watcher = threading.Thread(
            target=self._watch_until_closed,
            args=(self._closing, failed),
            name=f"watch-{self._direction.noun}",
            daemon=True,
        )
        self._watcher.start()

    def _watch_until_closed(self, closing: threading.Event, failed: _Failed) -> None:
        while not closing.wait(_WATCH_S):
            if trouble := self._trouble():
                failed(f'{self._direction.noun} "{self._device}" {trouble}')
                return

    def _trouble(self) -> str:
        if self._raised:
            return f"stopped by an error in its callback: {self._raised}"
        if not self._stream.is_active():
            return "stopped by itself"
        silent = time.monotonic() - self._beat
        return f"gave no sign of life for {silent:.1f} s" if silent > _DEAD_AFTER_S else ""

    def _note(self, now: float, status: int) -> None:
        """Note, on the audio thread, that the device lives and whether it stumbled."""
        self._beat = now
        if status:
            self.xruns += 1


class AlsaMicrophone(_Stream):
    """The `edgevoice.ports.Microphone` on an ALSA device."""

    _direction = portaudio.IN

    def start(self, deliver: Deliver, failed: _Failed) -> None:
        """Open the device; raises `DeviceError` when that cannot be done."""
        self._deliver = deliver
        self._open(failed)

    def _call_back(
        self, data: bytes | None, frames: int, times: _TimeInfo, status: int
    ) -> tuple[bytes | None, int]:
        try:
            now = time.monotonic()
            self._note(now, status)
            block = np.frombuffer(data or b"", np.int16)
            self._deliver(block, _last_sample_at(now, times, frames / self._rate))
        except BaseException as error:  # PortAudio must never see it
            self._raised = f"{type(error).__name__}: {error}"
            return None, _ABORT
        return None, _CONTINUE


class AlsaSpeaker(_Stream):
    """The `edgevoice.ports.Speaker` on an ALSA device."""

    _direction = portaudio.OUT

    def start(self, fill: Fill, failed: _Failed) -> None:
        """Open the device; raises `DeviceError` when that cannot be done."""
        self._fill = fill
        self._open(failed)

    def _prepare(self) -> None:
        self._latency_s = float(self._stream.get_output_latency())
        self._block: Samples = np.zeros(self._rate * self._period_ms // 1000, np.int16)
        self._silence = self._block.tobytes()

    def _call_back(
        self, data: bytes | None, frames: int, times: _TimeInfo, status: int
    ) -> tuple[bytes | None, int]:
        try:
            now = time.monotonic()
            self._note(now, status)
            self._fill(self._block, _first_sample_at(now, times, self._latency_s))
            return self._block.tobytes(), _CONTINUE
        except BaseException as error:  # PortAudio must never see it
            self._raised = f"{type(error).__name__}: {error}"
            return self._silence, _ABORT


_CONTINUE, _ABORT = 0, 2  # pyaudio.paContinue and paAbort, which must not be imported yet


def _last_sample_at(now: float, times: _TimeInfo, length: float) -> float:
    """When the last sample of a block was captured; never later than now."""
    age = times["current_time"] - times["input_buffer_adc_time"]
    return min(now, now - age + length) if 0 < age < _PLAUSIBLE_S else now


def _first_sample_at(now: float, times: _TimeInfo, latency: float) -> float:
    """When the first sample of a block will be heard."""
    ahead = times["output_buffer_dac_time"] - times["current_time"]
    return now + (ahead if 0 < ahead < _PLAUSIBLE_S else latency)
