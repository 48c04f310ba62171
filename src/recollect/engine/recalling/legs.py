"""The plain legs: words and meaning, each searched on its own, merged by their ranks.

A scope that is held in memory answers from its copy, exactly and by row number; a large one from the store's own full-text and
vector indexes. What is made of the two legs is the same either way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Protocol, TypeVar

from recollect.engine.recalling.asked import Asked, Candidate, Candidates, Legs
from recollect.engine.recalling.shelves import Copy
from recollect.model import Found, Target
from recollect.policy.fusion import reciprocal_rank_fusion
from recollect.policy.intent import prefixes
from recollect.policy.phrases import Phrase, held
from recollect.policy.recipes import Recipe
from recollect.policy.text import query_terms
from recollect.ports import Tx

K = TypeVar("K", int, Target)
Leg = Mapping[K, float]
"""What one search found, best first, with its scores."""


class Place(Protocol[K]):
    """Where the legs search. `K` is how it names what it holds."""

    @property
    def size(self) -> int: ...
    def lexical(self, terms: Sequence[str], limit: int) -> Leg[K]: ...
    def dense(self, limit: int) -> Leg[K]: ...
    def brought(self, near: Leg[Target]) -> Leg[K]:
        """Of what another index found what is here and may be seen."""

    def quoting(self, phrases: Sequence[Phrase], limit: int) -> Leg[K]:
        """What holds a run of the phrases word for word."""

    def cosines(self, keys: Sequence[K]) -> Leg[K]:
        """How near others lie that the dense leg did not bring, where that is known without another search."""

    def coverage(self, keys: Sequence[K]) -> Leg[K]:
        """How much of the question's rarity each holds: a rare word found says more than three common ones."""

    def words(self, key: K) -> str: ...
    def target(self, key: K) -> Target: ...


def fused(tx: Tx, copy: Copy | None, recipe: Recipe, asked: Asked) -> Candidates:
    """By ranks for the contracts' recipes; by scores for the native one, where a leg that is sure of itself may win."""
    return _merged(_InMemory(copy, asked), recipe, asked) if copy else _merged(_InStore(tx, asked), recipe, asked)


def _merged(place: Place[K], recipe: Recipe, asked: Asked) -> Candidates:
    terms = (*asked.question.terms, *query_terms(asked.query.topic or ""), *prefixes(asked.query.text))
    wants_dense = ("dense" in recipe.legs or not recipe.legs) and bool(asked.vectors) and asked.generation is not None
    watch = Legs()
    found: dict[str, Leg[K]] = {"lexical": place.lexical(terms, recipe.pool), "dense": {}}
    watch.passed("lexical")
    if wants_dense:
        found["dense"] = _by_meaning(place, recipe, asked)
        watch.passed("dense")
    if asked.question.phrases:
        found["phrase"] = place.quoting(asked.question.phrases, recipe.pool)
        watch.passed("phrase")
    scores = reciprocal_rank_fusion([list(leg) for leg in found.values()], recipe.rrf_k)
    evidence = _evidence(place, found, list(scores), asked.question.phrases)
    if not recipe.legs:
        trust = float(getattr(recipe.weights, asked.question.kind))
        scores = {
            key: signals.get("coverage", 0.0) + trust * signals.get("cosine", 0.0) for key, signals in evidence.items()
        }
    for name, leg in found.items():
        for rank, key in enumerate(leg, 1):
            evidence[key][f"{name}_rank"] = float(rank)
    size = place.size
    ranked = [
        Candidate(place.target(key), scores[key], asked.relevance(signals, place.words(key), size), signals)
        for key, signals in evidence.items()
    ]
    ranked.sort(key=_quotes_first)
    return Candidates(ranked, {name: len(leg) for name, leg in found.items()}, size, watch.ms)


def _by_meaning(place: Place[K], recipe: Recipe, asked: Asked) -> Leg[K]:
    return place.dense(recipe.pool) if asked.near is None else place.brought(asked.near)


def _quotes_first(each: Candidate) -> tuple[float, float, str, str]:
    """By score, but what holds a quote of the question before what doesn't."""
    return -each.signals.get("phrase", 0.0), -each.score, each.target.kind, each.target.id


def _evidence(
    place: Place[K], found: Mapping[str, Leg[K]], keys: Sequence[K], phrases: Sequence[Phrase]
) -> dict[K, dict[str, float]]:
    """What speaks for each: its share of the best lexical score, its cosine, and how much of the question it covers."""
    evidence: dict[K, dict[str, float]] = {key: {} for key in keys}
    best = max(found["lexical"].values(), default=0.0)
    for key, score in found["lexical"].items():
        evidence[key]["lexical"] = score / best if best > 0 else 0.0
    cosines = found["dense"]
    if cosines:
        cosines = {**cosines, **place.cosines([key for key in keys if key not in cosines])}
    for key, cosine in cosines.items():
        evidence[key]["cosine"] = cosine
    for key, share in place.coverage(keys).items():
        evidence[key]["coverage"] = share
    for key in keys if phrases else ():
        if quotes := held(place.words(key), phrases):
            evidence[key]["phrase"] = quotes / len(phrases)
    return evidence


