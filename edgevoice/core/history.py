"""What was said, as the language model gets to see it.

An answer that was cut holds exactly the words that were heard and ends in
`CUT`; what was generated and never heard is not in it, so the model neither
repeats nor relies on it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from edgevoice.core.commands import Message
from edgevoice.core.events import SpokenWord
from edgevoice.core.tuning import HistoryTuning

CUT = "—"
"""Ends an answer that was interrupted."""

Count = Callable[[str], int]
"""Tokens of a text; may guess, but not below the truth by much."""

_MESSAGE_TOKENS = 5
"""What a chat template puts around a message, at most."""

_QUESTION_CHARACTERS = 80
_ANSWER_CHARACTERS = 120
_KEPT_RESULTS = 3
"""Tool results of one question; a model that calls in circles must not fill the window."""

_SUMMARY_SHARE = 0.25
"""Of the room for messages, what the summary of condensed turns may fill."""


def estimate_tokens(text: str) -> int:
    """Four characters a token, the rule of thumb for English in byte-pair vocabularies."""
    return (len(text) + 3) // 4


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and what came of it."""

    question: str
    answer: str
    results: tuple[str, ...] = ()
    """What tools brought in between."""
    lead: str = ""
    """What was said before the tools were asked."""

    def messages(self) -> list[Message]:
        """As the model sees it; nothing for an answer of which nothing was heard."""
        lead = [Message("assistant", self.lead)] if self.lead else []
        answer = [Message("assistant", self.answer)] if self.answer else []
        return [
            Message("user", self.question),
            *lead,
            *(Message("tool", result) for result in self.results),
            *answer,
        ]


