"""Answering before a body was read, so that the answer arrives.

Closing a connection on somebody who is still sending makes their machine throw the answer away. So the answer goes out, and what
comes is let fall for a moment, within bounds, before the connection ends.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

LINGER_SECONDS = 2.0
LINGER_BYTES = 64 * 1024 * 1024


async def refuse(response: Response, scope: Scope, receive: Receive, send: Send) -> None:
    """Send `response` to a request whose body, if there is one, nobody has read."""
    headers = Headers(scope=scope)
    if headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers:
        await response(scope, receive, send)
        return
    response.headers["Connection"] = "close"
    await send({"type": "http.response.start", "status": response.status_code, "headers": response.raw_headers})
    await send({"type": "http.response.body", "body": response.body, "more_body": True})
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_SECONDS):
            await _let_fall(receive)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _let_fall(receive: Receive) -> None:
    dropped = 0
    while dropped < LINGER_BYTES:
        message = await receive()
        if message["type"] != "http.request" or not message.get("more_body", False):
            return
        dropped += len(message.get("body", b""))
