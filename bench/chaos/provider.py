"""An embedding provider in a process of its own, which may be killed like everything else: `python -m bench.chaos.provider PORT`.

Speaks the wire format of OpenAI. Vectors are made from digests of the words, so that they cost nothing and texts that share
words lie near each other.
"""

from __future__ import annotations

import json
import math
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from zlib import crc32

DIMENSIONS = 64
MODEL = "digests"


def vector(text: str) -> list[float]:
    counts = [1.0] + [0.0] * (DIMENSIONS - 1)
    for word in text.lower().split():
        counts[crc32(word.encode()) % DIMENSIONS] += 1.0
    length = math.hypot(*counts)
    return [round(each / length, 6) for each in counts]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer({"data": [{"id": MODEL}]})

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = sent["input"] if isinstance(sent["input"], list) else [sent["input"]]
        self._answer({"data": [{"index": number, "embedding": vector(text)} for number, text in enumerate(texts)]})

    def _answer(self, told: object) -> None:
        body = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing worth a line."""


class Provider(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


if __name__ == "__main__":
    Provider(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
