"""The MCP server inside the HTTP server: one path, behind the same frame, names, login and limits as every other door.

Stateless on purpose: a request is answered from what it carries, by any process, for whom it says. The SDK's own checks of names
and sizes are left to the frame, which has made them before a request arrives here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from recollect.doors.http.asking import engine_of, scope_of
from recollect.doors.mcp.server import Context, server
from recollect.errors import Unauthenticated
from recollect.tools.holding import Held

PATH = "/mcp"
FRAME_DECIDES = 2**31


class Mount:
    """One app's MCP server. It answers while `running()` is open."""

    def __init__(self) -> None:
        self._manager = StreamableHTTPSessionManager(
            server(_who), json_response=True, stateless=True, max_request_body_size=FRAME_DECIDES
        )
        self._route = Route(PATH, self, methods=["POST"])

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """In a task of its own: the SDK wants to be left by the task that entered it, whoever opens and closes the app."""
        opened, over = asyncio.Event(), asyncio.Event()

        async def run() -> None:
            async with self._manager.run():
                opened.set()
                await over.wait()

        task = asyncio.create_task(run())
        task.add_done_callback(lambda _: opened.set())
        await opened.wait()
        try:
            yield
        finally:
            over.set()
            await task

    def on(self, app: FastAPI) -> None:
        app.router.routes.append(self._route)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = self._route  # what the log and the counts call it
        await self._manager.asgi_app(scope, receive, send)


async def _who(context: Context) -> Held:
    request = context.request
    if request is None or not hasattr(request.state, "caller"):
        raise Unauthenticated("a message without a request")
    return Held(await engine_of(request), await scope_of(request))
