from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from edgevoice.cli.main import main
from edgevoice.models import catalogue as catalogue_module
from edgevoice.models.catalogue import Entry, Loose, ModelFile, Role

EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A models directory with one model, the only one there is."""
    entry = Entry(
        name="tiny",
        role=Role.LLM,
        licence="MIT",
        files=(ModelFile("tiny.gguf", 0, EMPTY_SHA256),),
        sources=(Loose("http://127.0.0.1:9/"),),
        folder="tiny",
        starter=True,
    )
    monkeypatch.setattr(catalogue_module, "catalogue", lambda: {"tiny": entry})
    monkeypatch.setattr("edgevoice.models.paths.catalogue", lambda: {"tiny": entry})
    monkeypatch.setenv("EDGEVOICE_MODELS", str(tmp_path))
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "tiny.gguf").touch()
    return tmp_path


def test_list_tells_role_licence_and_state(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["models", "list"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == (
        ["tiny", "llm", "0.0", "MB", "unverified", "MIT"]
    )


def test_fetch_takes_what_is_intact_as_it_is(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["models", "fetch"]) == 0
    assert "1 models are ready" in capsys.readouterr().out


def test_verify_reads_what_is_here(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "verify"]) == 0
    assert capsys.readouterr().out == "tiny: intact\n"


def test_verify_tells_what_is_broken(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (directory / "tiny" / "tiny.gguf").write_bytes(b"x")
    assert main(["models", "verify"]) == 66
    said = capsys.readouterr()
    assert "tiny.gguf has 1 bytes instead of 0" in said.out
    assert said.err == "edgevoice: 1 of 1 models are broken; run 'edgevoice models fetch tiny'\n"


def test_verify_of_nothing_is_an_error(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(directory / "tiny")
    assert main(["models", "verify"]) == 66
    assert "run 'edgevoice models fetch'" in capsys.readouterr().err


def test_an_unknown_name_is_refused(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "fetch", "tinny"]) == 66
    assert "did you mean 'tiny'?" in capsys.readouterr().err
