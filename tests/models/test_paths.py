from __future__ import annotations

import os
from pathlib import Path

import pytest

from edgevoice.errors import ModelError
from edgevoice.models import paths
from edgevoice.models.catalogue import Entry, Role, catalogue, starter_set
from edgevoice.models.paths import models_directory, resolve

STARTER = [pytest.param(entry, id=entry.name) for entry in starter_set()]


def lay_out(entry: Entry, directory: Path) -> None:
    """Files of the right sizes, without a byte in them on the disk."""
    for file in entry.files:
        path = directory / entry.folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.truncate(path, file.size)


def refusal(name: str, role: Role, directory: Path) -> str:
    with pytest.raises(ModelError) as caught:
        resolve(name, role, directory)
    assert caught.value.status == 66
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("entry", STARTER)
def test_a_model_that_is_there_is_found(entry: Entry, tmp_path: Path) -> None:
    lay_out(entry, tmp_path)
    found = resolve(entry.name, entry.role, tmp_path)
    assert found == tmp_path / entry.folder / entry.main
    assert found.exists()


@pytest.mark.parametrize("entry", STARTER)
def test_a_missing_model_is_one_line_that_says_what_to_do(entry: Entry, tmp_path: Path) -> None:
    said = refusal(entry.name, entry.role, tmp_path)
    assert "is missing" in said
    assert f"run 'edgevoice models fetch {entry.name}'" in said


@pytest.mark.parametrize("entry", STARTER)
def test_a_truncated_model_is_one_line_that_says_what_to_do(entry: Entry, tmp_path: Path) -> None:
    for file in entry.files:
        lay_out(entry, tmp_path)
        os.truncate(tmp_path / entry.folder / file.path, file.size - 1)
        said = refusal(entry.name, entry.role, tmp_path)
        assert f"{file.size - 1} bytes instead of {file.size}" in said
        assert f"run 'edgevoice models fetch {entry.name}'" in said


def test_a_model_of_another_role_is_refused(tmp_path: Path) -> None:
    lay_out(catalogue()["alexa"], tmp_path)
    assert "'alexa' is a model for wake" in refusal("alexa", Role.LLM, tmp_path)


def test_a_misspelt_name_is_met_with_the_right_one(tmp_path: Path) -> None:
    assert "did you mean 'hey_jarvis'?" in refusal("hey_jarvi", Role.WAKE, tmp_path)


def make_own(role: Role, path: Path) -> Path:
    """A model that the catalogue does not know."""
    match role:
        case Role.ASR:
            (path / "am").mkdir(parents=True)
            (path / "am" / "final.mdl").write_bytes(b"x")
            return path
        case Role.LLM:
            path.write_bytes(b"GGUF....")
            return path
        case Role.WAKE_FEATURES:
            path.mkdir()
            for name in ("melspectrogram.onnx", "embedding_model.onnx"):
                (path / name).write_bytes(b"x")
            return path
    voice = path.with_suffix(".onnx")
    voice.write_bytes(b"x")
    voice.with_name(f"{voice.name}.json").write_text("{}")
    return voice


@pytest.mark.parametrize("role", Role)
def test_a_model_of_ones_own_is_named_by_its_path(role: Role, tmp_path: Path) -> None:
    own = make_own(role, tmp_path / "own")
    assert resolve(str(own), role, tmp_path / "models") == own
    assert resolve(own.name, role, tmp_path) == own


@pytest.mark.parametrize("role", Role)
def test_what_is_no_such_model_is_refused_before_an_engine_sees_it(
    role: Role, tmp_path: Path
) -> None:
    empty = tmp_path / "empty.onnx"
    empty.touch()
    assert f"{empty} is not" in refusal(str(empty), role, tmp_path)


def test_a_voice_without_its_configuration_is_refused(tmp_path: Path) -> None:
    voice = make_own(Role.TTS, tmp_path / "own")
    voice.with_name(f"{voice.name}.json").unlink()
    assert "with its .onnx.json beside it" in refusal(str(voice), Role.TTS, tmp_path)


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    assert "cannot be read: Input/output error" in refusal("/proc/self/mem", Role.LLM, tmp_path)


def test_a_name_too_long_for_a_file_is_one_line(tmp_path: Path) -> None:
    assert "neither in the catalogue nor a path" in refusal("x" * 5000, Role.LLM, tmp_path)


def test_the_models_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGEVOICE_MODELS", str(tmp_path / "named"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(paths, "SYSTEM_DIRECTORY", tmp_path / "system")
    assert models_directory() == tmp_path / "named"
    monkeypatch.delenv("EDGEVOICE_MODELS")
    assert models_directory() == tmp_path / "cache" / "edgevoice" / "models"
    (tmp_path / "system").mkdir()
    assert models_directory() == tmp_path / "system"


def test_a_models_directory_that_cannot_be_seen_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EDGEVOICE_MODELS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    # To root no directory is closed: a name that no file can have is refused to everybody.
    monkeypatch.setattr(paths, "SYSTEM_DIRECTORY", tmp_path / ("x" * 300))
    assert models_directory() == tmp_path / "edgevoice" / "models"
