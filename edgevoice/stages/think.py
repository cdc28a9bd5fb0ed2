"""Think: the language model.

Thread ``think``.  Commanded by the driver: a prompt through the inbox, a
cancellation by one word that the model's loop reads after every token.  Owns
the language model.  Blocks while the model computes.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from edgevoice.core.commands import Generate
from edgevoice.core.events import FaultKind, ReplyDone, Token
from edgevoice.ports import LanguageModel
from edgevoice.runtime.stage import Post, Stage


class Think(Stage[Generate]):
    """Answers prompts, one after the other."""

    fault_kind = FaultKind.LLM

    def __init__(self, events: Post, model: LanguageModel) -> None:
        super().__init__("think", events, capacity=16)
        self._model = model
        self._turn: int | None = None
        self._cancelled = -1

    @property
    def turn(self) -> int | None:
        """The turn that is answered."""
        return self._turn

    def cancel(self, turn: int) -> None:
        """Stop with this turn and all before it (the driver's thread)."""
        self._cancelled = max(self._cancelled, turn)

    def handle(self, message: Generate) -> None:
        """Answer one prompt."""
        self._turn = message.turn
        cancelled = self._cancelled_for(message.turn)
        if cancelled():
            return
        for text in self._model.reply(message.messages, cancelled):
            if cancelled():
                return
            self.beat = time.monotonic()
            self.emit(Token(self.beat, message.turn, text))
        if not cancelled():
            self.emit(ReplyDone(time.monotonic(), message.turn))

    def _cancelled_for(self, turn: int) -> Callable[[], bool]:
        return lambda: self._cancelled >= turn or self.stopping
