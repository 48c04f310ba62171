"""A real HTTP server on the loopback for a test to script: a thread for each request, no word on stderr, gone with its block.

What a server says is decided by whoever inherits from `Wire`; how it is said is the same for all of them, and stands here.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self, cast

from tests.services.process import LOOPBACK


class Seen(NamedTuple):
    """A request, as it came."""

    path: str
    headers: Mapping[str, str]
    body: Any


class Exchange(BaseHTTPRequestHandler):
    """One request, and what is said to it."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave together: apart, each answer waits for an acknowledgement

    def _meet(self) -> None:
        cast(_Server, self.server).wire.meet(self)

    do_GET = do_POST = do_PUT = do_DELETE = _meet

    def content(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def seen(self) -> Seen:
        """The request, with its body read as JSON."""
        content = self.content()
        return Seen(self.path, dict(self.headers), json.loads(content) if content else None)

    def starts(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def says(self, status: int, what: object, headers: Mapping[str, str] | None = None) -> None:
        """Bytes as they are, anything else as JSON. `headers` win over those that go without saying."""
        content = what if isinstance(what, bytes) else json.dumps(what).encode()
        usual = {"Content-Type": "application/json", "Content-Length": str(len(content))}
        self.starts(status, usual | dict(headers or {}))
        self.wfile.write(content)

    def hangs_up(self) -> None:
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """A test's output is its result."""


class Wire:
    """A server that answers while `running()` is open."""

    path = ""
    """What clients are given behind the address."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        """Set at the end: whoever makes a client wait, waits for this."""
        self._server = _Server(self)
        self.url = f"http://{LOOPBACK}:{self._server.server_port}{self.path}"

    def meet(self, exchange: Exchange) -> None:
        """Say something to a request, or nothing."""
        exchange.says(404, {})

    @contextmanager
    def running(self) -> Iterator[Self]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.stopping.set()
            self._server.shutdown()
            self._server.server_close()
            thread.join()


class _Server(ThreadingHTTPServer):
    request_queue_size = 256

    def __init__(self, wire: Wire) -> None:
        super().__init__((LOOPBACK, 0), Exchange)
        self.wire = wire

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up are what some of the tests are about."""
