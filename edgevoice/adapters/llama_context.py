"""What a llama.cpp model has read: its KV cache, and the results of its last step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

BATCH = 128
"""Tokens per step.  512 is no faster on a CPU and costs 16 MB more."""


class LlamaContext:
    """The tokens in the KV cache of ``llama``, which is the library's `Llama`, for one thread.

    ``api`` is the library.  Its own ``generate`` keeps the results of the last token alone,
    and reads nothing but a prompt in one step.

    What a step computes may be broken off with `aborted_by`: it raises `RuntimeError`, as
    when the model fails, and what the steps before it have read is still there.
    """

    def __init__(self, api: Any, llama: Any) -> None:
        self._api, self._llama = api, llama
        self._step_began = 0

    def cached(self, tokens: Sequence[int]) -> int:
        """How many of ``tokens``, from the first on, it holds."""
        held = self._llama.input_ids[: self._llama.n_tokens].tolist()
        shared = min(len(held), len(tokens))
        pairs = zip(held, tokens, strict=False)
        return next((i for i, (old, new) in enumerate(pairs) if old != new), shared)

    def read(self, tokens: Sequence[int], wanted: Sequence[int]) -> None:
        """Make it hold ``tokens``, and have results at the positions ``wanted``.

        These are in ascending order and near the end.  What it holds already is not read
        again, but for what a result is wanted of.
        """
        start = min(self.cached(tokens), wanted[0])
        if len(tokens) - start > BATCH:
            self._llama.n_tokens = start
            self._llama.eval(tokens[start : wanted[0]])
            start = wanted[0]
        self._step(tokens[start:], start, wanted)

    def add(self, token: int) -> None:
        """Let it hold one token more; its result is wanted."""
        end: int = self._llama.n_tokens
        self._step([token], end, [end])

    def _step(self, tokens: Sequence[int], start: int, wanted: Sequence[int]) -> None:
        llama = self._llama
        llama.n_tokens = self._step_began = start  # if it fails, this is what is left
        self._api.llama_memory_seq_rm(self._api.llama_get_memory(llama.ctx), -1, start, -1)
        llama._batch.set_batch(tokens, start, logits_all=False)
        for position in wanted:
            llama._batch.batch.logits[position - start] = True
        llama._ctx.decode(llama._batch)
        llama.n_tokens = start + len(tokens)
        llama.input_ids[start : llama.n_tokens] = tokens

    def shorten(self, length: int) -> None:
        """Let it hold no more than the first ``length`` tokens; the results are still there."""
        self._llama.n_tokens = min(length, self._llama.n_tokens)

    def probability(self, position: int, tokens: Sequence[int]) -> float:
        """That one of ``tokens`` follows the token at a position that was wanted."""
        logits = self._api.llama_get_logits_ith(self._llama.ctx, position - self._step_began)
        scores = np.ctypeslib.as_array(logits, (self._llama.n_vocab(),)).astype(np.float64)
        shares = np.exp(scores - scores.max())
        return float(shares[tokens].sum() / shares.sum())

    def sampler(self, **options: Any) -> Any:
        """A sampler, which remembers what it has sampled; the options of the library's."""
        return self._llama._init_sampler(**options)

    def sample(self, sampler: Any, position: int) -> int:
        """What follows the token at a position that was wanted."""
        token: int = sampler.sample(self._llama._ctx, position - self._step_began)
        return token

    @contextmanager
    def threads(self, during: int, afterwards: int) -> Iterator[None]:
        """Compute with so many threads."""
        self._api.llama_set_n_threads(self._llama.ctx, during, during)
        try:
            yield
        finally:
            self._api.llama_set_n_threads(self._llama.ctx, afterwards, afterwards)

    @contextmanager
    def aborted_by(self, cancelled: Callable[[], bool]) -> Iterator[None]:
        """Ask ``cancelled`` at every node of the graph, and break off when it is true."""
        callback = self._api.ggml_abort_callback(lambda _: cancelled())
        self._api.llama_set_abort_callback(self._llama.ctx, callback, None)
        try:
            yield
        finally:
            never = self._api.ggml_abort_callback()
            self._api.llama_set_abort_callback(self._llama.ctx, never, None)
