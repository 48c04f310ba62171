"""A cache on Redis, which several processes share, and which may be slow, away or gone without anyone noticing.

Calls go over threads of its own, because an engine may be asked from several event loops and a connection belongs to one. None
waits longer than a tenth of a second. A server that fails is left alone (`breaker`), told of once in the log, and looked for in
the background; until it is back everything is simply not there.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from recollect.errors import InvalidInput, Unsupported
from recollect.providers.caches.breaker import Breaker

if TYPE_CHECKING:
    from redis import Redis

T = TypeVar("T")

THREADS = 8
MOST_WAITING = 256

_log = logging.getLogger(__name__)


class RedisCache:
    def __init__(self, url: str, wait_s: float = 0.1, breaker: Breaker | None = None) -> None:
        self._redis, mishap = _client(url, wait_s)
        self._trouble = (mishap, OSError, TimeoutError, ValueError)
        self._wait_s = wait_s
        self._breaker = breaker or Breaker()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="recollect-cache")
        self._room = threading.BoundedSemaphore(MOST_WAITING)

    async def get(self, key: str) -> bytes | None:
        def get() -> bytes | None:
            value = self._redis.get(key)
            return value if isinstance(value, bytes) else None

        return await self._asked(get, None)

    async def set(self, key: str, value: bytes, ttl_s: float) -> None:
        await self._asked(lambda: self._redis.set(key, value, px=_milliseconds(ttl_s)), None)

    async def add(self, key: str, ttl_s: float) -> int:
        def add() -> int:
            # In one transaction, so that no count is ever without its end.
            with self._redis.pipeline(transaction=True) as both:
                both.set(key, 0, px=_milliseconds(ttl_s), nx=True)
                both.incr(key)
                return int(both.execute()[1])

        return await self._asked(add, 0)

    async def drop(self, key: str) -> None:
        await self._asked(lambda: self._redis.delete(key), None)

    async def close(self) -> None:
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)
        self._redis.close()

    async def _asked(self, call: Callable[[], T], otherwise: T) -> T:
        """What the call gives; `otherwise` if it fails, takes too long, or isn't worth trying."""
        if self._breaker.is_open:
            if self._breaker.due():
                self._submitted(self._redis.ping)
            return otherwise
        asked = self._submitted(call)
        if asked is None:
            return otherwise
        try:
            return await asyncio.wait_for(asyncio.wrap_future(asked), self._wait_s)
        except self._trouble as trouble:
            self._missed(trouble)
            return otherwise

    def _submitted(self, call: Callable[[], T]) -> Future[T] | None:
        """The call on its way; None where too many wait already or the cache is closed."""
        if not self._room.acquire(blocking=False):
            return None
        try:
            asked = self._threads.submit(call)
        except RuntimeError:
            self._room.release()
            return None
        asked.add_done_callback(self._answered)
        return asked

    def _answered(self, asked: Future[T]) -> None:
        self._room.release()
        if not asked.cancelled() and asked.exception() is None and self._breaker.succeeded():
            _log.info("the shared cache answers again")

    def _missed(self, trouble: BaseException) -> None:
        if self._breaker.failed():
            _log.warning("the shared cache does not answer (%s); going on without it", type(trouble).__name__)


def _client(url: str, wait_s: float) -> tuple[Redis, type[Exception]]:
    """The client, and the error of its own that it raises. The package is one of those that only some installations have."""
    try:
        from redis import Redis, RedisError
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ImportError as problem:
        raise Unsupported(f"a shared cache needs the package {problem.name!r}: install recollect[redis]") from problem
    try:
        client = Redis.from_url(
            url,
            socket_timeout=wait_s,
            socket_connect_timeout=wait_s,
            retry=Retry(NoBackoff(), 0),
            max_connections=2 * THREADS,
            client_name="recollect",
        )
    except ValueError:
        raise InvalidInput("the Redis address is not one: expected redis://, rediss:// or unix://") from None
    return client, RedisError


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
