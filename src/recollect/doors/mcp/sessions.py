"""The SDK's side of the MCP server over HTTP. Loading it takes a fifth of a server's start, so the first message asks for it.

Stateless on purpose: a request is answered from what it carries, by any process, for whom it says. The SDK's own checks of names
and sizes are left to the frame, which has made them before a request arrives here.
"""

from __future__ import annotations

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from recollect.doors.http.asking import engine_of, scope_of
from recollect.doors.mcp.server import Context, server
from recollect.errors import Unauthenticated
from recollect.tools.holding import Held

FRAME_DECIDES = 2**31


def sessions() -> StreamableHTTPSessionManager:
    return StreamableHTTPSessionManager(
        server(_who), json_response=True, stateless=True, max_request_body_size=FRAME_DECIDES
    )


async def _who(context: Context) -> Held:
    request = context.request
    if request is None or not hasattr(request.state, "caller"):
        raise Unauthenticated("a message without a request")
    return Held(await engine_of(request), await scope_of(request))
