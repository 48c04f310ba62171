"""A real HTTP server on the loopback that speaks `chat/completions`, streams, and misbehaves when told to.

What it is to do comes from a queue, one act for each request; with an empty queue it answers with its usual words.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USUAL = "Ana lives in Lyon."


@dataclass(frozen=True)
class Act:
    text: str = USUAL
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """Sent as it is, instead of an answer."""
    late_s: float = 0.0
    """Silence before the first byte."""
    stalls_after: int | None = None
    """Pieces sent before it falls silent for good."""
    hangs_up_after: int | None = None
    """Pieces sent before it closes the connection."""
    event: bytes | None = None
    """An event sent after the first piece of a stream."""
    drips: bool = False
    """Keeps the connection busy with comments that say nothing."""
    usage: bool = True


class ChatServer:
    def __init__(self) -> None:
        self.acts: deque[Act] = deque()
        self.asked: list[Mapping[str, Any]] = []
        self.keys: list[str | None] = []
        self.knows: set[str] = {"json_schema", "json_object"}
        """The response formats it accepts."""
        self.stopping = threading.Event()
        self.left = threading.Event()
        """Set when a client went away in the middle of an answer."""
        self._http = _Quiet(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @contextmanager
    def running(self) -> Iterator[ChatServer]:
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
    request_queue_size = 256

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up are what some of the tests are about."""


def usage(asked: Mapping[str, Any], text: str) -> dict[str, int]:
    prompt = sum(len(each["content"].split()) for each in asked["messages"])
    return {"prompt_tokens": prompt, "completion_tokens": len(text.split()), "total_tokens": prompt + len(text.split())}


def _handler(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.asked.append(asked)
            server.keys.append(self.headers.get("Authorization"))
            act = server.acts.popleft() if server.acts else Act()
            wanted = asked.get("response_format", {}).get("type")
            if self.path != "/v1/chat/completions":
                act = Act(status=404, body=b'{"error":{"message":"no such path"}}')
            elif wanted is not None and wanted not in server.knows:
                act = Act(status=400, body=b'{"error":{"message":"response_format is not supported"}}')
            server.stopping.wait(act.late_s)
            try:
                self._act(act, asked)
            except (BrokenPipeError, ConnectionResetError):
                server.left.set()

        def _act(self, act: Act, asked: Mapping[str, Any]) -> None:
            if act.status != 200 or act.body is not None:
                self._send(act.status, act.body or b"{}", act.headers)
            elif asked.get("stream"):
                self._stream(act, asked)
            else:
                choice = {"index": 0, "message": {"role": "assistant", "content": act.text}, "finish_reason": "stop"}
                counted = {"usage": usage(asked, act.text)} if act.usage else {}
                self._send(200, json.dumps({"choices": [choice], **counted}).encode(), act.headers)

        def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _stream(self, act: Act, asked: Mapping[str, Any]) -> None:
            self.close_connection = True
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            for count, word in enumerate(act.text.split(" ")):
                if count == act.hangs_up_after:
                    return
                while count == act.stalls_after and not server.stopping.is_set():
                    server.stopping.wait(0.05)
                    self.wfile.write(b": still here\n\n" if act.drips else b"")
                    self.wfile.flush()
                self._event({"choices": [{"index": 0, "delta": {"content": f" {word}" if count else word}}]})
                if act.event is not None and not count:
                    self.wfile.write(act.event)
            self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
            if act.usage:
                self._event({"choices": [], "usage": usage(asked, act.text)})
            self.wfile.write(b"data: [DONE]\n\n")

        def _event(self, data: Mapping[str, Any]) -> None:
            self.wfile.write(b"data: " + json.dumps(data).encode() + b"\r\n\r\n")
            self.wfile.flush()

    return Handler
