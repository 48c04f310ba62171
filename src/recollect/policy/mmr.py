"""Maximal marginal relevance: the next best thing that doesn't say again what was already chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def maximal_marginal_relevance(
    things: Sequence[T],
    value: Callable[[T], float],
    similarity: Callable[[T, T], float],
    overlap: Callable[[T, T], int],
    balance: float,
    count: int,
) -> list[tuple[T, float]]:
    """`count` of `things`, chosen one by one by balance * value - (1 - balance) * similarity to the closest chosen, each with
    what it was chosen by.

    `balance` 1 orders by value alone, 0 by difference alone. Where that ties, fewer shared tags win, then the given order.
    """
    left = list(range(len(things)))
    closest = [0.0] * len(things)
    shared = [0] * len(things)
    chosen: list[tuple[T, float]] = []

    def marginal(i: int) -> float:
        return balance * value(things[i]) - (1 - balance) * closest[i]

    while left and len(chosen) < count:
        best = max(left, key=lambda i: (marginal(i), -shared[i], -i))
        chosen.append((things[best], marginal(best)))
        left.remove(best)
        for i in left:
            closest[i] = max(closest[i], similarity(things[i], things[best]))
            shared[i] += overlap(things[i], things[best])
    return chosen


def tag_similarity(a: Sequence[str], b: Sequence[str]) -> float:
    """The share of their tags that two things have in common; what is left to compare when vectors are missing."""
    union = {*a, *b}
    return len({*a} & {*b}) / len(union) if union else 0.0
