"""Echo cancellation and high-pass of WebRTC."""

from __future__ import annotations

from edgevoice.core.events import RATE
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
