"""Wake words by openWakeWord."""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from edgevoice.errors import ModelError
from edgevoice.ports import Samples

_CHUNK = 1280
_LOOK_BACK = 3 * 160
"""Samples before a chunk that its mel frames reach into."""

_EMBEDDING = 96
_MEMORY = 41
"""Chunks of silence to begin with; the pretrained phrases look at 16, others at up to 34."""

LAG_MS = 200
"""How much earlier than the end of the firing chunk the sound for the recogniser begins.

Measured on 36 sentences ("hey jarvis, what time is it", with and without a pause)
in the joe voice at three speeds, threshold 0.5: the score crosses it 113 ms after
the end of the phrase at the median, 11 and 207 ms at p5 and p95.  From 200 ms
before the end of the firing chunk the recogniser made the fewest errors: 6.4 % of
the words after the phrase, against 10.3 % from 120 ms, 9.0 % from 240 ms, 5.8 %
from the true end of the phrase, and 21.8 % from the firing itself, where the first
word is lost.  At threshold 0.3 it fires 25 ms sooner and 200 ms costs 7.7 %.
"""


class OpenWakeWord:
    """openWakeWord's ONNX models on chunks of 80 ms.

    ``models`` are the phrases to wait for, ``features`` the directory of
    ``melspectrogram.onnx`` and ``embedding_model.onnx``, which they share.

    Raises `edgevoice.errors.ModelError` when one of them is missing or broken.
    """

    def __init__(self, models: Sequence[Path], features: Path) -> None:
        mel = features / "melspectrogram.onnx"
        embedding = features / "embedding_model.onnx"
        _require(*models, mel, embedding)
        self._model = _load(models, mel, embedding)
        for _ in range(_MEMORY):
            self._model.predict(np.zeros(_CHUNK, np.int16))
        heard = self._model.preprocessor
        self._silence = (heard.melspectrogram_buffer, heard.feature_buffer[-_MEMORY:])
        self.reset()

    @property
    def chunk(self) -> int:
        """Samples it wants at 16 kHz."""
        return _CHUNK

    @property
    def lag_ms(self) -> int:
        """How far before the end of the firing chunk the words after the phrase begin."""
        return LAG_MS

    def score(self, audio: Samples) -> tuple[str, float]:
        """Best phrase ("hey_jarvis") and its score, 0 to 1; keeps state."""
        scores: dict[str, float] = self._model.predict(audio)
        best = max(scores, key=scores.__getitem__)
        return _phrase(best), float(scores[best])

    def reset(self) -> None:
        """Forget what was heard; the scores of the next 400 ms are zero."""
        self._model.reset()
        heard = self._model.preprocessor
        heard.melspectrogram_buffer, heard.feature_buffer = self._silence


def _phrase(model: str) -> str:
    """``hey_jarvis_v0.1`` without its version."""
    return re.sub(r"_v\d[\d.]*$", "", model)


def _require(*files: Path) -> None:
    for file in files:
        if not file.is_file():
            raise ModelError(f"wake word model {file} is missing", "fetch the models again")


def _load(models: Sequence[Path], mel: Path, embedding: Path) -> Any:
    library = _library()
    try:
        model = library(
            wakeword_models=[str(path) for path in models],
            inference_framework="onnx",
            melspec_model_path=str(mel),
            embedding_model_path=str(embedding),
        )
    except Exception as error:  # onnxruntime's errors have no other base
        raise ModelError(
            f"wake word models {', '.join(map(str, models))} or {mel.parent} cannot be loaded "
            f"({_first_line(error)})",
            "fetch the models again",
        ) from error
    # The library keeps ten seconds of samples and copies all of them for each chunk.
    model.preprocessor.raw_data_buffer = deque(maxlen=_CHUNK + _LOOK_BACK)
    return model


def _library() -> Any:
    """Import openWakeWord without what it imports and does in vain."""
    # It imports its trainer, and with it scikit-learn (100 MB), to re-export one function.
    trainer = ModuleType("openwakeword.custom_verifier_model")
    vars(trainer)["train_custom_verifier"] = None
    sys.modules.setdefault(trainer.__name__, trainer)

    from openwakeword.model import Model
    from openwakeword.utils import AudioFeatures

    # To fill its memory at the start and on each reset it embeds four seconds of random
    # noise: 119 ms, 25 MB, and scores that differ from run to run.  Silence is put there
    # instead; zeros will not do, with them other words score as the phrase.
    AudioFeatures._get_embeddings = _no_embeddings
    return Model


def _no_embeddings(*_: Any) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.zeros((_MEMORY, _EMBEDDING), np.float32)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
