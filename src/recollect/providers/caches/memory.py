"""A cache in this process: bounded, safe from any thread, and forgetful on time."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable


class MemoryCache:
    """The most recently used entries, each until its time is up."""

    def __init__(self, most: int = 10_000, now: Callable[[], float] = time.monotonic) -> None:
        if most < 1:
            raise ValueError("a cache must hold at least one entry")
        self._most = most
        self._now = now
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, tuple[float, bytes]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    async def get(self, key: str) -> bytes | None:
        with self._lock:
            return self._live(key)

    async def set(self, key: str, value: bytes, ttl_s: float) -> None:
        with self._lock:
            self._put(key, self._now() + ttl_s, value)

    async def add(self, key: str, ttl_s: float) -> int:
        with self._lock:
            known = self._live(key)
            if known is not None and not known.isdigit():
                return 0
            until = self._now() + ttl_s if known is None else self._entries[key][0]
            count = int(known or 0) + 1
            self._put(key, until, b"%d" % count)
        return count

    async def drop(self, key: str) -> None:
        with self._lock:
            self._entries.pop(key, None)

    async def close(self) -> None:
        with self._lock:
            self._entries.clear()

    def _live(self, key: str) -> bytes | None:
        until, value = self._entries.get(key, (0.0, b""))
        if self._now() < until:
            self._entries.move_to_end(key)
            return value
        self._entries.pop(key, None)
        return None

    def _put(self, key: str, until: float, value: bytes) -> None:
        self._entries[key] = (until, value)
        self._entries.move_to_end(key)
        while len(self._entries) > self._most:
            self._entries.popitem(last=False)
