"""How long a caller is willing to wait for a provider that stumbles."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """`attempts` in all, each cut off after `timeout_s`, with growing pauses of at most `longest_wait_s`."""

    attempts: int
    timeout_s: float
    first_wait_s: float = 0.5
    longest_wait_s: float = 20.0

    def pause(self, attempt: int, asked: float | None) -> float | None:
        """Seconds to wait after the given attempt (from 1), or None to give up.

        A wait the server asks for is honoured within bounds; beyond them, coming back early is useless.
        Jitter keeps many clients that failed together from coming back together.
        """
        if attempt >= self.attempts:
            return None
        if asked is not None and asked > self.longest_wait_s:
            return None
        backoff = min(self.longest_wait_s, self.first_wait_s * 2.0 ** (attempt - 1))
        return min(self.longest_wait_s, max(asked or 0.0, backoff * random.uniform(0.5, 1.0)))


def background(timeout_s: float) -> Patience:
    return Patience(attempts=4, timeout_s=timeout_s)


def interactive(timeout_s: float) -> Patience:
    """Someone is waiting for search results, and words alone find most things: try once more, briefly."""
    return Patience(attempts=2, timeout_s=min(timeout_s, 10.0), first_wait_s=0.1, longest_wait_s=1.0)
