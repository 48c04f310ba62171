"""How fast an embedding provider may be asked in the background: so many calls a minute, however many workers there are.

Asked before work is claimed, so that nothing waits under a lease. Processes that share a cache share the count; where that
can't be reached each keeps to the limit by itself. Questions of people are not counted: they are few, and somebody waits.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from recollect.ports import Cache

WINDOW_SECONDS = 60.0
LOOK_AGAIN_SECONDS = 2.0
BURST_SECONDS = 5.0


class Pace:
    """Safe from any thread. `per_minute` 0 means no limit."""

    def __init__(
        self, per_minute: int = 0, shared: Cache | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_minute = per_minute
        self._shared = shared
        self._now = now
        self._lock = threading.Lock()
        self._room: dict[str, tuple[float, float]] = {}
        """By provider: calls that may be made at once, and when that was reckoned."""

    async def wait(self, provider: str) -> float:
        """0.0, and one call is counted; or for how many seconds none may be made."""
        if not self._per_minute:
            return 0.0
        pause = self._own(provider)
        if pause or self._shared is None:
            return pause
        # A count of 0 says that nobody counts: the shared cache is away.
        count = await self._shared.add(f"embed_rate:{provider}", WINDOW_SECONDS)
        return LOOK_AGAIN_SECONDS if count > self._per_minute else 0.0

    def _own(self, provider: str) -> float:
        rate = self._per_minute / WINDOW_SECONDS
        most = max(1.0, rate * BURST_SECONDS)
        with self._lock:
            now = self._now()
            room, since = self._room.get(provider, (most, now))
            room = min(most, room + (now - since) * rate)
            if room < 1.0:
                self._room[provider] = room, now
                return (1.0 - room) / rate
            self._room[provider] = room - 1.0, now
            return 0.0
