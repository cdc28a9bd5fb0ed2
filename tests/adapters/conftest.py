from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from edgevoice.adapters import cards, portaudio
from tests.adapters.fake_portaudio import FakePortAudio
from tests.virtual_card import VirtualCard, missing, virtual_card

ONLY_48_KHZ = """
# Any other rate would need a converter that does not exist.
pcm.only48 {
    type asym
    capture.pcm {
        type plug
        slave { pcm { type pulse device mic } format S16_LE channels 1 rate 48000 }
        rate_converter "none"
    }
}
"""


@pytest.fixture(scope="session")
def running_card() -> Iterator[VirtualCard]:
    if packages := missing():
        pytest.skip(f"no virtual sound card: apt install {packages}")
    with virtual_card(alsa=ONLY_48_KHZ) as card:
        yield card


@pytest.fixture
def card(running_card: VirtualCard, monkeypatch: pytest.MonkeyPatch) -> VirtualCard:
    """A virtual sound card that PortAudio in this process sees, too."""
    for name, value in running_card.environment.items():
        monkeypatch.setenv(name, value)
    return running_card


@pytest.fixture
def install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[[FakePortAudio], FakePortAudio]:
    """Puts a scripted PortAudio in the place of the real one, on a machine without cards."""

    def install(audio: FakePortAudio) -> FakePortAudio:
        monkeypatch.setattr(portaudio, "library", lambda: audio.library)
        monkeypatch.setattr(portaudio, "_guests", [])  # none of another test's
        monkeypatch.setattr(cards, "ROOT", tmp_path)
        return audio

    return install
