"""The MCP server inside the HTTP server: one path, behind the same frame, names, login and limits as every other door.

Its package is loaded with the first message, beside the loop: most servers never get one, and none should wait for it to start.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH = "/mcp"
SPEAKS_MCP = find_spec("mcp") is not None
"""An extra of its own: without it the server has one path less."""


class Mount:
    """One app's MCP server. It answers while `running()` is open."""

    def __init__(self) -> None:
        self._route = Route(PATH, self, methods=["POST"])
        self._starting: asyncio.Task[StreamableHTTPSessionManager] | None = None
        self._open: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self._over = asyncio.Event()
        try:
            yield
        finally:
            self._over.set()
            for task in (self._starting, self._open):
                if task is not None:
                    await asyncio.wait([task])
            self._starting = self._open = None

    def on(self, app: FastAPI) -> None:
        app.router.routes.append(self._route)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = self._route  # what the log and the counts call it
        sessions = await self._ready()
        await sessions.asgi_app(scope, receive, send)

    async def _ready(self) -> StreamableHTTPSessionManager:
        """Started once for all who wait: whoever hangs up takes nothing along. If it failed, the next one tries again."""
        starting = self._starting
        if starting is None or (starting.done() and starting.exception() is not None):
            starting = self._starting = asyncio.create_task(self._start())
        return await asyncio.shield(starting)

    async def _start(self) -> StreamableHTTPSessionManager:
        """Held open by a task of its own: the SDK wants to be left by the task that entered it, whoever closes the app."""
        made = await asyncio.to_thread(_loaded)
        opened = asyncio.Event()

        async def keep() -> None:
            async with made.run():
                opened.set()
                await self._over.wait()

        self._open = asyncio.create_task(keep())
        self._open.add_done_callback(lambda _: opened.set())
        await opened.wait()
        if self._open.done():
            self._open.result()
        return made


def _loaded() -> StreamableHTTPSessionManager:
    from recollect.doors.mcp.sessions import sessions

    return sessions()
