"""Candidates: who could answer, in which order, and how sure that is.

Small scopes are ranked exactly over their in-memory copy; large ones through the store's own indexes. Either way a candidate
comes with the evidence that brought it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recollect.engine.shelves import Copy, Shelves
from recollect.model import Found, Query, Target
from recollect.policy.fusion import reciprocal_rank_fusion
from recollect.policy.native import DEFAULT, rank
from recollect.policy.question import Question
from recollect.policy.recipes import Recipe
from recollect.policy.relevance import Calibration, relevance
from recollect.ports import Tx, Vector

EVIDENCE = frozenset({"lexical", "cosine"})
"""A hit must share words or meaning with the question; time or speaker alone bring nobody."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with everything that is known before the store is opened."""

    query: Query
    question: Question
    vectors: Sequence[Vector]
    generation: str | None
    calibration: Calibration
    """How the cosines of unrelated texts lie under the model that made the vectors."""

    def relevance(self, signals: Mapping[str, float], size: int) -> float:
        return relevance(signals.get("cosine"), signals.get("coverage", 0.0), self.calibration, size)


@dataclass(frozen=True, slots=True)
class Candidate:
    target: Target
    score: float
    relevance: float
    signals: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Candidates:
    ranked: Sequence[Candidate]
    counts: Mapping[str, int]


def candidates(tx: Tx, shelves: Shelves, recipe: Recipe, asked: Asked) -> Candidates:
    copy = shelves.of(tx.scope)
    with copy.lock:
        held = copy.refresh(tx, asked.generation, shelves.most_entries)
        if held and recipe.order == "native":
            return _native(copy, recipe, asked)
        return _fused(tx, copy if held else None, recipe, asked)


def _native(copy: Copy, recipe: Recipe, asked: Asked) -> Candidates:
    assert asked.query.now is not None
    allowed = copy.allowed(asked.query.filter, asked.query.now)
    ranked = rank(copy.shelf, asked.question, asked.vectors, allowed, asked.query.limit)
    found = [
        Candidate(copy.target(each.index), each.score, asked.relevance(each.signals, len(copy.shelf)), each.signals)
        for each in ranked
        if not EVIDENCE.isdisjoint(each.signals)
    ]
    return Candidates(found, {"held": len(copy.shelf), "ranked": len(found)})


def _fused(tx: Tx, copy: Copy | None, recipe: Recipe, asked: Asked) -> Candidates:
    """The two plain legs, merged: by ranks for the contracts, by scores for the native recipe over a large scope."""
    query = asked.query
    assert query.now is not None
    lexical = tx.index.lexical(asked.question.terms, query.filter, query.now, recipe.pool)
    dense = _dense(tx, copy, recipe, asked)
    legs = {"lexical": [found.target for found in lexical], "dense": [found.target for found in dense]}
    fused = reciprocal_rank_fusion(legs.values())
    cosines = {found.target: found.score for found in dense}
    size = len(copy.shelf) if copy else tx.index.changes(0, None, 0).size
    coverage = _coverage(tx, copy, asked.question.terms, list(fused), size)
    if recipe.order == "native":
        trust = float(getattr(DEFAULT, asked.question.kind))
        fused = {target: coverage.get(target, 0.0) + trust * cosines.get(target, 0.0) for target in fused}
    ranks = {leg: {target: rank for rank, target in enumerate(found, start=1)} for leg, found in legs.items()}
    ranked = []
    for target, score in sorted(fused.items(), key=lambda item: (-item[1], item[0])):
        signals = {"coverage": coverage.get(target, 0.0)}
        signals |= {f"{leg}_rank": float(places[target]) for leg, places in ranks.items() if target in places}
        if target in cosines:
            signals["cosine"] = cosines[target]
        ranked.append(Candidate(target, score, asked.relevance(signals, size), signals))
    return Candidates(ranked, {leg: len(found) for leg, found in legs.items()})


def _dense(tx: Tx, copy: Copy | None, recipe: Recipe, asked: Asked) -> Sequence[Found]:
    if not asked.vectors or asked.generation is None:
        return ()
    query, vector = asked.query, asked.vectors[0]
    assert query.now is not None
    if copy is None:
        return tx.index.dense(vector, asked.generation, query.filter, query.now, recipe.pool)
    allowed = copy.allowed(query.filter, query.now)
    return [Found(copy.target(row), cosine) for row, cosine in copy.shelf.dense(vector, allowed, recipe.pool)]


def _coverage(
    tx: Tx, copy: Copy | None, terms: Sequence[str], targets: Sequence[Target], size: int
) -> dict[Target, float]:
    """How much of the question's rarity each target holds: a rare word found says more than three common ones."""
    if copy is not None:
        share = copy.shelf.match(terms, around=False).coverage
        rows = {target: copy.shelf.row((target.kind, target.id)) for target in targets}
        return {target: float(share[row]) for target, row in rows.items() if row is not None}
    frequencies = tx.index.frequencies(terms)
    rarity = {term: math.log1p((size + 0.5) / (frequencies.get(term, 0) + 0.5)) for term in terms}
    total = sum(rarity.values()) or 1.0
    entries = tx.index.entries(targets)
    held = {target: set(entry.terms) for target, entry in entries.items()}
    return {
        target: sum(weight for term, weight in rarity.items() if term in words) / total
        for target, words in held.items()
    }