class _InMemory:
    """A copy, by row number."""

    def __init__(self, copy: Copy, asked: Asked) -> None:
        self._copy = copy
        self._shelf = copy.shelf
        self._asked = asked
        self._allowed = copy.allowed(asked.query.filter, asked.now)
        self.size = len(copy.shelf)
        self.target = copy.target

    def lexical(self, terms: Sequence[str], limit: int) -> Leg[int]:
        return dict(self._shelf.lexical([*dict.fromkeys(terms)], self._allowed, limit))

    def dense(self, limit: int) -> Leg[int]:
        return dict(self._shelf.dense(self._asked.vectors[0], self._allowed, limit))

    def brought(self, near: Leg[Target]) -> Leg[int]:
        rows = {self._copy.row(target): score for target, score in near.items()}
        return {row: score for row, score in rows.items() if row is not None and self._may(row)}

    def quoting(self, phrases: Sequence[Phrase], limit: int) -> Leg[int]:
        shares: dict[int, float] = {}
        for phrase in phrases:
            for row in self._shelf.holding({term for run in phrase for term in run.split()}).tolist():
                if self._may(row) and held(self.words(row), (phrase,)):
                    shares[row] = shares.get(row, 0.0) + 1.0
        return dict(sorted(shares.items(), key=lambda share: (-share[1], share[0]))[:limit])

    def cosines(self, keys: Sequence[int]) -> Leg[int]:
        return self._shelf.vectors.cosines(self._asked.vectors[0], keys)

    def coverage(self, keys: Sequence[int]) -> Leg[int]:
        share = self._shelf.match(self._asked.question.required, around=False).coverage
        return dict(zip(keys, share[keys].tolist(), strict=True)) if keys else {}

    def words(self, key: int) -> str:
        return self._shelf.card(key).terms

    def _may(self, row: int) -> bool:
        return self._allowed is None or bool(self._allowed[row])


class _InStore:
    """The store's own indexes, by target."""

    def __init__(self, tx: Tx, asked: Asked) -> None:
        self._index = tx.index
        self._asked = asked
        self._words: dict[Target, str] = {}

    @cached_property
    def size(self) -> int:
        return self._index.changes(0, None, 0).size

    def lexical(self, terms: Sequence[str], limit: int) -> Leg[Target]:
        return _leg(self._index.lexical(terms, self._asked.query.filter, self._asked.now, limit))

    def dense(self, limit: int) -> Leg[Target]:
        asked = self._asked
        assert asked.generation is not None
        return _leg(self._index.dense(asked.vectors[0], asked.generation, asked.query.filter, asked.now, limit))

    def brought(self, near: Leg[Target]) -> Leg[Target]:
        now, entries = self._asked.now, self._index.entries(near)
        ends = {target: entry.expires_at for target, entry in entries.items()}
        here = {target for target, end in ends.items() if end is None or end > now}
        return {target: score for target, score in near.items() if target in here}

    def quoting(self, phrases: Sequence[Phrase], limit: int) -> Leg[Target]:
        return self.lexical([run for phrase in phrases for run in phrase], limit)

    def cosines(self, keys: Sequence[Target]) -> Leg[Target]:
        return {}

    def coverage(self, keys: Sequence[Target]) -> Leg[Target]:
        terms = self._asked.question.required
        self._words = {target: " ".join(entry.terms) for target, entry in self._index.entries(keys).items()}
        frequencies = self._index.frequencies(terms)
        rarity = {term: math.log1p((self.size + 0.5) / (frequencies.get(term, 0) + 0.5)) for term in terms}
        total = sum(rarity.values()) or 1.0
        return {
            target: sum(weight for term, weight in rarity.items() if _holds(held, term)) / total
            for target, held in ((target, set(text.split())) for target, text in self._words.items())
        }

    def words(self, key: Target) -> str:
        return self._words.get(key, "")

    def target(self, key: Target) -> Target:
        return key


def _leg(found: Sequence[Found]) -> dict[Target, float]:
    return {each.target: each.score for each in found}


def _holds(words: set[str], term: str) -> bool:
    """A trailing `*` makes a term the beginning of a word."""
    return any(word.startswith(term[:-1]) for word in words) if term.endswith("*") else term in words
