"""Which engines are built, by the settings."""

import pytest

from edgevoice.adapters import aec
from edgevoice.engines import TRUSTED_BYTES, Workshop
from edgevoice.settings.schema import Audio, Llm, Settings


@pytest.mark.parametrize(
    ("tools", "size", "used"),
    [
        ("auto", TRUSTED_BYTES - 1, False),
        ("auto", TRUSTED_BYTES, True),
        ("off", TRUSTED_BYTES, False),
        ("on", 1, True),
    ],
)
def test_a_small_model_is_not_trusted_with_tools_unless_the_owner_says_so(
    tmp_path, tools, size, used
):
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF")
    with path.open("r+b") as file:
        file.truncate(max(4, size))
    settings = Settings(llm=Llm(model=str(path), tools=tools))
    assert Workshop(settings).model_uses_tools is used


@pytest.mark.parametrize(
    ("echo", "canceller"),
    [
        ("webrtc", aec.WebRtcEchoCanceller),
        ("livekit", aec.LivekitEchoCanceller),
        ("none", aec.Passthrough),
    ],
)
def test_the_echo_canceller_is_the_one_that_was_asked_for(echo, canceller):
    control = Workshop(Settings(audio=Audio(echo=echo))).echo()
    assert type(control._canceller) is canceller
