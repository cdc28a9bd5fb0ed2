"""Think: the language model.

Thread ``think``.  Commanded by the driver: a prompt through the inbox, a
cancellation by one word that the model's loop reads after every token.  Owns
the language model.  Blocks while the model computes.  It thinks while the user
still speaks, so it yields the processor to those who listen.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable

from edgevoice.core.commands import Generate, JudgeWords, Prefill
from edgevoice.core.events import FaultKind, ReplyDone, Token, ToolCalled, WordsVerdict
from edgevoice.ports import Call, LanguageModel
from edgevoice.runtime.stage import Post, TurnStage

_STEP_BACK = 5
"""Steps of niceness: a third of the processor time when another thread wants the same core."""

_IN_TIME_S = 0.25
"""From the recogniser's last word, 0.2 to 0.31 s into the silence, to the end of a wait of 0.6 s
it is 0.29 s at the least."""

_TOO_OFTEN = 3
"""One verdict after the other that came too late."""

_REST_S = 600.0
"""Then none is asked for: the model may be too large, or the machine busy for a while."""

log = logging.getLogger(__name__)

Order = Generate | Prefill | JudgeWords


class Think(TurnStage[Order]):
    """Answers prompts, one after the other, reads them ahead, and tells whether they are whole."""

    fault_kind = FaultKind.LLM

    def __init__(self, events: Post, model: LanguageModel) -> None:
        super().__init__("think", events, capacity=16)
        self._model = model
        self._late_verdicts = 0
        self._rests_until = 0.0

    def opened(self) -> None:
        """Step back behind the other threads; those that the model starts inherit it."""
        thread = threading.get_native_id()
        niceness = os.getpriority(os.PRIO_PROCESS, thread)
        os.setpriority(os.PRIO_PROCESS, thread, min(19, niceness + _STEP_BACK))

    def handle(self, message: Order) -> None:
        """A prompt, or a look at one that is still growing: the next look will do as well.

        What is read ahead is of use to any later prompt, so no turn calls it off.
        """
        if isinstance(message, Generate):
            super().handle(message)
            return
        self._turn = message.turn
        if isinstance(message, JudgeWords):
            self._judge(message)
        elif not self._inbox:
            self._read_ahead(message)

    def _read_ahead(self, prompt: Prefill) -> None:
        self._model.prefill(prompt.messages, self._has_better_to_do)
        if prompt.opening and not self._has_better_to_do():
            guess = self._model.anticipate(prompt.messages, prompt.opening, self._has_better_to_do)
            deque(guess, maxlen=0)

    def _judge(self, words: JudgeWords) -> None:
        """Before the answer to the same words, which waits behind it and uses what it has read.

        A model so large that its verdict comes too late would only delay the answer.
        """
        began = time.monotonic()
        if began < self._rests_until:
            return
        whole = self._model.whole(words.messages, self._is_stopped)
        if whole is not None:
            self.emit(WordsVerdict(time.monotonic(), words.turn, whole, words.until))
        ended = time.monotonic()
        self._late_verdicts = self._late_verdicts + 1 if ended - began > _IN_TIME_S else 0
        if self._late_verdicts == _TOO_OFTEN:
            self._late_verdicts, self._rests_until = 0, ended + _REST_S
            log.info(
                "the language model is too slow to judge whether words are whole: "
                "rules do it for the next %d minutes",
                _REST_S // 60,
            )

    def _is_stopped(self) -> bool:
        self.beat = time.monotonic()  # whoever asks is alive
        return self.stopping

    def _has_better_to_do(self) -> bool:
        return self._is_stopped() or bool(self._inbox)

    def work(self, message: Order, cancelled: Callable[[], bool]) -> None:
        """Answer one prompt."""
        assert isinstance(message, Generate)
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
