"""Think: the language model.

Thread ``think``.  Commanded by the driver: a prompt through the inbox, a
cancellation by one word that the model's loop reads after every token.  Owns
the language model.  Blocks while the model computes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from edgevoice.core.commands import Generate, Prefill
from edgevoice.core.events import FaultKind, ReplyDone, Token, ToolCalled
from edgevoice.ports import Call, LanguageModel
from edgevoice.runtime.stage import Post, TurnStage


class Think(TurnStage[Generate | Prefill]):
    """Answers prompts, one after the other, and reads them ahead."""

    fault_kind = FaultKind.LLM

    def __init__(self, events: Post, model: LanguageModel) -> None:
        super().__init__("think", events, capacity=16)
        self._model = model

    def work(self, message: Generate | Prefill, cancelled: Callable[[], bool]) -> None:
        """One prompt."""
        if isinstance(message, Prefill):
            self._model.prefill(message.messages, cancelled)
        else:
            self._answer(message, cancelled)

    def _answer(self, prompt: Generate, cancelled: Callable[[], bool]) -> None:
        for piece in self._model.reply(prompt.messages, cancelled):
            if cancelled():
                return
            if isinstance(piece, Call):
                self._ask_for(piece, prompt.turn)
                return
            self.emit(Token(time.monotonic(), prompt.turn, piece))
        if not cancelled():
            self.emit(ReplyDone(time.monotonic(), prompt.turn))

    def _ask_for(self, call: Call, turn: int) -> None:
        """The model wants a tool; there is one call in an answer."""
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        self.emit(ToolCalled(time.monotonic(), turn, 0, call.name, arguments, call.long_running))
