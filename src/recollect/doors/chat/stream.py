"""A turn as server-sent events. While nothing is said a comment keeps the connection open; a reader who leaves ends the turn."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from recollect.doors.chat.translate import event_out
from recollect.engine.chatting.talks import Talk

MEDIA_TYPE = "text/event-stream"
HEARTBEAT_SECONDS = 15.0
HEARTBEAT = b": still here\n\n"


class EventStream(StreamingResponse):
    def __init__(self, talk: Talk) -> None:
        super().__init__(_lines(talk), media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no"})
        self._talk = talk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._talk.leave()


async def _lines(talk: Talk) -> AsyncIterator[bytes]:
    while True:
        try:
            async with asyncio.timeout(HEARTBEAT_SECONDS):
                event = await talk.next()
        except TimeoutError:
            yield HEARTBEAT
            continue
        if event is None:
            return
        name, data = event_out(event)
        # ASCII on the wire: half of a character may come in one piece and half in the next.
        yield f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()
