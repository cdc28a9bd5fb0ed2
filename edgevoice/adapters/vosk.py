"""Speech recognition by Vosk."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from edgevoice.core.events import RATE, Word
from edgevoice.errors import ModelError
from edgevoice.ports import Hypothesis, Samples

_STDERR = 2
_UNKNOWN = "[unk]"
"""Stands in a result for what is not in the vocabulary."""


class _Decoder:
    """A decoder of Kaldi's; it ends a segment by itself after half a second of silence or more.

    The segments of an utterance are joined here.
    """

    def __init__(self, kaldi: Any) -> None:
        kaldi.SetWords(True)
        self._kaldi = kaldi
        self._dirty = False
        self.words: list[Word] = []

    def begin(self) -> None:
        if self._dirty:
            # Its Reset() keeps features that are not yet decoded: the end of "set a timer
            # for ten" came up as "ten" in the next utterance.  A final result takes them along.
            self._kaldi.FinalResult()
            self._dirty = False
        self.words.clear()

    def accept(self, audio: Samples) -> None:
        self._dirty = True
        if self._kaldi.AcceptWaveform(audio.tobytes()):
            self._keep(self._kaldi.Result())

    def partial(self) -> list[str]:
        """The words of the segment that goes on; one that has just ended has none."""
        newest: str = json.loads(self._kaldi.PartialResult()).get("partial", "")
        return newest.split()

    def flush(self) -> None:
        self._keep(self._kaldi.FinalResult())
        self._dirty = False

    def _keep(self, result: str) -> None:
        self.words += [
            Word(word["word"], min(float(word["conf"]), 1.0))
            for word in json.loads(result).get("result", ())
        ]


class VoskRecogniser:
    """Vosk on 16 kHz audio in blocks of any length; about 30 ms is a good one.

    ``model`` is the directory of an unpacked model.  What is listened for apart is by a second
    decoder on the same model, which takes a third of the first one's time; a model whose graph
    is of one piece cannot have one.

    Raises `edgevoice.errors.ModelError` when a file of it is missing, empty or
    cut short.  A small text file of it that was *changed* can make Kaldi abort
    the whole process; the checksums of `edgevoice.models` are there for that.
    """

    def __init__(self, model: Path) -> None:
        _require(model)
        self._model, kaldi = _load(model)
        self._all = _Decoder(kaldi)
        self._takes_grammars = (model / "graph" / "HCLr.fst").is_file()
        self._apart: _Decoder | None = None

    def begin(self, apart: Sequence[str] = ()) -> None:
        """Forget everything; a new utterance starts, with phrases to listen for ``apart``."""
        self._all.begin()
        known = [phrase for phrase in apart if self._knows(phrase)]
        self._apart = self._only(known) if known and self._takes_grammars else None

    def accept(self, audio: Samples) -> Hypothesis:
        """Take more audio at 16 kHz; the whole utterance so far comes back."""
        self._all.accept(audio)
        apart: list[Word] = []
        if self._apart is not None:
            self._apart.accept(audio)
            apart = self._apart.words + [Word(word, 1.0) for word in self._apart.partial()]
        return Hypothesis(self._text(*self._all.partial()), apart=_nothing_else(apart))

    def flush(self) -> Hypothesis:
        """The final result of all audio so far, with words; the utterance goes on."""
        self._all.flush()
        words = tuple(word for word in self._all.words if word.text != _UNKNOWN)
        apart: list[Word] = []
        if self._apart is not None:
            self._apart.flush()
            apart = self._apart.words
        return Hypothesis(self._text(), words, _nothing_else(apart))

    def _text(self, *partial: str) -> str:
        words = [word.text for word in self._all.words]
        return " ".join(word for word in [*words, *partial] if word != _UNKNOWN)

    def _only(self, phrases: list[str]) -> _Decoder:
        import vosk

        grammar = json.dumps([*phrases, _UNKNOWN])
        return _Decoder(vosk.KaldiRecognizer(self._model, float(RATE), grammar))

    def _knows(self, phrase: str) -> bool:
        return all(self._model.vosk_model_find_word(word) >= 0 for word in phrase.split())


def _nothing_else(heard: Sequence[Word]) -> tuple[Word, ...]:
    return () if any(word.text == _UNKNOWN for word in heard) else tuple(heard)


def _require(model: Path) -> None:
    """Refuse what would abort the process: Kaldi asserts on an empty configuration."""
    if not (model / "conf" / "model.conf").is_file():
        raise ModelError(f"{model} holds no Vosk model", "fetch the models again")
    for file in model.rglob("*"):
        if file.is_file() and not file.stat().st_size:
            raise ModelError(f"speech model file {file} is empty", "fetch the models again")


def _load(path: Path) -> tuple[Any, Any]:
    """A model and a decoder on it."""
    import vosk

    vosk.SetLogLevel(-1)
    with _captured_stderr() as said:
        try:
            model = vosk.Model(str(path))
            return model, vosk.KaldiRecognizer(model, float(RATE))
        except Exception as error:  # vosk raises nothing more special
            raise ModelError(
                f"speech model {path} cannot be loaded ({_last_line(said) or error})",
                "fetch the models again",
            ) from error


@contextmanager
def _captured_stderr() -> Iterator[IO[bytes]]:
    """Collect what Kaldi writes to the process's standard error.

    It writes there only when it fails, and to nowhere else.
    """
    with tempfile.TemporaryFile() as said:
        before = os.dup(_STDERR)
        os.dup2(said.fileno(), _STDERR)
        try:
            yield said
        finally:
            os.dup2(before, _STDERR)
            os.close(before)


def _last_line(said: IO[bytes]) -> str:
    said.seek(0)
    lines = said.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
