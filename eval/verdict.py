"""From answers to figures, and from figures to PASS or FAIL.

recall@5     the share of the expected memories among the first five, over the cases that expect any
precision@5  the share of the expected among the first five that came, over all cases; a question that rightly got no
             answer counts 1, one that wrongly got one (or none) counts 0
compliance   the share of answers whose text, counted here in cl100k_base, is within its budget
safety       the share of answers without a memory of anybody else
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from eval.golden import Answer

PLACES = 5


@dataclass(frozen=True)
class Threshold:
    """What a figure must reach (or, for `most`, may reach). `aim` is our own, stricter one: shown, never blocking."""

    figure: str
    title: str
    bound: float
    aim: float
    unit: str = "%"
    most: bool = False
    blocking: bool = True

    def holds(self, value: float | None) -> bool:
        return value is None or (value <= self.bound if self.most else value >= self.bound)

    def aimed(self, value: float | None) -> bool:
        return value is None or (value <= self.aim if self.most else value >= self.aim)


THRESHOLDS = (
    Threshold("recall_at_5", "Recall@5", 80.0, 95.0),
    Threshold("precision_at_5", "Precision@5", 70.0, 85.0),
    Threshold("latency_ms_p95", "latency p95", 200.0, 50.0, "ms", most=True, blocking=False),
    Threshold("token_compliance", "token compliance", 100.0, 100.0),
    Threshold("cross_user_safety", "cross-user safety", 100.0, 100.0),
)
ALWAYS = ("token_compliance", "cross_user_safety")
"""What must hold in any weather; during a simulated outage only these decide."""


def recall_at(answer: Answer, k: int = PLACES) -> float | None:
    """None when nothing was to be found."""
    case = answer.case
    if not case.expected:
        return None
    places = k if case.top is None else min(k, case.top)
    wanted = min(case.at_least or len(case.expected), k)
    found = case.expected.intersection(each.content for each in answer.shown[:places] if each.own)
    return min(1.0, len(found) / wanted)


def precision_at(answer: Answer, k: int = PLACES) -> float:
    case = answer.case
    if not case.expected:
        return 0.0 if answer.shown else 1.0
    counted = [each for each in answer.shown[:k] if each.content not in case.acceptable or not each.own]
    right = [each for each in counted if each.own and each.content in case.expected]
    return len(right) / len(counted) if counted else 0.0


def complies(answer: Answer) -> bool:
    return answer.budget is None or answer.tokens <= answer.budget


def is_safe(answer: Answer) -> bool:
    return all(each.own for each in answer.shown)


def faults(answer: Answer) -> list[str]:
    """What is wrong with an answer, in words; empty when it is as it should be."""
    found = []
    recall = recall_at(answer)
    if recall is not None and recall < 1:
        found.append("missed")
    if recall is None and answer.shown:
        found.append("should be empty")
    if recall is not None and precision_at(answer) < 1 and answer.shown:
        found.append("noise")
    if not complies(answer):
        found.append("over budget")
    if not is_safe(answer):
        found.append("somebody else's")
    return found


def percentile(values: Iterable[float], share: float) -> float | None:
    """The smallest of the values that at least `share` of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def percent(values: Iterable[float | bool | None]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return round(100 * sum(known) / len(known), 1) if known else None


def figures(answers: Sequence[Answer]) -> dict[str, Any]:
    times = [1000 * answer.seconds for answer in answers]
    half, most = percentile(times, 0.5), percentile(times, 0.95)
    return {
        "cases": len(answers),
        "recall_at_5": percent(map(recall_at, answers)),
        "precision_at_5": percent(map(precision_at, answers)),
        "rightly_empty": percent(not answer.shown for answer in answers if not answer.case.expected),
        "wrongly_empty": percent(not answer.shown for answer in answers if answer.case.expected),
        "latency_ms_p50": None if half is None else round(half, 1),
        "latency_ms_p95": None if most is None else round(most, 1),
        "token_compliance": percent(map(complies, answers)),
        "cross_user_safety": percent(map(is_safe, answers)),
        "degraded": percent(bool(answer.degraded) for answer in answers),
    }


def breakdown(answers: Sequence[Answer], key: Callable[[Answer], str]) -> dict[str, dict[str, Any]]:
    groups: dict[str, list[Answer]] = {}
    for answer in answers:
        groups.setdefault(key(answer), []).append(answer)
    return {name: {**figures(group), "at_fault": sum(bool(faults(a)) for a in group)} for name, group in groups.items()}


def report(answers: Sequence[Answer]) -> dict[str, Any]:
    """All there is to say of a run."""
    return {
        "figures": figures(answers),
        "by_category": breakdown(answers, lambda answer: answer.case.category),
        "by_lang": breakdown(answers, lambda answer: answer.case.lang),
        "cases": [line(answer) for answer in answers],
    }


def failed(measured: dict[str, Any], *, outage: bool = False) -> list[Threshold]:
    """The thresholds that make the run a FAIL."""
    judged = [each for each in THRESHOLDS if each.blocking and (not outage or each.figure in ALWAYS)]
    return [each for each in judged if not each.holds(measured[each.figure])]


def line(answer: Answer) -> dict[str, Any]:
    """One case as it is kept in JSON."""
    case = answer.case
    return {
        "id": case.id,
        "lang": case.lang,
        "category": case.category,
        "query": case.query[:300],
        "rubric": case.rubric,
        "expected": sorted(case.expected),
        "recall_at_5": recall_at(answer),
        "precision_at_5": precision_at(answer),
        "faults": faults(answer),
        "latency_ms": round(1000 * answer.seconds, 2),
        "tokens": answer.tokens,
        "budget": answer.budget,
        "degraded": list(answer.degraded),
        "shown": [
            {
                "content": each.content,
                "relevance": round(each.relevance, 4),
                "score": round(each.score, 5),
                "own": each.own,
            }
            for each in answer.shown
        ],
        "missing": [asdict(each) for each in answer.missing],
    }
