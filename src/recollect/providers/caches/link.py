"""The way to a Redis that may be slow, away or gone without anyone noticing.

Calls go over threads of its own, because an engine may be asked from several event loops and a connection belongs to one. None
waits longer than a tenth of a second. A server that fails is left alone (`breaker`), told of once in the log, and looked for in
the background; until it is back every call gives what it was to give otherwise.
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


class Link:
    """`named` is what the log calls it."""

    def __init__(self, url: str, named: str, wait_s: float = 0.1, breaker: Breaker | None = None) -> None:
        self.redis, mishap = _client(url, wait_s)
        self._trouble = (mishap, OSError, TimeoutError, ValueError)
        self._named = named
        self._wait_s = wait_s
        self._breaker = breaker or Breaker()
        self.told: Callable[[bool], None] = lambda answers: None
        """Told when it is given up for the time being, and when it answers again."""
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="recollect-cache")
        self._room = threading.BoundedSemaphore(MOST_WAITING)

    async def asked(self, call: Callable[[], T], otherwise: T) -> T:
        """What the call gives; `otherwise` if it fails, takes too long, or isn't worth trying."""
        if self._breaker.is_open:
            if self._breaker.due():
                self._submitted(self.redis.ping)
            return otherwise
        asked = self._submitted(call)
        if asked is None:
            return otherwise
        try:
            return await asyncio.wait_for(asyncio.wrap_future(asked), self._wait_s)
        except self._trouble as trouble:
            self._missed(trouble)
            return otherwise

    async def close(self) -> None:
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)
        self.redis.close()

    def _submitted(self, call: Callable[[], T]) -> Future[T] | None:
        """The call on its way; None where too many wait already or the link is closed."""
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
            _log.info("%s answers again", self._named)
            self.told(True)

    def _missed(self, trouble: BaseException) -> None:
        if self._breaker.failed():
            _log.warning("%s does not answer (%s); going on without it", self._named, type(trouble).__name__)
            self.told(False)


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


def milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
