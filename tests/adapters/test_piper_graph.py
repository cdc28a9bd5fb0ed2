"""Cutting a voice, tried on a toy that is built like one: a few layers, random weights."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from edgevoice.adapters import piper_graph
from edgevoice.adapters.piper_graph import cut, parts_of
from edgevoice.adapters.piper_reach import UnknownGraphError, measure_reach
from edgevoice.adapters.piper_voice import Scales, WholeVoice, open_voice
from edgevoice.errors import ModelError

CHANNELS, HOP = 4, 6
NO_NOISE = Scales(noise=0.0, length=1.0, noise_w=0.0)


class Toy:
    """Builds the graph of a voice; the names say nothing of what they are."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self._random = np.random.default_rng(1)

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, value: Any) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weight(self, *shape: int) -> str:
        return self.constant(self._random.standard_normal(shape).astype(np.float32) / 2)

    def conv(self, tensor: str, kernel: int, channels: int = CHANNELS) -> str:
        side = kernel // 2
        weight = self.weight(channels, CHANNELS, kernel)
        return self.add("Conv", tensor, weight, kernel_shape=[kernel], pads=[side, side])

    def encoder(self) -> tuple[str, str]:
        """Three frames an id, each with its number: prior and mask."""
        ids = self.add("Cast", "input", to=TensorProto.FLOAT)
        ids = self.add("Unsqueeze", ids, self.constant(np.array([1])))
        length = self.add("Gather", "scales", self.constant(np.array([1])))
        spans = self.add(
            "Mul", self.add("Add", self.add("Sub", ids, ids), self.two_and_a_half()), length
        )
        spans = self.add("Ceil", spans)
        count = self.add(
            "Cast", self.add("ReduceMax", spans, axes=[0, 1, 2], keepdims=0), to=TensorProto.INT64
        )
        count = self.add("Reshape", count, self.constant(np.array([1])))
        tiles = self.add("Concat", self.constant(np.array([1, CHANNELS])), count, axis=0)
        frames = self.conv(self.add("Tile", self.add("Sin", ids), tiles), 1)
        noise = self.add("RandomNormalLike", frames)
        scale = self.add("Gather", "scales", self.constant(np.array([0])))
        prior = self.add("Add", frames, self.add("Mul", noise, scale))
        mask = self.add("ReduceMean", self.add("Cos", frames), axes=[1], keepdims=1)
        return prior, self.add("Ceil" if self.two_ceils else "Abs", mask)

    def two_and_a_half(self) -> str:
        return self.constant(np.array([2.5], np.float32))

    two_ceils = False

    def speaker(self) -> str:
        voices = self.weight(3, CHANNELS)
        return self.add(
            "Unsqueeze", self.add("Gather", voices, "sid"), self.constant(np.array([2]))
        )

    def save(self, path: Path, *, speakers: bool, decoder_looks_everywhere: bool = False) -> Path:
        prior, mask = self.encoder()
        latent = self.add("Mul", self.add("Tanh", self.conv(prior, 5)), mask)
        sound = self.conv(latent, 3)
        if speakers:
            sound = self.add("Add", sound, self.conv(self.speaker(), 1))
        for stride in (3, 2):
            weight = self.weight(CHANNELS, CHANNELS, 2 * stride)
            pads = [stride // 2, (stride + 1) // 2]
            sound = self.add(
                "ConvTranspose",
                self.add("LeakyRelu", sound),
                weight,
                kernel_shape=[2 * stride],
                strides=[stride],
                pads=pads,
            )
            sound = self.conv(sound, 3)
        if decoder_looks_everywhere:
            sound = self.add("Sub", sound, self.add("ReduceMean", sound, axes=[2]))
        self.add("Tanh", self.conv(sound, 3, channels=1))
        self.nodes[-1].output[0] = "sound"
        onnx.save(self._model(speakers), path)
        return path

    def _model(self, speakers: bool) -> Any:
        inputs = [
            helper.make_tensor_value_info("input", TensorProto.INT64, ["batch", "ids"]),
            helper.make_tensor_value_info("input_lengths", TensorProto.INT64, ["batch"]),
            helper.make_tensor_value_info("scales", TensorProto.FLOAT, [3]),
        ]
        if speakers:
            inputs.append(helper.make_tensor_value_info("sid", TensorProto.INT64, ["batch"]))
        output = helper.make_tensor_value_info("sound", TensorProto.FLOAT, ["batch", 1, "time"])
        graph = helper.make_graph(self.nodes, "toy", inputs, [output], self.weights)
        opset = helper.make_opsetid("", 15)
        return helper.make_model(graph, opset_imports=[opset], ir_version=8)


@pytest.fixture(params=[False, True], ids=["one speaker", "many speakers"])
def speakers(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def spoken(voice: Any, ids: list[int]) -> Any:
    return np.concatenate(list(voice.utter(ids, NO_NOISE).windows))


def test_in_parts_and_windows_it_sounds_as_it_did_whole(tmp_path: Path, speakers: bool) -> None:
    path = Toy().save(tmp_path / "toy.onnx", speakers=speakers)
    ids, speaker = list(range(1, 200)), 2 if speakers else None
    in_parts = open_voice(path, tmp_path / "cache", speaker=speaker, threads=1)
    assert not isinstance(in_parts, WholeVoice)
    sound = spoken(in_parts, ids)
    assert len(sound) == 3 * len(ids) * HOP
    assert np.abs(sound).max() > 0.01
    np.testing.assert_allclose(sound, spoken(WholeVoice(path, speaker, threads=1), ids), atol=1e-5)


def test_reach_is_what_the_layers_add_up_to(tmp_path: Path) -> None:
    parts = cut(Toy().save(tmp_path / "toy.onnx", speakers=False), tmp_path / "cache")
    assert measure_reach(parts.flow) == (1, 2)
    hop, context = measure_reach(parts.decoder)
    # One frame of the first Conv, one of each upsampling, and less than one of all the rest.
    assert (hop, context) == (HOP, 3)


def test_a_decoder_that_sees_the_whole_sentence_is_not_cut(tmp_path: Path) -> None:
    path = Toy().save(tmp_path / "toy.onnx", speakers=False, decoder_looks_everywhere=True)
    with pytest.raises(UnknownGraphError, match="whole sentence"):
        cut(path, tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_durations_must_be_plain_to_see(tmp_path: Path) -> None:
    toy = Toy()
    toy.two_ceils = True
    with pytest.raises(UnknownGraphError, match="2 of what should be its one Ceil"):
        cut(toy.save(tmp_path / "toy.onnx", speakers=False), tmp_path / "cache")


def test_a_voice_of_another_build_speaks_whole_with_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = Toy().save(tmp_path / "toy.onnx", speakers=False, decoder_looks_everywhere=True)
    voice = open_voice(path, tmp_path / "cache", speaker=None, threads=1)
    utterance = voice.utter(range(1, 8), NO_NOISE)
    (sound,) = utterance.windows
    assert sum(utterance.samples_per_id) == len(sound) == 3 * 7 * HOP
    assert ["cannot be cut" in record.message for record in caplog.records] == [True]


def test_a_cache_that_cannot_be_written_is_done_without(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = Toy().save(tmp_path / "toy.onnx", speakers=False)
    (tmp_path / "cache").write_text("a file in the way")
    voice = open_voice(path, tmp_path / "cache", speaker=None, threads=1)
    assert isinstance(voice, WholeVoice)
    assert "cannot be cut" in caplog.text


def test_a_voice_is_cut_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Toy().save(tmp_path / "toy.onnx", speakers=False)
    parts = cut(path, tmp_path / "cache")
    monkeypatch.setattr("edgevoice.adapters.piper_voice.cut_apart", never)
    open_voice(path, tmp_path / "cache", speaker=None, threads=1)
    assert parts_of(path, tmp_path / "cache") == parts


def test_a_replaced_voice_is_cut_anew(tmp_path: Path) -> None:
    path = Toy().save(tmp_path / "toy.onnx", speakers=False)
    before = parts_of(path, tmp_path / "cache")
    os.utime(path, ns=(1, 1))
    assert parts_of(path, tmp_path / "cache") != before


@pytest.mark.parametrize("damage", ["truncated", "foreign", "gone"])
def test_parts_that_broke_are_made_again(tmp_path: Path, damage: str) -> None:
    path = Toy().save(tmp_path / "toy.onnx", speakers=False)
    parts = cut(path, tmp_path / "cache")
    if damage == "truncated":
        parts.decoder.write_bytes(parts.decoder.read_bytes()[:100])
    elif damage == "foreign":
        parts.decoder.write_bytes(path.read_bytes())
    else:
        parts.decoder.unlink()
    voice = open_voice(path, tmp_path / "cache", speaker=None, threads=1)
    assert not isinstance(voice, WholeVoice)
    assert len(spoken(voice, [1, 2, 3])) == 9 * HOP


def test_a_truncated_voice_is_named(tmp_path: Path) -> None:
    path = Toy().save(tmp_path / "toy.onnx", speakers=False)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ModelError, match=r"toy\.onnx is no ONNX model or cut short; fetch"):
        open_voice(path, tmp_path / "cache", speaker=None, threads=1)
    assert list((tmp_path / "cache").iterdir()) == []


def test_parts_appear_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Toy().save(tmp_path / "toy.onnx", speakers=False)
    monkeypatch.setattr(piper_graph, "_to_disk", never)
    with pytest.raises(AssertionError, match="not now"):
        cut(path, tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def never(*_: object) -> None:
    raise AssertionError("not now")
