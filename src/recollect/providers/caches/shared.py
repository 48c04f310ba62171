"""A cache on Redis, which several processes share. What can't be reached (`link`) is simply not there."""

from __future__ import annotations

from collections.abc import Callable

from recollect.providers.caches.breaker import Breaker
from recollect.providers.caches.link import Link, milliseconds


class RedisCache:
    def __init__(self, url: str, wait_s: float = 0.1, breaker: Breaker | None = None) -> None:
        self._link = Link(url, "the shared cache", wait_s, breaker)
        self._redis = self._link.redis

    def tell(self, told: Callable[[bool], None]) -> None:
        """Whom to tell when the server is given up for the time being, and when it answers again."""
        self._link.told = told

    async def get(self, key: str) -> bytes | None:
        def get() -> bytes | None:
            value = self._redis.get(key)
            return value if isinstance(value, bytes) else None

        return await self._link.asked(get, None)

    async def set(self, key: str, value: bytes, ttl_s: float) -> None:
        await self._link.asked(lambda: self._redis.set(key, value, px=milliseconds(ttl_s)), None)

    async def add(self, key: str, ttl_s: float) -> int:
        def add() -> int:
            # In one transaction, so that no count is ever without its end.
            with self._redis.pipeline(transaction=True) as both:
                both.set(key, 0, px=milliseconds(ttl_s), nx=True)
                both.incr(key)
                return int(both.execute()[1])

        return await self._link.asked(add, 0)

    async def drop(self, key: str) -> None:
        await self._link.asked(lambda: self._redis.delete(key), None)

    async def close(self) -> None:
        await self._link.close()
