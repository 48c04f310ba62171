"""Candidates: who could answer, in which order, and how sure that is.

Small scopes are ranked exactly over their in-memory copy; large ones through the store's own indexes. Either way a candidate
comes with the evidence that brought it.
"""

from __future__ import annotations

from recollect.engine.asked import Asked, Candidate, Candidates
from recollect.engine.legs import fused
from recollect.engine.rescore import rescored
from recollect.engine.shelves import Copy, Shelves
from recollect.policy.native import rank
from recollect.policy.recipes import Recipe
from recollect.ports import Tx

EVIDENCE = frozenset({"lexical", "cosine"})
"""A hit must share words or meaning with the question; time or speaker alone bring nobody."""


def candidates(tx: Tx, shelves: Shelves, recipe: Recipe, asked: Asked) -> Candidates:
    copy = shelves.of(tx.scope)
    with copy.lock:
        held = copy.refresh(tx, asked.generation, shelves.most_entries)
        if held and not recipe.legs:
            return _native(copy, asked)
        at_hand = copy if held else None
        found = fused(tx, at_hand, recipe, asked)
        return rescored(tx, at_hand, recipe, asked, found) if recipe.rescore else found


def _native(copy: Copy, asked: Asked) -> Candidates:
    allowed = copy.allowed(asked.query.filter, asked.now)
    ranked = rank(
        copy.shelf, asked.question, asked.vectors, allowed, asked.limit + 1
    )  # one more tells if there are more
    found = [
        Candidate(copy.target(each.index), each.score, asked.relevance(each.signals, len(copy.shelf)), each.signals)
        for each in ranked
        if not EVIDENCE.isdisjoint(each.signals)
    ]
    return Candidates(found, {"held": len(copy.shelf), "ranked": len(found)})
