"""A model for trying things out: it says what its script says, over HTTP, in the form that OpenAI's clients expect.

It speaks `chat/completions`, streamed or whole, and `responses`, on this machine only: the examples beside it need no key and no
network. Replace its address with that of a real model and everything else stays as it is.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class ToolCall(NamedTuple):
    """The model wants a tool to be called."""

    name: str
    arguments: Mapping[str, Any] | str

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


Line = str | ToolCall | Callable[[Mapping[str, Any]], str]
"""What to say next: a text, a call of a tool, or a function of the request that gives a text."""


class ScriptedModel:
    def __init__(self, *script: Line) -> None:
        self.script = list(script)
        self.asked: list[dict[str, Any]] = []
        """Every request, as it came."""
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @contextmanager
    def running(self) -> Iterator[ScriptedModel]:
        thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._http.shutdown()
            self._http.server_close()
            thread.join()

    def answer(self, path: str, asked: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(asked)
        line = self.script.pop(0) if self.script else "I have nothing more to say."
        said = line if isinstance(line, str | ToolCall) else line(asked)
        number = len(self.asked)
        return _response(said, number) if path.endswith("/responses") else _completion(said, number)


def _completion(said: str | ToolCall, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None if isinstance(said, ToolCall) else said}
    if isinstance(said, ToolCall):
        function = {"name": said.name, "arguments": said.text}
        message["tool_calls"] = [{"id": f"call_{number}", "type": "function", "function": function}]
    reason = "tool_calls" if isinstance(said, ToolCall) else "stop"
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_767_225_600 + number,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def _streamed(whole: Mapping[str, Any]) -> bytes:
    """The same completion in pieces: word by word, or the call of a tool at once."""
    (choice,) = whole["choices"]
    spoken = (choice["message"]["content"] or "").split(" ")
    words = [{"content": f"{word} "} for word in spoken[:-1]] + [{"content": spoken[-1]}]
    calls = [{"tool_calls": [{"index": 0, **call}]} for call in choice["message"].get("tool_calls", ())]
    deltas: list[dict[str, Any]] = [{"role": "assistant"}, *(calls or words), {}]
    ends = [None] * (len(deltas) - 1) + [choice["finish_reason"]]
    chunks = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
        for delta, end in zip(deltas, ends, strict=True)
    ]
    head = {key: whole[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    events = [*chunks, {"choices": [], "usage": whole["usage"]}]
    return b"".join(b"data: " + json.dumps(head | each).encode() + b"\n\n" for each in events) + b"data: [DONE]\n\n"


def _response(said: str | ToolCall, number: int) -> dict[str, Any]:
    if isinstance(said, ToolCall):
        output: dict[str, Any] = {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": said.name,
            "arguments": said.text,
            "status": "completed",
        }
    else:
        part = {"type": "output_text", "text": said, "annotations": [], "logprobs": []}
        output = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
        output["content"] = [part]
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1_767_225_600 + number,
        "model": "scripted",
        "status": "completed",
        "output": [output],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, **details},
    }


def _handler(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = model.answer(self.path, asked)
            streams = bool(asked.get("stream")) and "choices" in answer
            body = _streamed(answer) if streams else json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream" if streams else "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler
