"""Candidates: who could answer, in which order, and how sure that is.

Small scopes are ranked exactly over their in-memory copy; large ones through the store's own indexes. Either way a candidate
comes with the evidence that brought it: the rank and score of each leg.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recollect.engine.shelves import Shelves
from recollect.model import Entry, Found, Query, Target
from recollect.policy.fusion import reciprocal_rank_fusion
from recollect.policy.recipes import Recipe
from recollect.policy.text import query_terms
from recollect.ports import Tx, Vector


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


def candidates(
    tx: Tx, shelves: Shelves, recipe: Recipe, query: Query, vector: Vector | None, generation: str | None
) -> Candidates:
    assert query.now is not None
    terms = query_terms(query.text)
    lexical = tx.index.lexical(terms, query.filter, query.now, recipe.pool)
    dense: Sequence[Found] = ()
    if vector is not None and generation is not None:
        dense = tx.index.dense(vector, generation, query.filter, query.now, recipe.pool)
    return _fused(tx, terms, lexical, dense)


def _fused(tx: Tx, terms: Sequence[str], lexical: Sequence[Found], dense: Sequence[Found]) -> Candidates:
    legs = [[found.target for found in leg] for leg in (lexical, dense)]
    fused = reciprocal_rank_fusion(legs)
    ranks = [{target: rank for rank, target in enumerate(leg, start=1)} for leg in legs]
    cosines = {found.target: found.score for found in dense}
    entries = tx.index.entries(fused)
    rarity = _rarity(terms, tx.index.frequencies(terms), max(len(entries), 1))
    ranked = []
    for target, score in sorted(fused.items(), key=lambda item: (-item[1], item[0])):
        coverage = _coverage(entries[target], rarity) if target in entries else 0.0
        signals = {"rrf": score, "coverage": coverage}
        signals |= {
            name: float(rank[target])
            for name, rank in zip(("lexical_rank", "dense_rank"), ranks, strict=True)
            if target in rank
        }
        if target in cosines:
            signals["cosine"] = cosines[target]
        ranked.append(Candidate(target, score, max(coverage, cosines.get(target, 0.0)), signals))
    return Candidates(ranked, {"lexical": len(lexical), "dense": len(dense), "fused": len(fused)})


def _rarity(terms: Sequence[str], frequencies: Mapping[str, int], size: int) -> dict[str, float]:
    return {term: math.log(1 + size / (1 + frequencies.get(term, 0))) for term in terms}


def _coverage(entry: Entry, rarity: Mapping[str, float]) -> float:
    total = sum(rarity.values())
    held = set(entry.terms)
    return sum(weight for term, weight in rarity.items() if term in held) / total if total else 0.0
