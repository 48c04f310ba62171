"""Candidates: who could answer, in which order, and how sure that is.

Small scopes are ranked exactly over their in-memory copy; large ones through the store's own indexes. Either way a candidate
comes with the evidence that brought it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from recollect.engine.recalling.asked import Asked, Candidate, Candidates, Legs
from recollect.engine.recalling.legs import fused
from recollect.engine.recalling.rescore import rescored
from recollect.engine.recalling.shelves import Copy, Shelves
from recollect.model import Hit, Memory, Message, Target
from recollect.policy.native import rank
from recollect.policy.recipes import Recipe
from recollect.policy.relevance import cut_beside
from recollect.ports import Tx

EVIDENCE = frozenset({"lexical", "cosine"})
"""A hit must share words or meaning with the question; time or speaker alone bring nobody."""


def candidates(tx: Tx, shelves: Shelves, recipe: Recipe, asked: Asked) -> Candidates:
    copy = shelves.of(tx.scope)
    with copy.lock:
        held = copy.refresh(tx, asked.generation, shelves.most_entries)
        if held and not recipe.legs:
            return relevant(_native(copy, recipe, asked), recipe, asked)
        at_hand = copy if held else None
        found = relevant(fused(tx, at_hand, recipe, asked), recipe, asked)
        return rescored(tx, at_hand, recipe, asked, found) if recipe.rescore else found


def relevant(found: Candidates, recipe: Recipe, asked: Asked) -> Candidates:
    """What passes the cut. It comes before any reordering: the recent and the important take no place from the relevant."""
    given = asked.query.min_relevance
    cut = recipe.min_relevance if given is None else given
    best = max((each.relevance for each in found.ranked), default=0.0)
    if given is None and recipe.cut == "best":
        # A dialogue asks for company, not for an answer: what comes nearest is welcome.
        return found if best >= cut or asked.question.kind == "dialogue" else replace(found, ranked=[])
    if given is None and cut > 0:
        cut = max(cut, cut_beside(best, found.size))
    return replace(found, ranked=[each for each in found.ranked if each.relevance >= cut])


def _native(copy: Copy, recipe: Recipe, asked: Asked) -> Candidates:
    allowed = copy.allowed(asked.query.filter, asked.now)
    watch = Legs()
    ranked = rank(
        copy.shelf,
        asked.question,
        asked.vectors,
        allowed,
        asked.limit,
        recipe.weights,
        spare=1,
        passed=watch.passed,
        bridge=asked.bridge,
    )
    size = len(copy.shelf)
    found = [
        Candidate(
            copy.target(each.index),
            each.score,
            asked.relevance(each.signals, copy.shelf.card(each.index).terms, size),
            each.signals,
        )
        for each in ranked
        if not EVIDENCE.isdisjoint(each.signals)
    ]
    return Candidates(found, {"held": size, "ranked": len(found)}, size, watch.ms)


def hits(tx: Tx, candidates: Sequence[Candidate]) -> list[Hit]:
    """Candidates with their records, which are read last: only what is shown is fetched."""
    memories = tx.memories.get([c.target.id for c in candidates if c.target.kind == "memory"])
    messages = tx.conversations.messages([c.target.id for c in candidates if c.target.kind == "message"])
    found = []
    for candidate in candidates:
        memory, message = _record(candidate.target, memories, messages)
        if memory is not None or message is not None:
            found.append(
                Hit(
                    memory=memory,
                    message=message,
                    relevance=candidate.relevance,
                    score=candidate.score,
                    signals=candidate.signals,
                )
            )
    return found


def _record(
    target: Target, memories: Mapping[str, Memory], messages: Mapping[str, Message]
) -> tuple[Memory | None, Message | None]:
    if target.kind == "message":
        return None, messages.get(target.id)
    memory = memories.get(target.id)
    return (None, None) if memory is None or memory.deleted_at is not None else (memory, None)
