"""Saying nothing: how well the best relevance tells questions with an answer from those without one.

Two kinds have none. `unanswerable` ones come with a set: they sound as if they belonged (the right words with the wrong person).
`strangers` are another set's questions, about other people's lives altogether.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.cases import Case, kind_of, names, questions
from recollect.policy.relevance import CUT, is_cjk

MOST_STRANGERS = 200
COST = 1.0
"""Points of recall that a stricter cut may cost."""


def strangers(folder: Path, name: str, most: int = MOST_STRANGERS) -> list[Case]:
    """Questions of other families of sets in the same script, evenly picked. A family shares the first word of its name."""
    family = name.split("_")[0]
    own = questions(folder, name)
    chinese = sum(is_cjk(case.query) for case in own) * 2 > len(own)
    others = [each for each in names(folder) if each.split("_")[0] != family and kind_of(folder, each) == "retrieval"]
    found = [case for each in others for case in questions(folder, each) if is_cjk(case.query) == chinese]
    distinct = list({case.query: case for case in found if "\n" not in case.query}.values())
    return distinct[:: max(1, len(distinct) // most)][:most]


def separated(answerable: Sequence[tuple[float, float]], others: Sequence[float]) -> dict[str, Any] | None:
    """`answerable`: best relevance and recall of each question; `others`: best relevance where there is no answer.

    `auc` is the chance that a question with an answer has the higher relevance; `silent` is the share of the others that stay
    without hits at the cut that ships, `at_a_point` at the strictest one that costs at most one point of recall.
    """
    if not answerable or not others:
        return None
    cut = _strictest(answerable)
    return {
        "cases": len(others),
        "auc": round(_auc([relevance for relevance, _ in answerable], others), 3),
        "cut": round(cut, 3),
        "silent": _below(CUT, others),
        "at_a_point": _below(cut, others),
    }


def _below(cut: float, relevances: Sequence[float]) -> float:
    return round(100 * sum(relevance < cut for relevance in relevances) / len(relevances), 1)


def _strictest(answerable: Sequence[tuple[float, float]]) -> float:
    left = COST / 100 * len(answerable)
    for relevance, recall in sorted(answerable):
        left -= recall
        if left < 0:
            return relevance
    return float("inf")


def _auc(better: Sequence[float], worse: Sequence[float]) -> float:
    won = sum((one > other) + 0.5 * (one == other) for one in better for other in worse)
    return won / (len(better) * len(worse))
