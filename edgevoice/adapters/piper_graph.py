"""Cuts a Piper voice in three, so that its sound can be made in windows.

A VITS voice works in three steps.  The **encoder** must see the whole sentence:
it says how long each phoneme lasts and what every latent frame should be like,
noise included (here called the prior).  The **flow** turns the prior into the
latent and the **decoder** turns the latent into samples; both are convolutions,
which see some frames to either side and no further.  Cut apart, the first sound
costs the encoder and one window of the other two, however long the sentence.

The cuts are found by the shape of the graph, not by the names of one voice:

- the durations are the output of the only ``Ceil``;
- the prior is made where noise that depends on the durations is first added;
- the decoder's first upsampling is the only ``ConvTranspose`` without another one
  before it, and the latent enters the ``Conv`` before that which depends on the
  prior (a second one may bring in the speaker).

How far flow and decoder see is measured, see `piper_reach`.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgevoice.adapters.piper_reach import UnknownGraphError, measure_reach
from edgevoice.errors import ModelError

HOP = "edgevoice.hop"
"""Metadata key of flow and decoder: what one frame becomes, in frames or samples."""
CONTEXT = "edgevoice.context"
"""Metadata key of flow and decoder: frames they see to either side."""

_LAYOUT = "1"  # another number makes every voice be cut anew
_SENTENCE_INPUTS = frozenset({"input", "input_lengths", "scales"})


@dataclass(frozen=True, slots=True)
class Parts:
    """The three files a voice was cut into; all floats are float32.

    ``encoder``: the voice's inputs → durations (1, 1, ids) in frames, prior
    (1, channels, frames), and what else the others need of the sentence, such as the
    mask (1, 1, frames).  ``flow``: prior, these, and the speaker ``sid`` (1,) int64 where
    there are several → latent (1, channels, frames).  ``decoder``: latent and the like →
    audio (1, 1, [1,] samples).  A part's first input is the one named first here.
    """

    encoder: Path
    flow: Path
    decoder: Path

    @classmethod
    def inside(cls, folder: Path) -> Parts:
        """The parts that lie, or will lie, in ``folder``."""
        return cls(*(folder / f"{name}.onnx" for name in ("encoder", "flow", "decoder")))

    def exist(self) -> bool:
        """Whether the voice has been cut; the three appear at once."""
        return self.encoder.exists()


def parts_of(voice: Path, cache: Path) -> Parts:
    """Where the parts of ``voice`` lie, or will lie, below ``cache``.

    The folder's name changes with the voice's size and time of change: a voice that
    was replaced is cut anew, and 60 MB need not be hashed at each start.
    """
    stat = voice.stat()
    key = hashlib.sha256(f"{_LAYOUT} {stat.st_size} {stat.st_mtime_ns}".encode()).hexdigest()
    return Parts.inside(cache / f"{voice.stem}-{key[:12]}")


def cut_apart(voice: Path, cache: Path) -> Parts:
    """`cut` in a process of its own.

    It needs 450 MB for a moment and half of that would stay with the daemon.  As with
    all of `multiprocessing`, a script that comes here guards its ``__main__``.  Raises
    also `concurrent.futures.process.BrokenProcessPool` when the system killed it.
    """
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as elsewhere:
        return elsewhere.submit(cut, voice, cache).result()


def cut(voice: Path, cache: Path) -> Parts:
    """Cut ``voice`` and put its parts below ``cache``, all or nothing, over older ones.

    Raises `UnknownGraphError`, `OSError` when ``cache`` cannot be written, and
    `edgevoice.errors.ModelError` when ``voice`` cannot be read.
    """
    folder = parts_of(voice, cache).encoder.parent
    cache.mkdir(parents=True, exist_ok=True)
    workshop = Path(tempfile.mkdtemp(prefix=".cutting-", dir=cache))
    try:
        _write(voice, Parts.inside(workshop))
        workshop.chmod(0o755)  # who prepares a voice need not be who speaks with it
        shutil.rmtree(folder, ignore_errors=True)
        workshop.rename(folder)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
    return Parts.inside(folder)


def _write(voice: Path, parts: Parts) -> None:
    from onnx.utils import extract_model

    graph = _Graph(_load(voice).graph)
    durations, prior, latent = graph.durations(), graph.prior(), graph.latent()
    flow, decoder = graph.inputs_of(prior, latent), graph.inputs_of(latent, graph.output)
    shared = [name for name in dict.fromkeys(flow + decoder[1:]) if name not in graph.inputs]
    extract_model(voice, parts.encoder, graph.inputs, [durations, *shared])
    extract_model(voice, parts.flow, flow, [latent])
    extract_model(voice, parts.decoder, decoder, [graph.output])
    _note_reach(parts.flow)
    _note_reach(parts.decoder)
    for part in (parts.encoder, parts.flow, parts.decoder):
        _to_disk(part)


def _load(voice: Path) -> Any:
    import onnx
    from google.protobuf.message import DecodeError

    try:
        return onnx.load(voice)
    except (DecodeError, OSError) as error:
        raise ModelError(
            f"the voice {voice} is no ONNX model or cut short", "fetch it again"
        ) from (error)


def _to_disk(path: Path) -> None:
    """A rename may reach the disk before what it names: a power cut would leave an empty file."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _note_reach(part: Path) -> None:
    import onnx

    hop, context = measure_reach(part)
    model = onnx.load(part)
    onnx.helper.set_model_props(model, {HOP: str(hop), CONTEXT: str(context)})
    onnx.save(model, part)


