"""Tools for a language model: told, asked for, and read."""

from __future__ import annotations

import json
from pathlib import Path

import fastjsonschema
import pytest

from edgevoice.adapters import llama_tools
from edgevoice.adapters.llama import LlamaModel
from edgevoice.core.commands import Message
from edgevoice.ports import Call, Offer
from tests.adapters.engines import model

TIMER = Offer(
    "timer_set",
    "Set a timer.",
    {
        "type": "object",
        "properties": {
            "minutes": {"type": "number", "minimum": 0, "maximum": 180},
            "name": {"type": "string", "maxLength": 20},
        },
        "required": ["minutes"],
        "additionalProperties": False,
    },
)
LAMP = Offer(
    "lamp",
    "Switch the lamp.",
    {
        "type": "object",
        "properties": {"state": {"enum": ["on", "off"]}},
        "required": ["state"],
        "additionalProperties": False,
    },
    long_running=True,
)
OFFERS = [TIMER, LAMP]


def test_tools_stand_in_the_system_prompt_behind_the_owners_words() -> None:
    system, user = llama_tools.with_tools(
        [Message("system", "Be kind."), Message("user", "hello")], OFFERS
    )
    assert system.text.startswith("Be kind.")
    assert '"name": "lamp"' in system.text
    assert user == Message("user", "hello")


def test_without_a_system_prompt_there_is_one() -> None:
    assert llama_tools.with_tools([Message("user", "hello")], OFFERS)[0].role == "system"


@pytest.mark.parametrize("text", ["", " ", "<", "\n<tool", "<tool_call>", "<tool_call>{"])
def test_what_may_become_a_call(text: str) -> None:
    assert llama_tools.may_begin(text)
    assert llama_tools.begins(text) == ("_call>" in text)


@pytest.mark.parametrize("text", ["H", "<b>", "tool_call", "<tools"])
def test_what_is_words_is_not_held_back(text: str) -> None:
    assert not llama_tools.may_begin(text)


def test_a_call_is_read() -> None:
    text = '{"name": "lamp", "arguments": {"state": "on"}}'
    assert llama_tools.read_call(text, OFFERS) == Call("lamp", {"state": "on"}, True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "7",
        '{"name": "door", "arguments": {}}',
        '{"name": "lamp"}',
        '{"name": "lamp", "arg',
    ],
)
def test_what_is_cut_off_is_no_call(text: str) -> None:
    assert llama_tools.read_call(text, OFFERS) is None


def test_the_schema_takes_a_call_of_a_tool_and_nothing_else() -> None:
    check = fastjsonschema.compile(llama_tools.schema(OFFERS))
    check({"name": "lamp", "arguments": {"state": "on"}})
    for wrong in (
        {"name": "lamp", "arguments": {"minutes": 3}},
        {"name": "door", "arguments": {}},
        {"name": "lamp"},
    ):
        with pytest.raises(fastjsonschema.JsonSchemaValueException):
            check(wrong)


@pytest.fixture(scope="module")
def llm() -> LlamaModel:
    """The real starter model, with tools."""
    path: Path = model("smollm2-135m-instruct-q4_1", "llm")
    loaded = LlamaModel(
        path,
        context_tokens=1024,
        threads=1,
        threads_ahead=1,
        max_tokens=16,
        temperature=0.0,
        repeat_penalty=1.0,
    )
    loaded.tools = OFFERS
    return loaded


ORDERS = ["set a timer for ten minutes", "switch the lamp off", "what is the capital of france"]


@pytest.mark.engines
@pytest.mark.parametrize("said", ORDERS)
def test_once_it_has_begun_a_call_even_a_small_model_can_only_make_one_that_fits(
    llm: LlamaModel, said: str
) -> None:
    """It begins none by itself: here it is made to, by the words in front of the answer."""
    text = llm._call(llm._prompt([Message("user", said)], answer=True), lambda: False)
    call = json.loads(text)
    assert llama_tools.read_call(text, OFFERS) is not None
    fastjsonschema.validate(llama_tools.schema(OFFERS), call)


@pytest.mark.engines
def test_an_answer_that_is_no_call_comes_as_words(llm: LlamaModel) -> None:
    pieces = list(llm.reply([Message("user", "What is the capital of France?")], lambda: False))
    assert all(isinstance(piece, str) for piece in pieces)
    assert "Paris" in "".join(map(str, pieces))


@pytest.mark.engines
def test_an_answer_that_begins_like_a_call_is_one(
    llm: LlamaModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The small model begins none, so its first tokens are given."""
    answer = llm._answer
    begin = llm._llama.tokenize(b"<tool_call>", add_bos=False, special=True)

    def begun(prompt, cancelled, grammar=None):  # type: ignore[no-untyped-def]
        return answer(prompt, cancelled, grammar) if grammar else iter(begin)

    monkeypatch.setattr(llm, "_answer", begun)
    (call,) = llm.reply([Message("user", "set a timer for ten minutes")], lambda: False)
    assert isinstance(call, Call)
    assert call.name in {"timer_set", "lamp"}
