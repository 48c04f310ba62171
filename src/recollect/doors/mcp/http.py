"""The MCP server inside the HTTP server: one path, behind the same frame, names, login and limits as every other door.

Stateless on purpose: a request is answered from what it carries, by any process, for whom it says. The SDK's own checks of names
and sizes are left to the frame, which has made them before a request arrives here.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

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

    def running(self) -> AbstractAsyncContextManager[None]:
        return self._manager.run()

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
