"""Reciprocal rank fusion: the contracts' way to merge rankings whose scores can't be compared."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

RRF_K = 60

T = TypeVar("T", bound=Hashable)


def reciprocal_rank_fusion(rankings: Iterable[Sequence[T]], k: int = RRF_K) -> dict[T, float]:
    """Each thing's sum of 1 / (k + rank), ranks counted from 1, over the rankings it appears in."""
    scores: dict[T, float] = {}
    for ranking in rankings:
        for rank, thing in enumerate(ranking, start=1):
            scores[thing] = scores.get(thing, 0.0) + 1.0 / (k + rank)
    return scores
