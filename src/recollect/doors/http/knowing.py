"""Nobody gets past here unknown, whatever path they ask for: only the pages and health checks that were named as open are.

It comes before a body is read and before it is known whether the path exists, so a stranger can neither make the server read nor
learn what there is. The hard limit of requests is counted here too, per user.
"""

from __future__ import annotations

import time
from hashlib import sha256

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.doors.http.auth.bearer_token import BearerToken, carries_key
from recollect.doors.http.auth.caller import Caller, Identity
from recollect.doors.http.errors import answer_to
from recollect.doors.http.refusing import refuse
from recollect.errors import RateLimited, RecollectError

WINDOW_SECONDS = 60
OUTAGE_SECONDS = 3600.0
KEYED = frozenset({"/metrics"})
"""Read by a program every few seconds, and a program has no login of a person's: a key is good there, however people come."""


class Known:
    def __init__(self, app: ASGIApp, identity: Identity, open_paths: frozenset[str], limit: int) -> None:
        self._app, self._identity, self._open, self._limit = app, identity, open_paths, limit
        # What is counted is wanted most while the store is away.
        self._keys = BearerToken("default", outlasts_s=OUTAGE_SECONDS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in self._open:
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        try:
            caller = await self._known(request)
            if self._limit:
                await self._count(request, caller)
        except RecollectError as error:
            await refuse(answer_to(error, self._identity.challenge), scope, receive, send)
        else:
            request.state.caller = caller
            await self._app(scope, receive, send)

    async def _known(self, request: Request) -> Caller:
        by_key = request.scope["path"] in KEYED and carries_key(request)
        return await (self._keys if by_key else self._identity)(request)

    async def _count(self, request: Request, caller: Caller) -> None:
        cache = request.app.state.engine.cache
        if cache is None:
            return
        now = time.time()
        user = sha256(f"{caller.scope.tenant}\0{caller.scope.user}".encode()).hexdigest()[:32]
        if await cache.add(f"requests:{user}:{int(now // WINDOW_SECONDS)}", WINDOW_SECONDS) > self._limit:
            raise RateLimited(
                f"more than {self._limit} requests a minute; try again later",
                limit=self._limit,
                retry_after_s=round(WINDOW_SECONDS - now % WINDOW_SECONDS, 1),
            )
