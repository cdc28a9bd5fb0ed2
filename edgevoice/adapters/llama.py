"""Language models by llama.cpp."""

from __future__ import annotations

import codecs
import json
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from itertools import chain, count, islice, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from edgevoice.adapters import llama_tools
from edgevoice.adapters.llama_chat import LlamaChat
from edgevoice.adapters.llama_context import BATCH, LlamaContext
from edgevoice.core.commands import Message
from edgevoice.errors import EngineError, ModelError
from edgevoice.ports import Call, Offer

_LONGEST_CALL = 128
"""Tokens of a call."""

_ERROR = 4
"""GGML_LOG_LEVEL_ERROR"""


@dataclass(frozen=True)
class _Begun:
    """The answer to a prompt, as far as the step that has read the prompt brought it."""

    prompt: list[int]
    tokens: list[int]
    """Of the answer, one or more: all but the last are in the KV cache."""
    sampler: Any
    """It has sampled these."""


class LlamaModel:
    """A GGUF model with its own chat template, for one thread at a time.

    The conversation stays in the KV cache: a prompt that continues the last one,
    as every turn does, costs only its new tokens.

    ``context_tokens`` is the window for prompt and answer together,
    ``max_tokens`` the longest answer.  ``temperature`` 0 always takes the most
    likely token, ``repeat_penalty`` 1 is none.  With a thread for
    every core, each other thread that runs delays all of them at every step.
    ``threads_ahead`` read ahead, while the recogniser is at work.

    Raises `edgevoice.errors.ModelError` when the file is missing or broken.
    """

    def __init__(
        self,
        model: Path,
        *,
        context_tokens: int,
        threads: int,
        threads_ahead: int,
        max_tokens: int,
        temperature: float,
        repeat_penalty: float,
        seed: int = 0,
    ) -> None:
        self._llama = _load(model, context_tokens, threads)
        self._threads, self._threads_ahead = threads, threads_ahead
        self._llama.set_seed(seed)  # the constructor takes 0 for "any"
        self._api = _library().api
        self._context = LlamaContext(self._api, self._llama)
        self._begun: _Begun | None = None
        """What the last step has begun; the next one ends that."""
        self._guess: list[int] = []
        """Tokens with which the answer may begin."""
        self._chat = LlamaChat(self._api, self._llama, model)
        self._endings = self._chat.endings()
        self._max_tokens = max_tokens
        self._sampling = {"temp": temperature, "repeat_penalty": repeat_penalty}
        self._offers: Sequence[Offer] = ()
        self._grammar: Any = None

    @property
    def tools(self) -> Sequence[Offer]:
        """What the model may call."""
        return self._offers

    @tools.setter
    def tools(self, offers: Sequence[Offer]) -> None:
        self._offers = offers
        if offers:
            grammar = json.dumps(llama_tools.schema(offers))
            self._grammar = self._api.LlamaGrammar.from_json_schema(grammar, verbose=False)

    @property
    def context_tokens(self) -> int:
        """The window, for prompt and answer together."""
        return int(self._llama.n_ctx())

    def count_tokens(self, text: str) -> int:
        """Tokens of ``text`` in this model's vocabulary."""
        return len(self._llama.tokenize(text.encode(), add_bos=False))

    def reply(
        self, messages: Sequence[Message], cancelled: Callable[[], bool]
    ) -> Iterator[str | Call]:
        """Yield the answer piece by piece; stop soon after ``cancelled`` is true.

        A call of a tool is the last piece.

        It looks at ``cancelled`` between tokens, and all the time while it reads
        the prompt.  Raises `edgevoice.errors.EngineError` when the conversation
        does not fit the window or the model fails.
        """
        prompt = self._prompt(messages, answer=True)
        room = min(self._max_tokens, self.context_tokens - len(prompt))
        tokens = islice(self._answer(prompt, cancelled), room)
        if self._offers:
            yield from self._text_or_call(prompt, tokens, cancelled)
        else:
            yield from self._text(tokens)

    def prefill(self, messages: Sequence[Message], cancelled: Callable[[], bool]) -> None:
        """Read ``messages`` ahead of a `reply` that begins with them.

        The last message may still grow: what it shares with the reply's is used.
        It looks at ``cancelled`` between steps of `BATCH` tokens; a step that was begun
        is finished, for it is needed anyway.
        """
        prompt = self._prompt(messages, answer=False)
        with self._threads_left_to_others(), _failing(_never):
            for end in range(self._context.cached(prompt) + BATCH, len(prompt) + BATCH, BATCH):
                if cancelled():
                    return
                read = prompt[:end]
                self._begun = None
                self._context.read(read, [len(read) - 1])

    def anticipate(
        self, messages: Sequence[Message], tokens: int, cancelled: Callable[[], bool]
    ) -> Iterator[None]:
        """Guess the first ``tokens`` of the answer, as if nothing were to follow ``messages``.

        The next time that an answer is begun, to more words than these, the guess is read with
        them and checked, in one step: as far as it was right, that step brings as many tokens
        of the answer.  That is speculative decoding (Leviathan et al. 2023); the draft comes
        from the model itself, while it had nothing else to do.  It yields after each step.
        """
        prompt = self._prompt(messages, answer=True)
        if self._begun is not None and self._begun.prompt == prompt:  # it will be asked at once
            return
        guess: list[int] = []
        answer = self._following(prompt)
        while len(guess) < tokens:
            with self._threads_left_to_others(), self._broken_off_by(cancelled):
                token = next(answer)
            if cancelled():
                return
            yield
            guess.append(token)
            self._guess = guess

    def whole(self, messages: Sequence[Message], cancelled: Callable[[], bool]) -> float | None:
        """Probability that the last of ``messages`` is whole as it stands.

        It is what the model gives, as the next token, to whatever ends a sentence or a
        message.  None when ``cancelled`` became true, or the chat template changes the text
        or puts a long text behind it.
        The answer is begun in the same step: the first token of a `reply` to the same
        ``messages`` costs none.
        """
        around = self._chat.around_last(self._with_tools(messages))
        if around is None:
            return None
        before, after = around
        said = before + messages[-1].text
        text, prompt = self._chat.tokenise(said), self._chat.tokenise(said + after)
        end = len(text) - 1
        if len(prompt) - end > BATCH // 2:  # with a guess it must fit into one step
            return None
        with self._broken_off_by(cancelled):
            if prompt[: len(text)] == text:
                self._begin(prompt, end)
            else:  # a token goes over the end of the text
                self._begun = None
                self._context.read(text, [end])
            return self._context.probability(end, self._endings)
        return None

    @contextmanager
    def _broken_off_by(self, cancelled: Callable[[], bool]) -> Iterator[None]:
        """A step that leaves no result when ``cancelled`` is true in the middle of it."""
        with _failing(cancelled), self._context.aborted_by(cancelled):
            yield

    def _threads_left_to_others(self) -> AbstractContextManager[None]:
        return self._context.threads(self._threads_ahead, afterwards=self._threads)

    def _prompt(self, messages: Sequence[Message], *, answer: bool) -> list[int]:
        text = self._chat.render(self._with_tools(messages), answer=answer)
        return self._chat.tokenise(text)

    def _with_tools(self, messages: Sequence[Message]) -> Sequence[Message]:
        return llama_tools.with_tools(messages, self._offers) if self._offers else messages

    def _answer(
        self, prompt: list[int], cancelled: Callable[[], bool], grammar: Any = None
    ) -> Iterator[int]:
        """Tokens of the answer to ``prompt``, without the one that ends it."""
        for token in self._tokens(prompt, cancelled, grammar):
            if cancelled() or self._chat.ends(token):
                return
            yield token

    def _tokens(
        self, prompt: list[int], cancelled: Callable[[], bool], grammar: Any = None
    ) -> Iterator[int]:
        """What follows ``prompt``, of which what is not in the KV cache is read first.

        Ends when ``cancelled`` is true while it reads.  Not while it answers: hundreds of
        calls into Python for each token would have to wait for whoever holds the interpreter.
        """
        answer = self._following(prompt, grammar)
        with self._broken_off_by(cancelled):
            first = next(answer)
        if not cancelled():
            yield first
            with _failing(cancelled):
                yield from answer

    def _following(self, prompt: list[int], grammar: Any = None) -> Iterator[int]:
        """All tokens that follow ``prompt``; asked for one after its end, it goes on."""
        begun = self._begun
        if begun is None or begun.prompt != prompt:
            begun = self._begin(prompt, grammar=grammar)
        self._begun = None
        yield from begun.tokens
        token = begun.tokens[-1]
        for end in count(len(prompt) + len(begun.tokens) - 1):
            self._context.add(token)
            token = self._context.sample(begun.sampler, end)
            yield token

    def _begin(self, prompt: list[int], *wanted: int, grammar: Any = None) -> _Begun:
        """Read ``prompt``, and in the same step the answer's beginning as it was guessed.

        A result is had at the position ``wanted``, too.
        """
        guess, self._guess, self._begun = self._guess, [], None
        guess = guess[: self.context_tokens - len(prompt)]
        ends = range(len(prompt) - 1, len(prompt) + len(guess))
        self._context.read([*prompt, *guess], [*wanted, *ends])
        sampler = self._context.sampler(**self._sampling, grammar=grammar)
        tokens: list[int] = []
        for position, guessed in zip_longest(ends, guess):
            tokens.append(self._context.sample(sampler, position))
            if tokens[-1] != guessed:
                break
        self._context.shorten(len(prompt) + len(tokens) - 1)
        self._begun = _Begun(prompt, tokens, sampler)
        return self._begun

    def _text_or_call(
        self, prompt: list[int], tokens: Iterator[int], cancelled: Callable[[], bool]
    ) -> Iterator[str | Call]:
        """The answer, which is a call if it begins like one."""
        head: list[int] = []
        text = ""
        for token in tokens:
            head.append(token)
            text = self._llama.detokenize(head, special=True).decode(errors="replace")
            if llama_tools.begins(text) or not llama_tools.may_begin(text):
                break
        if not llama_tools.begins(text):
            yield from self._text(chain(head, tokens))
            return
        call = llama_tools.read_call(self._call(prompt, cancelled), self._offers)
        if call is not None:
            yield call

    def _call(self, prompt: list[int], cancelled: Callable[[], bool]) -> str:
        """What the model calls; the grammar ends it when it is complete."""
        start = [*prompt, *self._chat.tokens_of(f"{llama_tools.BEGIN}\n")]
        room = min(_LONGEST_CALL, self.context_tokens - len(start))
        tokens = self._answer(start, cancelled, grammar=self._grammar)
        return "".join(self._text(islice(tokens, room)))

    def _text(self, tokens: Iterator[int]) -> Iterator[str]:
        """Whole characters; a token may end in the middle of one."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        for token in tokens:
            if piece := decoder.decode(self._llama.detokenize([token])):
                yield piece


@contextmanager
def _failing(cancelled: Callable[[], bool]) -> Iterator[None]:
    """A step that was broken off leaves no result; one that fails for itself is an error."""
    try:
        yield
    except RuntimeError as error:
        if not cancelled():
            raise EngineError(f"the language model failed ({error})") from error


def _never() -> bool:
    return False


def _load(model: Path, context_tokens: int, threads: int) -> Any:
    if not model.is_file():
        raise ModelError(f"language model {model} is missing", "fetch the models again")
    library = _library()
    library.errors.clear()
    try:
        return library.api.Llama(
            str(model),
            n_ctx=context_tokens,
            n_batch=BATCH,
            n_ubatch=BATCH,
            n_threads=threads,
            n_threads_batch=threads,
            verbose=False,
        )
    except Exception as error:
        raise ModelError(
            f"language model {model} cannot be loaded ({_reason(library.errors, error)})",
            "fetch the models again",
        ) from error


def _reason(errors: Sequence[str], error: Exception) -> str:
    """The first complaint is the cause, without the function that makes it."""
    return errors[0].partition(": ")[2] or errors[0] if errors else str(error)


class _Library(NamedTuple):
    api: Any
    errors: deque[str]
    """What llama.cpp complained about last."""
    log: Any
    """Its log callback, which must outlive every model."""


@cache
def _library() -> _Library:
    """Import llama.cpp; nothing of it goes to standard error."""
    # Its threads wait for one another hundreds of times per token, and spin while they do; if
    # another thread has the core, that is for nothing.  With this they soon sleep: two threads
    # on two cores take 10 ms a token undisturbed either way, and with one core busy 43 ms at
    # p90 instead of 156.  OpenMP reads it once, when it is loaded.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    import llama_cpp
    from llama_cpp import _internals, llama

    errors: deque[str] = deque(maxlen=8)

    def keep_errors(level: int, text: bytes, _: object) -> None:
        if level == _ERROR:
            errors.append(text.decode(errors="replace").strip())

    log = llama_cpp.llama_log_callback(keep_errors)
    llama_cpp.llama_log_set(log, None)
    # To keep it quiet the library points the whole process's standard output and error
    # at /dev/null for a while, and so loses what other threads write there.
    for module in (_internals, llama):
        module.suppress_stdout_stderr = lambda disable: nullcontext()
    return _Library(llama_cpp, errors, log)
