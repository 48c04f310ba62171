"""The outermost ring: every request gets a correlation id, every answer its headers, a log line and a count.

It is also the last resort. What nobody caught is logged by its kind and place, without its message, and answered with a
plain 500.
"""

from __future__ import annotations

import logging
from time import perf_counter

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.doors.http import correlation
from recollect.doors.http.errors import error_response
from recollect.doors.http.logs import exception_facts
from recollect.doors.http.measuring import Metrics

logger = logging.getLogger("recollect.http")

GONE = 499
"""For the log only: the client went away before there was an answer."""
QUIET = frozenset({"/healthz", "/readyz", "/metrics"})
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
}


class Frame:
    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            id = correlation.accepted(Headers(scope=scope).get(correlation.HEADER, ""))
            scope.setdefault("state", {})["correlation_id"] = id
            token = correlation.current.set(id)
            try:
                await self._answered(scope, receive, send, id)
            finally:
                correlation.current.reset(token)
        # Anything else is a protocol that is not spoken here.

    async def _answered(self, scope: Scope, receive: Receive, send: Send, id: str) -> None:
        started, status = perf_counter(), 0

        async def out(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _dress(MutableHeaders(scope=message), id, status, perf_counter() - started)
            await send(message)

        try:
            await self._app(scope, receive, out)
        except Exception as error:  # Whatever it is: the server goes on, and the client learns no more.
            logger.error("unexpected", extra={"facts": exception_facts(error)})
            if not status:
                sorry = "something went wrong on our side; the correlation id finds it in the log"
                await error_response(500, "broken", sorry)(scope, receive, out)
        finally:
            self._told(scope, status or GONE, perf_counter() - started)

    def _told(self, scope: Scope, status: int, seconds: float) -> None:
        route = template_of(scope)
        self._metrics.answered(scope["method"], route, status, seconds)
        level = logging.DEBUG if route in QUIET and status < 400 else logging.INFO
        facts = {"method": scope["method"][:16], "route": route, "status": status, "ms": round(seconds * 1000, 1)}
        logger.log(level, "answered", extra={"facts": facts})


def template_of(scope: Scope) -> str:
    """The path as the door wrote it, `/v1/memories/{id}`: what was asked for may be somebody's secret."""
    whole = scope.get("fastapi", {}).get("effective_route_context")
    return str(getattr(whole or scope.get("route"), "path", "unmatched"))


def _dress(headers: MutableHeaders, id: str, status: int, seconds: float) -> None:
    """What every answer carries; one that has its own policy keeps it. How long a login took to fail is nobody's business."""
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    headers[correlation.HEADER] = id
    if status != 401:
        headers["Server-Timing"] = f"total;dur={seconds * 1000:.1f}"
