"""A real HTTP server on the loopback that speaks the wire formats of embedding servers, and misbehaves
when told to.

Vectors are made from the text alone, so a test knows which vector belongs to which text without asking
the code under test. A fault is used up by one request; after that the server is well again.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.services.wire import Exchange, Seen, Wire

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


class EmbeddingServer(Wire):
    """`faults` are met first in, first out; `seen` are the requests in the order they came."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: deque[Fault] = deque()
        self.seen: list[Seen] = []
        self.paths = {"/v1/embeddings", "/embedding", "/api/embed", "/vectors"}
        self.size = SIZE
        self.shuffled = False
        self.custom_shape = "embeddings"
        self.longest: int | None = None
        self.longest_status = 400
        self.visited = threading.Event()

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

    def meet(self, exchange: Exchange) -> None:
        seen = exchange.seen()
        self.seen.append(seen)
        self.visited.set()
        fault = self.faults.popleft() if self.faults else Fault()
        self.stopping.wait(fault.delay_s)
        if fault.hang_up:
            exchange.hangs_up()
        else:
            self._answer(exchange, seen, fault)

    def _answer(self, exchange: Exchange, seen: Seen, fault: Fault) -> None:
        status, answer = self.answer(seen.path, seen.body)
        content = json.dumps(answer).encode() if fault.body is None else fault.body
        status = status if fault.status == 200 else fault.status
        if not fault.drip:
            exchange.says(status, content, fault.headers)
            return
        exchange.starts(status, {"Content-Length": str(len(content))})
        try:
            for at in range(len(content)):
                exchange.wfile.write(content[at : at + 1])
                exchange.wfile.flush()
                self.stopping.wait(0.02)
        except OSError:
            # The client had enough, which is what such a test is about.
            exchange.hangs_up()
