"""The floor: plain BM25, plain dense, and their reciprocal rank fusion, over the same terms and the same vectors."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.policy.fusion import reciprocal_rank_fusion
from recollect.policy.text import analyse, query_terms

K1, B = 1.2, 0.75
DEPTH = 200


class Floor:
    def __init__(self, ids: Sequence[str], texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        self._ids = list(ids)
        self._vectors = vectors
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        lengths = []
        for number, text in enumerate(texts):
            terms = analyse(text)
            lengths.append(len(terms))
            for term, count in Counter(terms).items():
                self._postings[term].append((number, count))
        mean = sum(lengths) / max(len(lengths), 1) or 1.0
        self._weight = K1 * (1 - B + B * np.array(lengths, dtype=np.float32) / mean)

    def rankings(self, query: str, vector: NDArray[np.float32]) -> dict[str, list[str]]:
        lexical = self._bm25(query)
        dense = self._top(self._vectors @ vector)
        fused = reciprocal_rank_fusion([lexical, dense])
        rrf = sorted(fused, key=lambda id: -fused[id])
        return {"bm25": lexical, "dense": dense, "rrf": rrf}

    def _bm25(self, query: str) -> list[str]:
        scores = np.zeros(len(self._ids), dtype=np.float32)
        for term in query_terms(query):
            postings = self._postings.get(term)
            if postings:
                rarity = math.log(1 + (len(self._ids) - len(postings) + 0.5) / (len(postings) + 0.5))
                where = np.array([number for number, _ in postings])
                counts = np.array([count for _, count in postings], dtype=np.float32)
                scores[where] += rarity * counts * (K1 + 1) / (counts + self._weight[where])
        return [id for id in self._top(scores) if scores[self._ids.index(id)] > 0]

    def _top(self, scores: NDArray[np.float32]) -> list[str]:
        return [self._ids[number] for number in np.argsort(-scores, kind="stable")[:DEPTH]]
