"""Whether somebody who may be away is worth asking.

After a few failures in a row nobody asks any more. From time to time one is sent to look, and nobody waits for that one; the
longer the other side stays away, the more seldom.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Breaker:
    """Safe from any thread."""

    def __init__(
        self,
        after: int = 2,
        first_s: float = 1.0,
        longest_s: float = 30.0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._after, self._first_s, self._longest_s, self._now = after, first_s, longest_s, now
        self._lock = threading.Lock()
        self._failures = 0
        self._openings = 0
        self._look_at = 0.0

    @property
    def is_open(self) -> bool:
        return self._failures >= self._after

    def due(self) -> bool:
        """Whether somebody should go and look now. True for one asker, then not again until the next pause is over."""
        with self._lock:
            if not self.is_open or self._now() < self._look_at:
                return False
            self._pause()
            return True

    def failed(self) -> bool:
        """Note a failure; True if this one opened the breaker."""
        with self._lock:
            self._failures += 1
            if self._failures != self._after:
                return False
            self._openings = 0
            self._pause()
            return True

    def succeeded(self) -> bool:
        """Note an answer; True if this one closed the breaker."""
        with self._lock:
            was_open = self.is_open
            self._failures = 0
            return was_open

    def _pause(self) -> None:
        self._look_at = self._now() + min(self._first_s * 2.0**self._openings, self._longest_s)
        self._openings = min(self._openings + 1, 16)
