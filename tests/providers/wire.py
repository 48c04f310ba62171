"""A real HTTP server on the loopback that speaks the wire formats of embedding servers, and misbehaves
when told to.

Vectors are made from the text alone, so a test knows which vector belongs to which text without asking
the code under test. A fault is used up by one request; after that the server is well again.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SIZE = 8


def vector(text: str, size: int = SIZE) -> list[float]:
    """The vector this server gives a text: a different direction for every text."""
    digest = hashlib.sha256(text.encode()).digest()
    return [(byte - 127.5) / 128 for byte in digest[:size]]


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    delay_s: float = 0.0
    hang_up: bool = False
    drip: bool = False


@dataclass(frozen=True)
class Seen:
    path: str
    headers: Mapping[str, str]
    body: Any


class EmbeddingServer:
    """`faults` are met first in, first out; `seen` are the requests in the order they came."""

    def __init__(self) -> None:
        self.faults: deque[Fault] = deque()
        self.seen: list[Seen] = []
        self.paths = {"/v1/embeddings", "/embedding", "/api/embed", "/vectors"}
        self.size = SIZE
        self.shuffled = False
        self.custom_shape = "embeddings"
        self.longest: int | None = None
        self.longest_status = 400
        self.visited = threading.Event()
        self.stopping = threading.Event()
        self._http = _Quiet(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def answer(self, path: str, body: Any) -> tuple[int, Any]:
        if path not in self.paths:
            return 404, {"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}}
        texts = body["content"] if path == "/embedding" else body["input"]
        if self.longest is not None and max(map(len, texts)) > self.longest:
            words = "input is too large to process. increase the physical batch size"
            return self.longest_status, {"error": {"message": words, "type": "server_error"}}
        vectors = [vector(text, body.get("dimensions", self.size)) for text in texts]
        return 200, getattr(self, "_" + path.strip("/").replace("/", "_"))(vectors, body)

    def _v1_embeddings(self, vectors: list[list[float]], body: Any) -> Any:
        rows = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(vectors)]
        if self.shuffled:
            rows.reverse()
        return {"object": "list", "data": rows, "model": body.get("model", "/weights/bge-m3-q8.gguf")}

    def _embedding(self, vectors: list[list[float]], body: Any) -> Any:
        return [{"index": at, "embedding": [row]} for at, row in enumerate(vectors)]

    def _api_embed(self, vectors: list[list[float]], body: Any) -> Any:
        return {"model": body["model"], "embeddings": vectors, "prompt_eval_count": len(vectors)}

    def _vectors(self, vectors: list[list[float]], body: Any) -> Any:
        match self.custom_shape:
            case "embeddings":
                return {"embeddings": vectors}
            case "data":
                return {"data": [{"embedding": row} for row in vectors]}
            case "embedding":
                return {"embedding": vectors[0]}
            case _:
                return vectors

    @contextmanager
    def running(self) -> Iterator[EmbeddingServer]:
        thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.stopping.set()
            self._http.shutdown()
            self._http.server_close()
            thread.join()


class _Quiet(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up are what some of the tests are about."""


def _handler(server: EmbeddingServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.seen.append(Seen(self.path, dict(self.headers), body))
            server.visited.set()
            fault = server.faults.popleft() if server.faults else Fault()
            server.stopping.wait(fault.delay_s)
            if fault.hang_up:
                self.close_connection = True
                return
            status, answer = server.answer(self.path, body)
            content = json.dumps(answer).encode() if fault.body is None else fault.body
            self._send(status if fault.status == 200 else fault.status, content, fault)

        def _send(self, status: int, content: bytes, fault: Fault) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **fault.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            pieces = [content[at : at + 1] for at in range(len(content))] if fault.drip else [content]
            try:
                for piece in pieces:
                    self.wfile.write(piece)
                    if fault.drip and not server.stopping.is_set():
                        time.sleep(0.02)
            except OSError:
                # The client had enough, which is what such a test is about.
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """A test's output is its result."""

    return Handler
