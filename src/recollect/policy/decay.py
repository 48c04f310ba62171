"""How memories fade: two curves, both 1 for something of this moment and never below 0."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from recollect.model import Hit, Scores

TAU = timedelta(days=7)


def age(since: datetime, now: datetime) -> timedelta:
    """Never negative: a clock that was set back must not make the old look new twice over."""
    return max(now - since, timedelta())


def halving(since: datetime, now: datetime, half_life: timedelta) -> float:
    """Halves with every `half_life`."""
    return float(0.5 ** (age(since, now) / half_life))


def exponential(since: datetime, now: datetime, tau: timedelta) -> float:
    """exp(-age / tau)."""
    return math.exp(-(age(since, now) / tau))


def frequency(count: int, most: int) -> float:
    """How often something is used, on a logarithmic scale on which the most used one is 1."""
    return math.log1p(count) / math.log1p(most) if most > 0 else 0.0


def scores_of(hit: Hit, at: datetime) -> Scores:
    """The scores a memory is kept or trimmed by, as they were when it was shown: all of weight one, recency since creation."""
    assert hit.memory is not None
    recency = exponential(hit.memory.created_at, at, TAU)
    importance = hit.memory.importance
    total = hit.relevance + recency + importance
    return Scores(relevance=hit.relevance, recency=recency, importance=importance, total=total, computed_at=at)
