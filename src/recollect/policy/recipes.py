"""Ranking formulas as data: one pipeline runs them all.

native     all the evidence of `policy.native`, over memories and messages
recall     reciprocal rank fusion, k = 60, within 1000 tokens
longterm   0.4 keyword + 0.2 category + 0.15 recency + 0.1 frequency + 0.15 confidence; words only
companion  alpha relevance + beta recency + gamma importance over fused candidates, then MMR
nova       reciprocal rank fusion with signals
datachat   similar questions of the past, over messages
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from recollect.errors import InvalidInput
from recollect.model import KINDS, Kind, Memory, MemoryType, Scores
from recollect.policy.decay import exponential, frequency, halving
from recollect.policy.fusion import RRF_K
from recollect.policy.native import DEFAULT, NativeWeights

WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighted:
    """The weighted sum of the long-term memory contract. Recency counts from the last access."""

    keyword: float = 0.4
    category: float = 0.2
    recency: float = 0.15
    frequency: float = 0.1
    confidence: float = 0.15
    category_boost: float = 1.5
    topic_boost: float = 1.3
    half_life: timedelta = WEEK

    def score(
        self,
        memory: Memory,
        keyword: float,
        *,
        wanted: MemoryType | None,
        on_topic: bool,
        most_accessed: int,
        now: datetime,
    ) -> float:
        total = (
            self.keyword * keyword
            + self.category * (self.category_boost if memory.type is wanted else 1.0)
            + self.recency * halving(memory.last_accessed or memory.created_at, now, self.half_life)
            + self.frequency * frequency(memory.access_count, most_accessed)
            + self.confidence * memory.confidence
        )
        return total * (self.topic_boost if on_topic else 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TriScore:
    """Relevance, recency and importance of the companion contract. Recency counts from creation."""

    alpha: float = 1.0
    beta: float = 1.0
    gamma: float = 1.0
    tau: timedelta = WEEK
    diversity: float = 0.7
    """MMR's lambda: 1 is value alone, 0 difference alone."""

    def scores(self, memory: Memory, relevance: float, now: datetime) -> Scores:
        recency = exponential(memory.created_at, now, self.tau)
        return Scores(
            relevance=relevance,
            recency=recency,
            importance=memory.importance,
            total=self.alpha * relevance + self.beta * recency + self.gamma * memory.importance,
            computed_at=now,
        )

    @property
    def ceiling(self) -> float:
        """The total that nothing can exceed: what makes totals comparable with similarities."""
        return self.alpha + self.beta + self.gamma or 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """`legs` are the searches whose ranks are fused; none means the native ranking. `rescore` orders what they found.

    `cut` is who must reach `min_relevance`: `each` hit, or only the `best` one, after which the rest may follow it (a
    question that is answerable at all may need weak evidence too).
    """

    name: str
    legs: tuple[Literal["lexical", "dense"], ...] = ("lexical", "dense")
    rescore: Weighted | TriScore | None = None
    kinds: tuple[Kind, ...] = ("memory",)
    min_relevance: float = 0.3
    cut: Literal["each", "best"] = "each"
    limit: int = 10
    token_budget: int | None = None
    pool: int = 100
    """How many candidates each leg brings."""
    rrf_k: int = RRF_K
    weights: NativeWeights = DEFAULT
    """What the native ranking weighs, and how much; a weight of zero switches a step off."""


NATIVE = Recipe(name="native", legs=(), kinds=KINDS, cut="best")
RECALL = Recipe(name="recall", token_budget=1000)
LONGTERM = Recipe(name="longterm", legs=("lexical",), rescore=Weighted(), min_relevance=0.0, limit=5, token_budget=1000)
COMPANION = Recipe(name="companion", rescore=TriScore(), limit=12, token_budget=1000)
NOVA = Recipe(name="nova")
DATACHAT = Recipe(name="datachat", kinds=("message",), limit=3, token_budget=4000)

RECIPES: dict[str, Recipe] = {recipe.name: recipe for recipe in (NATIVE, RECALL, LONGTERM, COMPANION, NOVA, DATACHAT)}


def recipe_named(name: str) -> Recipe:
    try:
        return RECIPES[name]
    except KeyError:
        raise InvalidInput(f"no recipe is called {name!r}; there are {', '.join(sorted(RECIPES))}") from None
