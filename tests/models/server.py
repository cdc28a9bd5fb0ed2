"""A small file server on the loopback that can misbehave on request."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self


@dataclass
class Served:
    """What is there, how it fails, and what was asked for."""

    files: dict[str, bytes] = field(default_factory=dict)
    breaks_after: list[int] = field(default_factory=list)
    """Bytes after which each of the next answers breaks off."""
    ignores_range: bool = False
    hides_length: bool = False
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    """Path and Range header of each request."""


class FileServer:
    """Serves `Served` on a free port of 127.0.0.1."""

    def __init__(self) -> None:
        self.served = served = Served()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                _answer(self, served)

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self.base = f"http://127.0.0.1:{self._server.server_port}/"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _answer(request: BaseHTTPRequestHandler, served: Served) -> None:
    wanted = request.headers.get("Range")
    served.asked.append((request.path, wanted))
    body = served.files.get(request.path.lstrip("/"))
    if body is None:
        request.send_error(404)
        return
    start = 0
    if wanted and not served.ignores_range:
        start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        if start >= len(body):
            request.send_error(416)
            return
    request.send_response(206 if start else 200)
    if not served.hides_length:
        request.send_header("Content-Length", str(len(body) - start))
    request.end_headers()
    end = start + served.breaks_after.pop(0) if served.breaks_after else len(body)
    request.wfile.write(body[start:end])
