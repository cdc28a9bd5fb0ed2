"""One download over HTTP into a ``.part`` file, picked up where the last try ended."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from requests import Response

CONNECT_S = 4.0
"""A host that does not answer for so long is given up for this run."""
STALL_S = 30.0
"""A transfer that stands still for so long is broken."""
ATTEMPTS = 3
BLOCK = 1 << 16
"""Bytes; a transfer that breaks loses no more than this."""


class SourceError(Exception):
    """A source that has nothing for us; another may."""


class UnreachableError(SourceError):
    """A host that is not there, so that asking it again is no use."""


class Downloader:
    """Downloads, and remembers for its lifetime which hosts are not there."""

    def __init__(self) -> None:
        import requests

        self._session = requests.Session()
        # A compressed answer would make nonsense of byte ranges.
        self._session.headers["Accept-Encoding"] = "identity"
        self._dead: set[str] = set()

    def is_dead(self, url: str) -> bool:
        """Whether the host of ``url`` was found to be unreachable."""
        return urlsplit(url).netloc in self._dead

    def close(self) -> None:
        """Drop all connections."""
        self._session.close()

    def download(self, url: str, part: Path, size: int | None = None) -> None:
        """Bring ``url`` into ``part``, appending to what is there already.

        ``size`` is what it will have in bytes, if that is known.  A transfer that
        breaks is resumed up to `ATTEMPTS` times; what has arrived is kept.

        Raises `SourceError`, and `OSError` when ``part`` cannot be written.
        """
        part.parent.mkdir(parents=True, exist_ok=True)
        for _ in range(ATTEMPTS):
            if self._once(url, part, size):
                return
        raise SourceError(f"{urlsplit(url).netloc} broke off the transfer {ATTEMPTS} times")

    def _once(self, url: str, part: Path, size: int | None) -> bool:
        """Whether the body was read to its end."""
        import requests

        start = part.stat().st_size if part.exists() else 0
        if start and start == size:
            return True
        with self._ask(url, start) as answer:
            if answer.status_code == requests.codes.requested_range_not_satisfiable:
                part.unlink()
                return False
            _refuse_errors(answer, url)
            try:
                _receive(answer, part, start, url.rpartition("/")[2])
            except requests.RequestException:
                return False
        return size is None or part.stat().st_size >= size

    @contextmanager
    def _ask(self, url: str, start: int) -> Iterator[Response]:
        import requests

        headers = {"Range": f"bytes={start}-"} if start else {}
        try:
            answer = self._session.get(
                url, headers=headers, stream=True, timeout=(CONNECT_S, STALL_S)
            )
        except requests.RequestException as error:
            host = urlsplit(url).netloc
            self._dead.add(host)
            raise UnreachableError(f"{host} cannot be reached") from error
        with answer:
            yield answer


def _refuse_errors(answer: Response, url: str) -> None:
    if answer.status_code not in (200, 206):
        raise SourceError(f"{url} answers {answer.status_code} {answer.reason}")


def _receive(answer: Response, part: Path, start: int, name: str) -> None:
    from tqdm import tqdm

    # A server that ignores the range sends the whole again.
    resumed = answer.status_code == 206
    done = start if resumed else 0
    length = answer.headers.get("Content-Length")
    total = done + int(length) if length else None
    bar = tqdm(total=total, initial=done, unit="B", unit_scale=True, disable=None, desc=name)
    with bar, part.open("ab" if resumed else "wb") as file:
        for block in answer.iter_content(BLOCK):
            file.write(block)
            bar.update(len(block))
        file.flush()
        os.fsync(file.fileno())
