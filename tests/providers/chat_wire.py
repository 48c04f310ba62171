"""A real HTTP server on the loopback that speaks `chat/completions`, streams, and misbehaves when told to.

What it is to do comes from a queue, one act for each request; with an empty queue it answers with its usual words.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.services.wire import Exchange, Wire

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


def usage(asked: Mapping[str, Any], text: str) -> dict[str, int]:
    prompt = sum(len(each["content"].split()) for each in asked["messages"])
    return {"prompt_tokens": prompt, "completion_tokens": len(text.split()), "total_tokens": prompt + len(text.split())}


class ChatServer(Wire):
    path = "/v1"

    def __init__(self) -> None:
        super().__init__()
        self.acts: deque[Act] = deque()
        self.asked: list[Mapping[str, Any]] = []
        self.keys: list[str | None] = []
        self.knows: set[str] = {"json_schema", "json_object"}
        """The response formats it accepts."""
        self.left = threading.Event()
        """Set when a client went away in the middle of an answer."""

    def meet(self, exchange: Exchange) -> None:
        path, headers, asked = exchange.seen()
        self.asked.append(asked)
        self.keys.append(headers.get("Authorization"))
        act = self.act_for(asked)
        wanted = asked.get("response_format", {}).get("type")
        if path != "/v1/chat/completions":
            act = Act(status=404, body=b'{"error":{"message":"no such path"}}')
        elif wanted is not None and wanted not in self.knows:
            act = Act(status=400, body=b'{"error":{"message":"response_format is not supported"}}')
        self.stopping.wait(act.late_s)
        try:
            self._play(act, asked, exchange)
        except (BrokenPipeError, ConnectionResetError):
            self.left.set()

    def act_for(self, asked: Mapping[str, Any]) -> Act:
        return self.acts.popleft() if self.acts else Act()

    def _play(self, act: Act, asked: Mapping[str, Any], exchange: Exchange) -> None:
        if act.status != 200 or act.body is not None:
            exchange.says(act.status, act.body or b"{}", act.headers)
        elif asked.get("stream"):
            self._stream(act, asked, exchange)
        else:
            choice = {"index": 0, "message": {"role": "assistant", "content": act.text}, "finish_reason": "stop"}
            counted = {"usage": usage(asked, act.text)} if act.usage else {}
            exchange.says(200, {"choices": [choice], **counted}, act.headers)

    def _stream(self, act: Act, asked: Mapping[str, Any], exchange: Exchange) -> None:
        exchange.hangs_up()
        exchange.starts(200, {"Content-Type": "text/event-stream", "Connection": "close"})
        for count, word in enumerate(act.text.split(" ")):
            if count == act.hangs_up_after:
                return
            while count == act.stalls_after and not self.stopping.is_set():
                self.stopping.wait(0.05)
                exchange.wfile.write(b": still here\n\n" if act.drips else b"")
                exchange.wfile.flush()
            _event(exchange, {"choices": [{"index": 0, "delta": {"content": f" {word}" if count else word}}]})
            if act.event is not None and not count:
                exchange.wfile.write(act.event)
        _event(exchange, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        if act.usage:
            _event(exchange, {"choices": [], "usage": usage(asked, act.text)})
        exchange.wfile.write(b"data: [DONE]\n\n")


class Interlocutor(ChatServer):
    """Acts for those who talk to it alone: what a background asks meanwhile, to learn or to judge, gets the usual words."""

    def act_for(self, asked: Mapping[str, Any]) -> Act:
        return super().act_for(asked) if asked.get("stream") else Act()


def _event(exchange: Exchange, data: Mapping[str, Any]) -> None:
    exchange.wfile.write(b"data: " + json.dumps(data).encode() + b"\r\n\r\n")
    exchange.wfile.flush()
