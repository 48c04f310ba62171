"""When to try again: twice as long each time, up to a cap, with jitter so that many who failed together don't return together."""

from __future__ import annotations

from datetime import timedelta
from random import Random

FIRST = timedelta(seconds=2)
LONGEST = timedelta(hours=1)


def delay(attempts: int, random: Random) -> timedelta:
    """How long to wait after `attempts` failures: between half of the full delay and all of it."""
    full: timedelta = min(FIRST * 2 ** min(attempts, 20), LONGEST)
    return full * (0.5 + random.random() / 2)
