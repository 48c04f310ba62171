"""Bodies: no larger than allowed, no slower than allowed, and JSON. Counted as they arrive, whatever their sender announces.

A body is read whole before a handler sees it: handlers never wait for the network, and a refusal is always a whole answer.
"""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.doors.http.errors import error_response
from recollect.doors.http.refusing import refuse

LINES = "application/x-ndjson"


class Gone(Exception):
    """The client went away in the middle of its body."""


class Bodies:
    def __init__(self, app: ASGIApp, most_bytes: int, seconds: float) -> None:
        self._app, self._most, self._seconds = app, most_bytes, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        if "content-length" not in headers and "transfer-encoding" not in headers:
            await self._app(scope, receive, send)
            return
        try:
            taken = self._announced(headers) or await self._read(receive)
        except Gone:
            return
        if isinstance(taken, bytes) and taken and not is_json(headers):
            taken = _unreadable()
        if isinstance(taken, Response):
            await refuse(taken, scope, receive, send)
        else:
            await self._app(scope, _replayed(taken, receive), send)

    def _announced(self, headers: Headers) -> Response | None:
        """What can be refused before any of it is read."""
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()):
            return error_response(400, "invalid_input", "the length of the body is not a number")
        if len(length) > 15 or int(length) > self._most:
            return self._too_large()
        return _unreadable() if int(length) and not is_json(headers) else None

    async def _read(self, receive: Receive) -> bytes | Response:
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Gone
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > self._most:
                        return self._too_large()
                    if not message.get("more_body", False):
                        return b"".join(parts)
        except TimeoutError:
            return error_response(408, "too_slow", f"the body took longer than {self._seconds:g} s")

    def _too_large(self) -> Response:
        message = f"the body is larger than {self._most:,} bytes"
        return error_response(413, "too_large", message, {"max_bytes": self._most})


def is_json(headers: Headers) -> bool:
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        return False
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind in ("application/json", LINES) or (kind.startswith("application/") and kind.endswith("+json"))


def _unreadable() -> Response:
    message = "send JSON, not compressed, with Content-Type: application/json"
    return error_response(415, "unsupported_media_type", message)


def _replayed(body: bytes, receive: Receive) -> Receive:
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
