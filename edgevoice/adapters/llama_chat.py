"""A conversation as a GGUF model reads it: by its own chat template, in its tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from edgevoice.core.commands import Message
from edgevoice.errors import EngineError, ModelError

_REMEMBERED = 256
"""Parts of prompts whose tokens are kept: more than the messages that a window holds."""

_MARK = "\ue000"
"""Stands for a text in a template: of a private use area, and in no vocabulary."""


class LlamaChat:
    """The chat template and the vocabulary of ``llama``, which is the library's `Llama`.

    ``api`` is the library, ``model`` the file it was loaded from.  Raises
    `edgevoice.errors.ModelError` when there is no template in it.
    """

    def __init__(self, api: Any, llama: Any, model: Path) -> None:
        self._api, self._llama = api, llama
        self._vocabulary = api.llama_model_get_vocab(llama.model)
        self._format = self._formatter(model)
        self._borders = self.borders()
        self.tokens_of = lru_cache(_REMEMBERED)(self._tokens_of)

    def render(self, messages: Sequence[Message], *, answer: bool) -> str:
        """The text of ``messages``, and with ``answer`` what opens one to them."""
        self._format.add_generation_prompt = answer
        chat = [{"role": message.role, "content": message.text} for message in messages]
        try:
            return str(self._format(messages=chat).prompt)
        except Exception as error:  # a template may raise anything
            raise EngineError(f"the language model's chat template failed ({error})") from error

    def around_last(self, messages: Sequence[Message]) -> tuple[str, str] | None:
        """What stands before and after the last text, if the template leaves the text as it is."""
        marked = [*messages[:-1], replace(messages[-1], text=_MARK)]
        before, _, after = self.render(marked, answer=True).partition(_MARK)
        whole = before + messages[-1].text + after
        return (before, after) if whole == self.render(messages, answer=True) else None

    def tokenise(self, prompt: str) -> list[int]:
        """The tokens of ``prompt``, of which only what is new is tokenised: the last message."""
        pieces = self._borders.split(prompt)
        tokens = [token for piece in pieces for token in self.tokens_of(piece)]
        room = int(self._llama.n_ctx())
        if len(tokens) >= room:
            raise EngineError(
                f"a conversation of {len(tokens)} tokens does not fit the language model's "
                f"window of {room}",
                "raise context_tokens or shorten the system prompt",
            )
        return tokens

    def _tokens_of(self, piece: str) -> tuple[int, ...]:
        return tuple(self._llama.tokenize(piece.encode(), add_bos=False, special=True))

    def ends(self, token: int) -> bool:
        """Whether an answer ends with it."""
        return bool(self._api.llama_vocab_is_eog(self._vocabulary, token))

    def endings(self) -> list[int]:
        """A sentence or a message: ".", "?", "!" with what may stick to them, and end markers."""
        text = self._api.llama_vocab_get_text
        return [
            token
            for token in range(self._llama.n_vocab())
            if text(self._vocabulary, token)[:1] in (b".", b"?", b"!") or self.ends(token)
        ]

    def borders(self) -> re.Pattern[str]:
        """Where a control token begins, which is where no other token goes on.

        Not those that take away the spaces before them.
        """
        spaces = self._api.LLAMA_TOKEN_ATTR_LSTRIP
        marks = [
            self._spelt(token)
            for token in range(self._llama.n_vocab())
            if self._api.llama_vocab_is_control(self._vocabulary, token)
            and not self._api.llama_vocab_get_attr(self._vocabulary, token) & spaces
        ]
        return re.compile("|".join(f"(?={re.escape(mark)})" for mark in marks if mark) or "(?!)")

    def _formatter(self, model: Path) -> Any:
        from llama_cpp.llama_chat_format import Jinja2ChatFormatter

        template = self._llama.metadata.get("tokenizer.chat_template")
        if template is None:
            raise ModelError(
                f"language model {model} has no chat template", "use an instruct model"
            )
        return Jinja2ChatFormatter(
            template, self._spelt(self._llama.token_eos()), self._spelt(self._llama.token_bos())
        )

    def _spelt(self, token: int) -> str:
        """Text of a special token; -1 is the one a model does not have."""
        if token < 0:
            return ""
        return str(self._api.llama_vocab_get_text(self._vocabulary, token).decode())
