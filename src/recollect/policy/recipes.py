"""Ranking formulas as data: one pipeline runs them all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recollect.errors import InvalidInput
from recollect.model import KINDS, Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """`order` is how candidates are ranked: `native` weighs all the evidence of `policy.native`, `rrf` merges the ranks of
    the two plain legs. `cut` is who must reach `min_relevance`: `each` hit, or only the `best` one, after which the rest may
    follow it (a question that is answerable at all may need weak evidence too)."""

    name: str
    order: Literal["native", "rrf"]
    kinds: tuple[Kind, ...] = KINDS
    min_relevance: float = 0.3
    cut: Literal["each", "best"] = "each"
    token_budget: int | None = None
    pool: int = 100
    """How many candidates each leg brings."""


NATIVE = Recipe(name="native", order="native", cut="best")
RECALL = Recipe(name="recall", order="rrf", kinds=("memory",), token_budget=1000)

RECIPES: dict[str, Recipe] = {recipe.name: recipe for recipe in (NATIVE, RECALL)}


def recipe_named(name: str) -> Recipe:
    try:
        return RECIPES[name]
    except KeyError:
        raise InvalidInput(f"no recipe is called {name!r}; there are {', '.join(sorted(RECIPES))}") from None
