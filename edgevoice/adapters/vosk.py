"""Speech recognition by Vosk."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from edgevoice.core.events import RATE, Word
from edgevoice.errors import ModelError
from edgevoice.ports import Hypothesis, Samples

_STDERR = 2
_UNKNOWN = "[unk]"
"""Stands in a result for what is not in the vocabulary."""


class VoskRecogniser:
    """Vosk on 16 kHz audio in blocks of any length; about 30 ms is a good one.

    Vosk ends a segment by itself after half a second of silence or more; the
    segments of an utterance are joined here.  ``model`` is the directory of an
    unpacked model.

    Raises `edgevoice.errors.ModelError` when a file of it is missing, empty or
    cut short.  A small text file of it that was *changed* can make Kaldi abort
    the whole process; the checksums of `edgevoice.models` are there for that.
    """

    def __init__(self, model: Path) -> None:
        _require(model)
        self._recogniser = _load(model)
        self._words: list[Word] = []
        self._dirty = False

    def begin(self) -> None:
        """Forget everything; a new utterance starts."""
        if self._dirty:
            # Its Reset() keeps features that are not yet decoded: the end of "set a timer
            # for ten" came up as "ten" in the next utterance.  A final result takes them along.
            self._recogniser.FinalResult()
            self._dirty = False
        self._words.clear()

    def accept(self, audio: Samples) -> Hypothesis:
        """Take more audio at 16 kHz; the whole utterance so far comes back."""
        self._dirty = True
        if self._recogniser.AcceptWaveform(audio.tobytes()):
            self._keep(self._recogniser.Result())
            return Hypothesis(self._text())
        partial = json.loads(self._recogniser.PartialResult())["partial"]
        return Hypothesis(self._text(*partial.split()))

    def flush(self) -> Hypothesis:
        """The final result of all audio so far, with words; the utterance goes on."""
        self._keep(self._recogniser.FinalResult())
        self._dirty = False
        return Hypothesis(self._text(), tuple(self._words))

    def _keep(self, result: str) -> None:
        self._words += [
            Word(word["word"], min(float(word["conf"]), 1.0))
            for word in json.loads(result).get("result", ())
            if word["word"] != _UNKNOWN
        ]

    def _text(self, *partial: str) -> str:
        words = [word.text for word in self._words]
        return " ".join(words + [word for word in partial if word != _UNKNOWN])


def _require(model: Path) -> None:
    """Refuse what would abort the process: Kaldi asserts on an empty configuration."""
    if not (model / "conf" / "model.conf").is_file():
        raise ModelError(f"{model} holds no Vosk model", "fetch the models again")
    for file in model.rglob("*"):
        if file.is_file() and not file.stat().st_size:
            raise ModelError(f"speech model file {file} is empty", "fetch the models again")


def _load(model: Path) -> Any:
    import vosk

    vosk.SetLogLevel(-1)
    with _captured_stderr() as said:
        try:
            recogniser = vosk.KaldiRecognizer(vosk.Model(str(model)), float(RATE))
        except Exception as error:  # vosk raises nothing more special
            raise ModelError(
                f"speech model {model} cannot be loaded ({_last_line(said) or error})",
                "fetch the models again",
            ) from error
    recogniser.SetWords(True)
    return recogniser


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
