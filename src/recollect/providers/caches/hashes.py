"""Sessions under way as hashes on Redis, so that every process and every tool beside it sees the same.

    session:{user}:{session}                     a hash      24 h    session:{tenant}:{user}:{space}:{session} for all others
    sessions:{hash of the scope}                 a set       24 h    which of them there are, so that all can be removed at once
    session_epoch:{hash of the scope}            a number    48 h    counts up with every removal; all that is left of one

A copy is only written by whoever holds a ticket of the present epoch and took it before looking at the database: one that is
late, by however much, can't bring back what was removed meanwhile. A removal that doesn't reach the server is owed, and done when
the server is back.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from hashlib import blake2b
from urllib.parse import quote

from recollect.model import Scope
from recollect.providers.caches.breaker import Breaker
from recollect.providers.caches.link import Link, milliseconds

KEPT_SECONDS = 24 * 3600
MOST_OWED = 100_000

_PUT = """
if (redis.call('GET', KEYS[3]) or '0') ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], unpack(ARGV, 3))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('SADD', KEYS[2], KEYS[1])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 1
"""
_DROP = """
for _, name in ipairs(redis.call('SMEMBERS', KEYS[1])) do redis.call('DEL', name) end
redis.call('DEL', KEYS[1])
redis.call('INCR', KEYS[2])
redis.call('PEXPIRE', KEYS[2], ARGV[1])
return 1
"""


class RedisHashes:
    def __init__(self, url: str, pepper: bytes = b"", wait_s: float = 0.1, breaker: Breaker | None = None) -> None:
        self._link = Link(url, "the server of shared sessions", wait_s, breaker)
        self._redis = self._link.redis
        self._put, self._drop = self._redis.register_script(_PUT), self._redis.register_script(_DROP)
        self._pepper = pepper[:64]
        self._lock = threading.Lock()
        self._owed: dict[Scope, None] = {}

    async def get(self, scope: Scope, session_id: str) -> Mapping[str, str] | None:
        def get() -> dict[str, str] | None:
            found = self._redis.hgetall(hash_name(scope, session_id))
            return {_text(name): _text(value) for name, value in found.items()} or None

        return None if scope in self._owed else await self._link.asked(get, None)

    async def ticket(self, scope: Scope) -> str | None:
        if scope in self._owed:
            return None

        def epoch() -> str | None:
            return _text(self._redis.get(self._named("session_epoch", scope)) or b"0")

        return await self._link.asked(epoch, None)

    async def put(self, scope: Scope, session_id: str, fields: Mapping[str, str], ticket: str) -> None:
        keys = [hash_name(scope, session_id), self._named("sessions", scope), self._named("session_epoch", scope)]
        told: list[str | int] = [ticket, milliseconds(KEPT_SECONDS)]
        told += [part for field in fields.items() for part in field]
        await self._link.asked(lambda: self._put(keys=keys, args=told), None)

    async def drop(self, scope: Scope) -> None:
        keys = [self._named("sessions", scope), self._named("session_epoch", scope)]
        self._owe(scope)
        if await self._link.asked(lambda: self._drop(keys=keys, args=[milliseconds(2 * KEPT_SECONDS)]), None):
            with self._lock:
                self._owed.pop(scope, None)

    async def settle(self) -> None:
        for scope in list(self._owed):
            await self.drop(scope)
            if scope in self._owed:
                return

    async def close(self) -> None:
        await self.settle()
        await self._link.close()

    def _named(self, what: str, scope: Scope) -> str:
        owner = "\0".join((scope.tenant, scope.user, scope.space)).encode()
        return f"{what}:{blake2b(owner, key=self._pepper, digest_size=16).hexdigest()}"

    def _owe(self, scope: Scope) -> None:
        with self._lock:
            self._owed[scope] = None
            if len(self._owed) > MOST_OWED:
                del self._owed[next(iter(self._owed))]


def hash_name(scope: Scope, session_id: str) -> str:
    """`session:{user}:{session}` for the one tenant and the one space that most have, with both named for all others."""
    plain = (scope.tenant, scope.space) == ("default", "default")
    owner = (scope.user,) if plain else (scope.tenant, scope.user, scope.space)
    return ":".join(("session", *map(_quoted, owner), _quoted(session_id)))


def _quoted(part: str) -> str:
    """Without the sign that parts are joined by, or two people's keys could be spelt alike."""
    return quote(part, safe=" @+")


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
