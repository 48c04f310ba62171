"""`bearer_token`: keys that we made ourselves. The store knows the SHA-256 of each; the secret is shown once, when it is made.

Looked up by that hash, so nothing is compared that could be timed. A key that was found stands for a few seconds in this process
before it is looked up again: that is how long a revoked one may still work.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any, ClassVar

from fastapi import Request

from recollect.doors.http.auth.caller import Caller, known_as
from recollect.doors.http.auth.credentials import authorization
from recollect.doors.http.auth.key_secrets import hash_of, is_secret
from recollect.engine import Engine
from recollect.errors import RecollectError, Unauthenticated, Unavailable
from recollect.model import ApiKey

STANDS_SECONDS = 5.0
TOUCHED_SECONDS = 60.0
PATIENCE_SECONDS = 2.0
MOST_STANDING = 10_000


class BearerToken:
    challenge = 'Bearer realm="recollect"'
    scheme: ClassVar[dict[str, Any] | None] = {"type": "http", "scheme": "bearer"}

    def __init__(self, space: str, now: Callable[[], float] = time.monotonic, outlasts_s: float = 0.0) -> None:
        """A key that was found is believed for `outlasts_s` longer where the store can't be asked."""
        self._space, self._now, self._outlasts_s = space, now, outlasts_s
        self._standing: OrderedDict[str, tuple[float, ApiKey]] = OrderedDict()
        self._touched: dict[str, float] = {}

    async def __call__(self, request: Request) -> Caller:
        token = authorization(request, "Bearer")
        if not is_secret(token):
            raise Unauthenticated("the token is none of our keys")
        engine: Engine = request.app.state.engine
        key = await self._key(engine, hash_of(token))
        _check(key, engine.clock.now())
        await self._touch(engine, key)
        return known_as(f"key:{key.id}", key.tenant, key.user, self._space, key.role)

    async def _key(self, engine: Engine, secret_hash: str) -> ApiKey:
        until, standing = self._standing.get(secret_hash, (0.0, None))
        if standing is not None and until > self._now():
            return standing
        lasting = standing if self._now() < until + self._outlasts_s else None
        try:
            async with asyncio.timeout(None if lasting is None else PATIENCE_SECONDS):
                key = await engine.store.system(lambda system: system.find_key(secret_hash))
        except (Unavailable, TimeoutError):
            if lasting is None:
                raise
            return lasting
        self._standing.pop(secret_hash, None)
        if key is None:
            raise Unauthenticated("there is no such key")
        self._standing[secret_hash] = self._now() + STANDS_SECONDS, key
        if len(self._standing) > MOST_STANDING:
            self._standing.popitem(last=False)
        return key

    async def _touch(self, engine: Engine, key: ApiKey) -> None:
        """Note now and then that the key is in use. What can't be noted is no reason to turn its owner away."""
        if self._now() < self._touched.get(key.id, 0.0):
            return
        self._touched.pop(key.id, None)
        self._touched[key.id] = self._now() + TOUCHED_SECONDS
        if len(self._touched) > MOST_STANDING:
            del self._touched[next(iter(self._touched))]
        with suppress(RecollectError, TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await engine.store.system(lambda system: system.touch_key(key.id, engine.clock.now()))


def carries_key(request: Request) -> bool:
    """Whether what it comes with looks like one of our keys."""
    try:
        return is_secret(authorization(request, "Bearer"))
    except Unauthenticated:
        return False


def _check(key: ApiKey, now: datetime) -> None:
    if key.revoked_at is not None:
        raise Unauthenticated(f"key {key.id} was revoked")
    if key.expires_at is not None and key.expires_at <= now:
        raise Unauthenticated(f"key {key.id} has expired")