class History:
    """The conversation so far; times are seconds of the monotonic clock."""

    def __init__(
        self,
        tuning: HistoryTuning,
        at: float = 0.0,
        count: Count = estimate_tokens,
        summary_heading: str = "Earlier in this conversation:",
    ) -> None:
        self._tuning = tuning
        self._count = count
        self.heading = summary_heading
        self._renewed_at = at
        self._exchanges: list[Exchange] = []
        self._summary: list[str] = []
        self._open: Exchange | None = None
        """A question whose tools have answered, but not the model."""

    def retune(self, tuning: HistoryTuning) -> None:
        """Remember as ``tuning`` says; what does not fit is condensed when it is next looked at."""
        self._tuning = tuning

    # -- what happened -----------------------------------------------------------

    def add(self, question: str, said: str, *, cut: bool = False) -> None:
        """An answer is over: ``said`` are its words that were heard, ``cut`` if not all.

        What was said without a question is no exchange.
        """
        if cut and said:
            said = f"{said.rstrip(' ,;:–—-')}{CUT}"
        begun, self._open = self._begun(question), None
        if question:
            self._exchanges.append(replace(begun, answer=said))

    def begin(self, question: str, said: str) -> None:
        """``said`` was heard before the tools were asked that answer ``question``."""
        begun = self._begun(question)
        self._open = replace(begun, lead=" ".join(filter(None, (begun.lead, said))))

    def tool(self, question: str, result: str) -> None:
        """A tool that was called to answer ``question`` brought ``result``."""
        begun = self._begun(question)
        self._open = replace(begun, results=(*begun.results, result)[-_KEPT_RESULTS:])

    def abandon(self) -> None:
        """What was begun comes to no end: its results are old when the same is asked again."""
        if self._open is not None and self._open.lead:
            self._exchanges.append(self._open)
        self._open = None

    def _begun(self, question: str) -> Exchange:
        """The exchange of ``question``; another one that was begun comes to no end."""
        if self._open is not None and self._open.question != question:
            self.abandon()
        return self._open or Exchange(question, "")

    # -- what the model sees -------------------------------------------------------

    def messages(self, question: str, *, anew: bool = False) -> tuple[Message, ...]:
        """The prompt for ``question``: as much of the past as leaves room for an answer.

        With ``anew`` it is a question that nothing was begun for, even if the
        same was asked just now.
        The oldest exchanges go first; ``question`` itself is cut, from its
        front, only if it alone is too long.  Neighbours of one role are joined,
        because chat templates demand that roles alternate.
        """
        begun = Exchange(question, "") if anew else self._begun(question)
        system = Message("system", self._system_prompt())
        room = self._room() - self._cost(system)
        asked = self._fitted(begun.messages(), room)
        room -= sum(map(self._cost, asked))
        past: list[Message] = []
        for exchange in reversed(self._exchanges):
            messages = exchange.messages()
            room -= sum(map(self._cost, messages))
            if room < 0:
                break
            past[:0] = messages
        return tuple(_joined([system, *past, *asked]))

    def _system_prompt(self) -> str:
        """The owner's prompt, and under it the gist of what was condensed."""
        prompt = self._cut_to(self._tuning.system_prompt, self._room() // 2 - _MESSAGE_TOKENS)
        if not self._summary:
            return prompt
        return "\n".join((prompt, "", self.heading, *self._summary))

    def _room(self) -> int:
        """Tokens for messages; the rest of the window is the answer's."""
        window = self._tuning.context_tokens
        return window - min(self._tuning.answer_tokens, window // 2)

    def _cost(self, message: Message) -> int:
        return self._count(message.text) + _MESSAGE_TOKENS

    def _fitted(self, asked: list[Message], room: int) -> list[Message]:
        """``asked`` as it is, or each of its messages cut to an equal share of ``room``."""
        if sum(map(self._cost, asked)) <= room:
            return asked
        share = room // len(asked) - _MESSAGE_TOKENS
        question, *results = asked
        return [
            Message(question.role, self._cut_to(question.text, share, keep_end=True)),
            *(Message(result.role, self._cut_to(result.text, share)) for result in results),
        ]

    def _cut_to(self, text: str, tokens: int, *, keep_end: bool = False) -> str:
        """As many whole words of ``text`` as fit, from its beginning or its end.

        Of one word that is too long by itself, as many characters.
        """
        if self._count(text) <= tokens:
            return text
        return self._fitting(text.split(), " ", tokens, keep_end) or self._fitting(
            list(text.strip()), "", tokens, keep_end
        )

    def _fitting(self, pieces: list[str], glue: str, tokens: int, keep_end: bool) -> str:
        if keep_end:
            pieces.reverse()
        fitting = bisect_right(
            range(1, len(pieces) + 1), tokens, key=lambda n: self._count(glue.join(pieces[:n]))
        )
        kept = pieces[:fitting]
        return glue.join(reversed(kept) if keep_end else kept)

    # -- renewal ---------------------------------------------------------------------

    @property
    def renewal_at(self) -> float:
        """When old exchanges should be condensed by their age."""
        return self._renewed_at + self._tuning.renew_after_s

    def condense(self, now: float) -> None:
        """Replace old exchanges by their gist: the question and the answer's first sentence.

        The newest ``keep_turns`` stay word for word, fewer when they alone fill
        the window.  Nothing is asked of the language model, so this takes no time.
        """
        self._renewed_at = now
        while len(self._exchanges) > self._tuning.keep_turns or self.is_too_full:
            self._summary.append(_gist(self._exchanges.pop(0)))
            self._trim_summary()

    def _trim_summary(self) -> None:
        room = _SUMMARY_SHARE * self._room()
        while self._summary and self._count("\n".join((self.heading, *self._summary))) > room:
            self._summary.pop(0)

    @property
    def is_too_full(self) -> bool:
        """Whether they should be condensed because the window fills up."""
        used = self._cost(Message("system", self._system_prompt()))
        used += sum(self._cost(m) for exchange in self._exchanges for m in exchange.messages())
        full = used >= self._tuning.renew_at_share * self._room()
        return full and len(self._exchanges) > 1

    # -- what was heard --------------------------------------------------------------

    @staticmethod
    def heard(spoken: Sequence[SpokenWord], position: int) -> str:
        """The words that were heard when ``position`` samples had been played.

        A word counts when its midpoint was played: by then it is understood.
        """
        return " ".join(word.text for word in spoken if word.start + word.end <= 2 * position)

    @staticmethod
    def resume_position(spoken: Sequence[SpokenWord], position: int) -> int:
        """The last word boundary at or before ``position``; 0 when there is none."""
        boundaries = (sample for word in spoken for sample in (word.start, word.end))
        return max((sample for sample in boundaries if sample <= position), default=0)


def _gist(exchange: Exchange) -> str:
    question = _shortened(exchange.question, _QUESTION_CHARACTERS)
    first_sentence = re.split(r"(?<=[.!?])\s", exchange.answer)[0]
    return f"- {question} → {_shortened(first_sentence, _ANSWER_CHARACTERS)}"


def _shortened(text: str, characters: int) -> str:
    if len(text) <= characters:
        return text
    return text[:characters].rsplit(None, 1)[0] + "…"


def _joined(messages: Sequence[Message]) -> list[Message]:
    """Neighbours of one role as one message."""
    joined: list[Message] = []
    for message in messages:
        if joined and joined[-1].role == message.role:
            message = Message(message.role, f"{joined.pop().text}\n{message.text}")
        joined.append(message)
    return joined
