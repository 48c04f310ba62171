"""The plain legs: words through the store's full-text index, meaning through vectors, merged by their ranks.

Over a scope that is held in memory the dense leg is an exact product; over a large one it is the store's own vector index.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from recollect.engine.asked import Asked, Candidate, Candidates
from recollect.engine.shelves import Copy
from recollect.model import Found, Target
from recollect.policy.fusion import reciprocal_rank_fusion
from recollect.policy.intent import prefixes
from recollect.policy.recipes import Recipe
from recollect.policy.text import query_terms
from recollect.ports import Tx


def fused(tx: Tx, copy: Copy | None, recipe: Recipe, asked: Asked) -> Candidates:
    """By ranks for the contracts' recipes; by scores for the native one, where a leg that is sure of itself may win."""
    terms = (*asked.question.terms, *query_terms(asked.query.topic or ""), *prefixes(asked.query.text))
    found = {
        "lexical": tx.index.lexical(terms, asked.query.filter, asked.now, recipe.pool),
        "dense": _dense(tx, copy, recipe, asked) if "dense" in recipe.legs or not recipe.legs else (),
    }
    places = {leg: {each.target: rank for rank, each in enumerate(hits, 1)} for leg, hits in found.items()}
    scores = reciprocal_rank_fusion([list(leg) for leg in places.values()], recipe.rrf_k)
    size = len(copy.shelf) if copy else tx.index.changes(0, None, 0).size
    words = _words(tx, copy, list(scores))
    evidence = _evidence(tx, copy, asked, found, words, size)
    if not recipe.legs:
        trust = float(getattr(recipe.weights, asked.question.kind))
        scores = {
            target: signals.get("coverage", 0.0) + trust * signals.get("cosine", 0.0)
            for target, signals in evidence.items()
        }
    for leg, ranks in places.items():
        for target, rank in ranks.items():
            evidence[target][f"{leg}_rank"] = float(rank)
    ranked = [
        Candidate(target, score, asked.relevance(evidence[target], words.get(target, ""), size), evidence[target])
        for target, score in sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    ]
    return Candidates(ranked, {leg: len(hits) for leg, hits in found.items()}, size)


def _dense(tx: Tx, copy: Copy | None, recipe: Recipe, asked: Asked) -> Sequence[Found]:
    if not asked.vectors or asked.generation is None:
        return ()
    if copy is None:
        return tx.index.dense(asked.vectors[0], asked.generation, asked.query.filter, asked.now, recipe.pool)
    allowed = copy.allowed(asked.query.filter, asked.now)
    nearest = copy.shelf.dense(asked.vectors[0], allowed, recipe.pool)
    return [Found(copy.target(row), cosine) for row, cosine in nearest]


def _words(tx: Tx, copy: Copy | None, targets: Sequence[Target]) -> dict[Target, str]:
    """The terms of each target, as the index has them."""
    if copy is not None:
        rows = {target: copy.row(target) for target in targets}
        return {target: copy.shelf.card(row).terms for target, row in rows.items() if row is not None}
    return {target: " ".join(entry.terms) for target, entry in tx.index.entries(targets).items()}


def _evidence(
    tx: Tx,
    copy: Copy | None,
    asked: Asked,
    found: Mapping[str, Sequence[Found]],
    words: Mapping[Target, str],
    size: int,
) -> dict[Target, dict[str, float]]:
    """What speaks for each target: its share of the best lexical score, its cosine, and how much of the question it covers."""
    evidence: dict[Target, dict[str, float]] = {each.target: {} for leg in found.values() for each in leg}
    best = max((each.score for each in found["lexical"]), default=0.0)
    for each in found["lexical"]:
        evidence[each.target]["lexical"] = each.score / best if best > 0 else 0.0
    cosines = {each.target: each.score for each in found["dense"]}
    if copy is not None and asked.vectors and found["dense"]:
        cosines |= copy.cosines(asked.vectors[0], [target for target in evidence if target not in cosines])
    for target, cosine in cosines.items():
        evidence[target]["cosine"] = cosine
    for target, share in _coverage(tx, copy, asked.question.required, words, size).items():
        evidence[target]["coverage"] = share
    return evidence


def _coverage(
    tx: Tx, copy: Copy | None, terms: Sequence[str], words: Mapping[Target, str], size: int
) -> dict[Target, float]:
    """How much of the question's rarity each target holds: a rare word found says more than three common ones."""
    if copy is not None:
        share = copy.shelf.match(terms, around=False).coverage
        rows = {target: copy.row(target) for target in words}
        return {target: float(share[row]) for target, row in rows.items() if row is not None}
    frequencies = tx.index.frequencies(terms)
    rarity = {term: math.log1p((size + 0.5) / (frequencies.get(term, 0) + 0.5)) for term in terms}
    total = sum(rarity.values()) or 1.0
    return {
        target: sum(weight for term, weight in rarity.items() if term in held) / total
        for target, held in ((target, set(text.split())) for target, text in words.items())
    }