class _Graph:
    """A voice's graph; its nodes are in the order of evaluation, as ONNX demands."""

    def __init__(self, graph: Any) -> None:
        self.inputs: list[str] = [value.name for value in graph.input]
        self.output: str = graph.output[0].name
        self._nodes = list(graph.node)
        self._maker = {name: node for node in self._nodes for name in node.output}

    def durations(self) -> str:
        return str(_only_one("Ceil", list(self._kind("Ceil"))).output[0])

    def prior(self) -> str:
        durations = self.durations()
        noises = [
            node.output[0]
            for node in self._kind("RandomNormalLike")
            if durations in self._behind(node.input[0])
        ]
        noisy = self._after(_only_one("noise that depends on the durations", noises))
        added = [node for node in self._kind("Add") if noisy.intersection(node.input)]
        if not added:
            raise UnknownGraphError("its noise is added to nothing")
        return str(added[0].output[0])

    def latent(self) -> str:
        prior = self.prior()
        entries = [
            conv.input[0]
            for conv in self._convs_before(self._first_upsampling().input[0])
            if prior in self._behind(conv.input[0])
        ]
        return str(_only_one("Conv that takes the latent", entries))

    def inputs_of(self, start: str, end: str) -> list[str]:
        """What the part between ``start`` and ``end`` needs: ``start`` first, ``sid`` last."""
        after = self._after(start)
        needed = self._behind(end)
        part = [
            node
            for node in self._nodes
            if after.intersection(node.input) and needed.intersection(node.output)
        ]
        sides = dict.fromkeys(
            name
            for node in part
            for name in node.input
            if name not in after and self._behind(name) & _SENTENCE_INPUTS
        )
        needed = self._behind(end, stop={start, *sides})
        return [start, *sides, *(name for name in self.inputs if name in needed)]

    def _kind(self, kind: str) -> Iterator[Any]:
        return (node for node in self._nodes if node.op_type == kind)

    def _first_upsampling(self) -> Any:
        found = list(self._kind("ConvTranspose"))
        outputs = {name for node in found for name in node.output}
        firsts = [node for node in found if not self._behind(node.input[0]) & outputs]
        return _only_one("first ConvTranspose", firsts)

    def _convs_before(self, tensor: str) -> Iterator[Any]:
        """The nearest ``Conv`` on each way back from ``tensor``."""
        node = self._maker.get(tensor)
        if node is None:
            return
        if node.op_type == "Conv":
            yield node
            return
        for name in node.input:
            yield from self._convs_before(name)

    def _after(self, tensor: str) -> set[str]:
        """``tensor`` and all that is made of it."""
        seen = {tensor}
        for node in self._nodes:
            if seen.intersection(node.input):
                seen.update(node.output)
        return seen

    def _behind(self, tensor: str, stop: set[str] | None = None) -> set[str]:
        """``tensor`` and all it is made of, looking no further than ``stop``."""
        seen: set[str] = set()
        todo = [tensor]
        while todo:
            name = todo.pop()
            if name in seen or name in (stop or ()):
                continue
            seen.add(name)
            todo += self._maker[name].input if name in self._maker else ()
        return seen


def _only_one(what: str, found: list[Any]) -> Any:
    if len(found) != 1:
        raise UnknownGraphError(f"it has {len(found)} of what should be its one {what}")
    return found[0]
