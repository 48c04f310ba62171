"""When to try again: twice as long each time, up to a cap, with jitter so that many who failed together don't return together.

Times to come are kept by the clock on the wall, which may be put back. Whoever set one knows how far ahead it was at most; what
lies farther ahead was set by a clock that ran ahead of this one, and is due.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

FIRST = timedelta(seconds=2)
LONGEST = timedelta(hours=1)


def delay(attempts: int, random: Random) -> timedelta:
    """How long to wait after `attempts` failures: between half of the full delay and all of it."""
    full: timedelta = min(FIRST * 2 ** min(attempts, 20), LONGEST)
    return full * (0.5 + random.random() / 2)


def is_due(at: datetime | None, now: datetime, longest: timedelta) -> bool:
    """Whether a time that was set no more than `longest` ahead has come."""
    return at is None or at <= now or at - now > longest
