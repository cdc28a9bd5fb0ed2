"""Echo cancellation and high-pass of WebRTC."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from edgevoice.core.events import RATE
from edgevoice.errors import ConfigError
from edgevoice.ports import FRAME, EchoFiltered, Samples


class WebRtcEchoCanceller:
    """AEC3 on 10 ms frames of 16 kHz mono; keep one for the daemon's life.

    The filter needs about a second of echo before it holds, so a new canceller
    leaks the first words of an answer: never make or reset one between turns.
    What comes out is high-passed and 8 ms late.

    ``delay_ms`` is a hint of how much later than the reference the echo arrives;
    AEC3 finds the true delay itself.
    """

    def __init__(self, delay_ms: int = 0) -> None:
        from pywebrtc_audio import EchoCanceller

        self._canceller = EchoCanceller(RATE, 1, delay_ms)

    def process(self, near: Samples, far: Samples) -> Samples:
        """Cancel ``far`` in ``near``: `edgevoice.ports.FRAME` samples of each."""
        return self._canceller.process(near, far)


class LivekitEchoCanceller:
    """AEC3 as the package ``livekit`` builds it; otherwise like `WebRtcEchoCanceller`.

    In the rooms of `bench.echo` it alone leaves up to 7 dB less of an echo (drift of 100 ppm:
    -64 dB against -59; distortion 4: -37 both) and takes 30 MB more.  The linear filter
    beside it makes most of that up.

    Raises `edgevoice.errors.ConfigError` when the package is not installed.
    """

    def __init__(self, delay_ms: int = 0) -> None:
        try:
            from livekit.rtc import AudioFrame, AudioProcessingModule
        except ImportError as error:
            raise ConfigError(
                "audio.echo: livekit: its package is not installed",
                f"run '{sys.executable} -m pip install livekit', or use webrtc",
            ) from error
        self._frame = AudioFrame
        self._canceller = AudioProcessingModule(echo_cancellation=True)
        self._canceller.set_stream_delay_ms(delay_ms)

    def process(self, near: Samples, far: Samples) -> Samples:
        """Cancel ``far`` in ``near``: `edgevoice.ports.FRAME` samples of each."""
        self._canceller.process_reverse_stream(self._wrapped(far))
        cancelled = self._wrapped(near)
        self._canceller.process_stream(cancelled)
        return np.array(cancelled.data, np.int16)

    def _wrapped(self, samples: Samples) -> Any:
        return self._frame(samples.tobytes(), RATE, 1, FRAME)


class WebRtcHighPass:
    """The high-pass that WebRTC puts before its echo canceller, about 100 Hz."""

    def __init__(self) -> None:
        from pywebrtc_audio import AudioProcessor

        self._processor = AudioProcessor(RATE, 1, high_pass_filter=True)

    def process(self, near: Samples) -> Samples:
        """The same number of samples, any multiple of `edgevoice.ports.FRAME`; not delayed."""
        return self._processor.process(near)


class Passthrough:
    """For headphones, and for hardware that cancels the echo itself."""

    def process(self, near: Samples, far: Samples) -> Samples:
        """Return ``near`` as it is."""
        return near


class NoEchoFilter:
    """The filter that goes with `Passthrough`."""

    block = 2 * FRAME
    delay_ms = 0.0

    def process(self, near: Samples, far: Samples) -> EchoFiltered:
        """Return ``near`` as it is."""
        return EchoFiltered(near, 0.0)

    def forget(self) -> None:
        """Nothing was learned."""
