"""Ordering candidates by what is known of the memories themselves: the weighted sum and the tri-score of the contracts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from recollect.engine.recalling.asked import Asked, Candidate, Candidates
from recollect.engine.recalling.shelves import Copy
from recollect.model import Memory, Target
from recollect.policy.intent import wanted_type
from recollect.policy.mmr import maximal_marginal_relevance, tag_similarity
from recollect.policy.recipes import Recipe, TriScore, Weighted
from recollect.policy.text import analyse, query_terms
from recollect.ports import Tx


def rescored(tx: Tx, copy: Copy | None, recipe: Recipe, asked: Asked, found: Candidates) -> Candidates:
    memories = tx.memories.get([each.target.id for each in found.ranked if each.target.kind == "memory"])
    known = [each for each in found.ranked if each.target.id in memories]
    if isinstance(recipe.rescore, Weighted):
        return replace(found, ranked=_weighted(recipe.rescore, asked, known, memories))
    assert isinstance(recipe.rescore, TriScore)
    totals = _tri_scored(recipe.rescore, asked, known, memories)
    return replace(found, ranked=_diverse(recipe.rescore, copy, asked, totals, memories))


def _quotes_first(each: Candidate) -> tuple[float, float, Target]:
    """By score, but what holds a quote of the question before what doesn't."""
    return -each.signals.get("phrase", 0.0), -each.score, each.target


def _weighted(
    formula: Weighted, asked: Asked, found: Sequence[Candidate], memories: Mapping[str, Memory]
) -> list[Candidate]:
    wanted = wanted_type(asked.query.text)
    topic = frozenset(query_terms(asked.query.topic or ""))
    most = max((memory.access_count for memory in memories.values()), default=0)
    ranked = []
    for each in found:
        memory = memories[each.target.id]
        on_topic = bool(topic) and not topic.isdisjoint(analyse(memory.content))
        keyword = each.signals.get("lexical", 0.0)
        score = formula.score(memory, keyword, wanted=wanted, on_topic=on_topic, most_accessed=most, now=asked.now)
        signals = {**each.signals, "category": float(memory.type is wanted), "topic": float(on_topic)}
        ranked.append(replace(each, score=score, signals=signals))
    return sorted(ranked, key=_quotes_first)


def _tri_scored(
    formula: TriScore, asked: Asked, found: Sequence[Candidate], memories: Mapping[str, Memory]
) -> list[Candidate]:
    ranked = []
    for each in found:
        scores = formula.scores(memories[each.target.id], each.relevance, asked.now)
        signals = {**each.signals, "recency": scores.recency, "importance": scores.importance}
        ranked.append(replace(each, score=scores.total, signals=signals))
    return sorted(ranked, key=_quotes_first)


def _diverse(
    formula: TriScore, copy: Copy | None, asked: Asked, ranked: Sequence[Candidate], memories: Mapping[str, Memory]
) -> list[Candidate]:
    def tags(target: Target) -> tuple[str, ...]:
        return memories[target.id].tags

    def similarity(a: Candidate, b: Candidate) -> float:
        cosine = copy.cosine_between(a.target, b.target) if copy else None
        return tag_similarity(tags(a.target), tags(b.target)) if cosine is None else cosine

    chosen = maximal_marginal_relevance(
        ranked,
        value=lambda each: each.score / formula.ceiling + each.signals.get("phrase", 0.0),
        similarity=similarity,
        overlap=lambda a, b: len({*tags(a.target)} & {*tags(b.target)}),
        balance=formula.diversity,
        count=asked.limit + 1,
    )
    return [replace(each, signals={**each.signals, "mmr": marginal}) for each, marginal in chosen]
