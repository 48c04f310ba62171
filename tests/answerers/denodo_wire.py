"""A real HTTP server on the loopback that speaks `answerQuestion`, and misbehaves when told to."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USUAL: dict[str, Any] = {
    "answer": "The total sales by region for 2024 are:\n- North: 2,500,000",
    "sql_query": 'SELECT r.region_name, SUM(s.amount) FROM "bank"."sales" s JOIN bank.regions r ON s.region_id = r.region_id',
    "query_explanation": "Adds up the amounts.",
    "tokens": {"input_tokens": 812, "output_tokens": 64, "total_tokens": 876},
    "execution_result": {"Row 1": [{"columnName": "region_name", "value": "North"}]},
    "related_tables": [],
    "related_questions": ["What about 2023?"],
    "tables_used": ["bank.sales", "bank.regions"],
    "raw_graph": "",
    "sql_execution_time": 0.25,
    "vector_store_search_time": 0.5,
    "llm_time": 1.5,
    "total_execution_time": 2.25,
    "llm_provider": "OpenAI",
    "llm_model": "gpt-4o",
}


@dataclass(frozen=True)
class Act:
    status: int = 200
    body: bytes | Mapping[str, Any] = field(default_factory=lambda: USUAL)
    headers: Mapping[str, str] = field(default_factory=dict)
    silent: bool = False
    """Never answers."""
    hangs_up: bool = False


class DenodoServer:
    """`acts` are played first in, first out; with none left it gives its usual answer. `asked` are the requests that came."""

    def __init__(self) -> None:
        self.acts: deque[Act] = deque()
        self.asked: list[tuple[str, Mapping[str, str], Any]] = []
        self.stopping = threading.Event()
        self._http = _Quiet(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    @contextmanager
    def running(self) -> Iterator[DenodoServer]:
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


def _handler(server: DenodoServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            """A test's output is its result."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.asked.append((self.path, dict(self.headers), body))
            act = server.acts.popleft() if server.acts else Act()
            if act.silent:
                server.stopping.wait(60)
            if act.silent or act.hangs_up:
                self.close_connection = True
                return
            content = act.body if isinstance(act.body, bytes) else json.dumps(act.body).encode()
            self.send_response(act.status)
            for name, value in {"Content-Length": str(len(content)), **act.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

    return Handler
