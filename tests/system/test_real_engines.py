"""A question over the socket, and the real engines' answer out of the loudspeaker."""

import pytest

from edgevoice.engines import Workshop
from edgevoice.settings.schema import Settings
from edgevoice.system.client import Client
from tests.adapters.engines import model
from tests.patience import until
from tests.system.house import House

pytestmark = pytest.mark.engines


def test_a_question_over_the_socket_is_answered_aloud(path):
    model("smollm2-135m-instruct-q4_1", "llm")
    engines = Workshop(Settings()).all()
    with (
        House(path, words=True, engines=engines, pace_s=0.018).running() as house,
        Client(str(path)) as daemon,
    ):
        question = "What is the capital of France?"
        told = daemon.request("ask", text=question, wait=True, patient=True)
        status = daemon.request("status")
        until(lambda: house.witness.turns)
    assert told["outcome"] == "completed"
    assert "Paris" in told["transcript"]
    assert house.outside.played > 8000, "half a second of voice"
    (turn,) = status["turns"]
    assert turn["turnId"] == told["turnId"]
    assert {"llmFirstToken", "ttsFirstAudio"} <= set(turn["latenciesMs"])
    assert status["metrics"]["errors"] == 0
