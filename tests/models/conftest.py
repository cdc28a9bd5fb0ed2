from __future__ import annotations

import hashlib
import os
import random
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from edgevoice.models.catalogue import Entry, Loose, ModelFile, Role, Source
from tests.models.server import FileServer

CONTENT = {
    "model.onnx": random.Random(1).randbytes(300_000),
    "conf/model.json": b'{"rate": 16000}',
}


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EDGEVOICE_MODEL_SOURCES", raising=False)
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)


@pytest.fixture
def server() -> Iterator[FileServer]:
    with FileServer() as server:
        server.served.files = dict(CONTENT)
        yield server


@pytest.fixture
def dead_base() -> str:
    """An address on which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/"


@pytest.fixture
def make_entry(server: FileServer) -> Callable[..., Entry]:
    def make(*sources: Source, name: str = "small") -> Entry:
        pins = (
            ModelFile(path, len(content), hashlib.sha256(content).hexdigest())
            for path, content in CONTENT.items()
        )
        return Entry(
            name, Role.TTS, "CC0", tuple(pins), sources or (Loose(server.base),), name, "model.onnx"
        )

    return make


@pytest.fixture
def entry(make_entry: Callable[..., Entry]) -> Entry:
    return make_entry()


def contents(entry: Entry, directory: Path) -> dict[str, bytes]:
    folder = directory / entry.folder
    return {file.path: (folder / file.path).read_bytes() for file in entry.files}
