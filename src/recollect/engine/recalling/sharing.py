"""Sharing between the spaces of one person: what a space offers by its tags can be recalled from the others, and nothing else.

A space shares by naming tags in its settings (`shared_tags`); none are named unless its owner does. A memory with one of them may
then answer a question that is asked in another space of the same person, and its hit says where it comes from. Conversations are
never shared. Where the other space is switched off or incognito it shares nothing, and the one that asks has to be allowed to
recall at all. Only spaces that share are looked at, the first few of them by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from recollect.engine.boundary import silence
from recollect.engine.recalling import search
from recollect.engine.recalling.asked import Asked
from recollect.model import Hit, Scope
from recollect.policy.recipes import Recipe
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine import Engine

MOST_SPACES = 8
MOST_CANDIDATES = 100


async def shared(
    engine: Engine, scope: Scope, recipe: Recipe, asked: Asked, spaces: Mapping[str, tuple[str, ...]]
) -> list[Hit]:
    """What other spaces have to say to the question, each in its own order, the most relevant first."""
    filter = asked.query.filter
    if "memory" not in filter.kinds or filter.sessions:
        return []
    hits: list[Hit] = []
    for space in sorted(spaces)[:MOST_SPACES]:
        other = scope.within(space)
        with engine.shelves.weighed(other):
            hits = merged(hits, await engine.store.read(other, partial(_look, engine, recipe, asked)))
    return hits


def merged(own: Sequence[Hit], others: Sequence[Hit]) -> list[Hit]:
    """Both in their order, by relevance where they meet: of the numbers a hit has it is the one that means the same anywhere."""
    together: list[Hit] = []
    waiting = list(others)
    for hit in own:
        while waiting and waiting[0].relevance > hit.relevance:
            together.append(waiting.pop(0))
        together.append(hit)
    return [*together, *waiting]


def _look(engine: Engine, recipe: Recipe, asked: Asked, tx: Tx) -> list[Hit]:
    """The tags are asked for in the very transaction that searches: what is no longer shared isn't found."""
    offered = frozenset(tx.space.settings().shared_tags)
    if not offered or silence(tx, engine) is not None:
        return []
    filter = replace(asked.query.filter, kinds=("memory",), tags=asked.query.filter.tags or tuple(sorted(offered)))
    found = search.candidates(tx, engine.shelves, recipe, replace(asked, query=replace(asked.query, filter=filter)))
    given = asked.query.min_relevance
    least = recipe.min_relevance if given is None else given
    sure = [each for each in found.ranked if each.relevance >= least][:MOST_CANDIDATES]
    return [
        replace(hit, space=tx.scope.space)
        for hit in search.hits(tx, sure)
        if hit.memory is not None and not offered.isdisjoint(hit.memory.tags)
    ][: asked.limit]
