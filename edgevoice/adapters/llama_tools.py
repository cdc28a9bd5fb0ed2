"""How a language model is told of tools, and how its calls are read.

The convention is that of Hermes and Qwen: tools are listed in the system prompt, and a
call is JSON between ``<tool_call>`` tags.  It is written as plain text, so that it
works with every chat template.  Once a model has begun a call, a grammar made of the
tools' schemas lets it write nothing but a call of one of them that fits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from edgevoice.core.commands import Message
from edgevoice.ports import Call, Offer

BEGIN = "<tool_call>"

_ABOUT = (
    "You may call one of these tools, and only if the user asks for just that. To call one, "
    "answer with nothing but\n"
    '<tool_call>\n{"name": "…", "arguments": {…}}\n</tool_call>\n'
    "To anything else answer in words.\n"
)


def with_tools(messages: Sequence[Message], offers: Sequence[Offer]) -> list[Message]:
    """``messages`` with the tools in the system prompt."""
    listed = "\n".join(map(_line, offers))
    about = f"{_ABOUT}<tools>\n{listed}\n</tools>"
    first, *others = messages
    if first.role == "system":
        return [Message("system", f"{first.text}\n\n{about}"), *others]
    return [Message("system", about), *messages]


def _line(offer: Offer) -> str:
    function = {
        "name": offer.name,
        "description": offer.description,
        "parameters": offer.parameters["properties"],
    }
    return json.dumps(function, ensure_ascii=False)


def schema(offers: Sequence[Offer]) -> dict[str, Any]:
    """JSON schema of a call of one of the tools."""
    return {"anyOf": [_call_schema(offer) for offer in offers]}


def _call_schema(offer: Offer) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": {"name": {"const": offer.name}, "arguments": offer.parameters},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def may_begin(text: str) -> bool:
    """Whether ``text``, the beginning of an answer, may become a call."""
    return BEGIN.startswith(text.lstrip()[: len(BEGIN)])


def begins(text: str) -> bool:
    """Whether an answer that begins so is a call."""
    return text.lstrip().startswith(BEGIN)


def read_call(text: str, offers: Sequence[Offer]) -> Call | None:
    """The call that ``text`` is; None when it was cut off in the middle."""
    try:
        call = json.loads(text)
        offer = next(offer for offer in offers if offer.name == call["name"])
        return Call(offer.name, dict(call["arguments"]), offer.long_running)
    except (ValueError, TypeError, KeyError, StopIteration, RecursionError):
        return None
