"""A real HTTP server on the loopback that says what it was told to say, in order, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.providers.wire import Seen

Answer = tuple[int, Any]
"""A status and what is said with it: bytes as they are, anything else as JSON."""


class Loopback:
    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.url = ""
        self.asked = threading.Event()
        self._answers: deque[Answer] = deque()

    def says(self, *answers: Answer) -> None:
        self._answers += answers

    @contextmanager
    def running(self) -> Iterator[Loopback]:
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                outer.seen.append(Seen(self.path, dict(self.headers), json.loads(body) if body else None))
                status, said = outer._answers.popleft() if outer._answers else (404, {})
                content = said if isinstance(said, bytes) else json.dumps(said).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
                outer.asked.set()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler
