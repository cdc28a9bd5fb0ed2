from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

import pytest

from edgevoice.models.transfer import SourceError
from edgevoice.models.wheel import download_wheel


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that is all the registry there is."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    return shelf


def make_wheel(shelf: Path) -> None:
    info = "voices-1.0.dist-info"
    files = {
        "voices/data/model.onnx": b"data",
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: voices\nVersion: 1.0\n"
        b"Requires-Python: <3\nRequires-Dist: does-not-exist\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()},\n"
        for name, data in files.items()
    )
    with zipfile.ZipFile(shelf / "voices-1.0-py3-none-any.whl", "w") as wheel:
        for name, data in {**files, f"{info}/RECORD": record.encode()}.items():
            wheel.writestr(name, data)


def test_the_wheel_comes_alone_and_whatever_python_it_is_for(shelf: Path, tmp_path: Path) -> None:
    make_wheel(shelf)
    wheel = download_wheel("voices==1.0", tmp_path / "into")
    assert zipfile.ZipFile(wheel).read("voices/data/model.onnx") == b"data"
    assert [path.name for path in (tmp_path / "into").iterdir()] == [wheel.name]


def test_pips_last_word_is_the_reason(shelf: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"^voices==1\.0: No matching distribution"):
        download_wheel("voices==1.0", tmp_path / "into")
