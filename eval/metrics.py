"""Scores of a ranking against what was relevant. All in percent, averaged over questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eval.cases import Case


def recall_at(ranked: Sequence[str], relevant: frozenset[str], k: int) -> float:
    return len(relevant.intersection(ranked[:k])) / len(relevant)


def hit_at(ranked: Sequence[str], relevant: frozenset[str], k: int) -> float:
    return float(bool(relevant.intersection(ranked[:k])))


def all_at(ranked: Sequence[str], relevant: frozenset[str], k: int) -> float:
    return float(relevant.issubset(ranked[:k]))


def scores(case: Case, ids: Sequence[str], sessions: Sequence[str]) -> dict[str, float]:
    """Everything that can be said of one answered question."""
    found = {}
    if case.relevant:
        found["turn recall@10"] = recall_at(ids, case.relevant, 10)
        found["hit@5"] = hit_at(ids, case.relevant, 5)
        found["hit@10"] = hit_at(ids, case.relevant, 10)
    if case.relevant_sessions:
        found["session recall@5"] = recall_at(sessions, case.relevant_sessions, 5)
        found["session any@5"] = hit_at(sessions, case.relevant_sessions, 5)
        found["session all@5"] = all_at(sessions, case.relevant_sessions, 5)
    return found


def mean(rows: Iterable[dict[str, float]]) -> dict[str, float]:
    columns: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    return {name: round(100 * sum(values) / len(values), 1) for name, values in columns.items()}
