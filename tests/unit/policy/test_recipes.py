"""The formulas, by numbers worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from recollect.errors import InvalidInput
from recollect.model import Memory, MemoryType
from recollect.policy.decay import exponential, frequency, halving
from recollect.policy.intent import prefixes, wanted_type
from recollect.policy.mmr import maximal_marginal_relevance, tag_similarity
from recollect.policy.recipes import RECIPES, TriScore, Weighted, recipe_named

NOW = datetime(2025, 6, 1, tzinfo=UTC)
MEMORY = Memory(id="m", content="x", created_at=NOW, updated_at=NOW)


@pytest.mark.parametrize(("days", "expected"), [(0, 1.0), (7, 0.5), (14, 0.25), (-3, 1.0)])
def test_halving(days: int, expected: float) -> None:
    assert halving(NOW - timedelta(days=days), NOW, timedelta(days=7)) == pytest.approx(expected)


@pytest.mark.parametrize(("days", "expected"), [(0, 1.0), (7, 0.367879), (21, 0.049787)])
def test_exponential(days: int, expected: float) -> None:
    assert exponential(NOW - timedelta(days=days), NOW, timedelta(days=7)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("count", "most", "expected"), [(0, 10, 0.0), (10, 10, 1.0), (0, 0, 0.0), (3, 15, 0.5)])
def test_frequency(count: int, most: int, expected: float) -> None:
    assert frequency(count, most) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("memory", "keyword", "wanted", "on_topic", "expected"),
    [
        # 0.4*1 + 0.2*1 + 0.15*1 + 0.1*0 + 0.15*1
        (MEMORY, 1.0, None, False, 0.9),
        # the category boost: 0.2*1.5
        (replace(MEMORY, type=MemoryType.PREFERENCE), 1.0, MemoryType.PREFERENCE, False, 1.0),
        # the topic boost is over everything: 0.9 * 1.3
        (MEMORY, 1.0, None, True, 1.17),
        # a week since the last access halves recency, however new it is: 0.2 + 0.2 + 0.075 + 0.1*0.5 + 0.15*0.6
        (
            replace(MEMORY, last_accessed=NOW - timedelta(days=7), access_count=3, confidence=0.6),
            0.5,
            None,
            False,
            0.615,
        ),
    ],
)
def test_the_weighted_sum(
    memory: Memory, keyword: float, wanted: MemoryType | None, on_topic: bool, expected: float
) -> None:
    score = Weighted().score(memory, keyword, wanted=wanted, on_topic=on_topic, most_accessed=15, now=NOW)
    assert score == pytest.approx(expected)


@pytest.mark.parametrize(
    ("formula", "relevance", "days", "importance", "total"),
    [
        (TriScore(), 0.8, 0, 0.5, 2.3),
        (TriScore(), 0.8, 7, 0.5, 1.667879),
        (TriScore(alpha=2, beta=0, gamma=0.5), 0.8, 7, 0.5, 1.85),
        (TriScore(tau=timedelta(days=14)), 0.0, 14, 0.0, 0.367879),
    ],
)
def test_the_tri_score(formula: TriScore, relevance: float, days: int, importance: float, total: float) -> None:
    memory = replace(MEMORY, created_at=NOW - timedelta(days=days), importance=importance)
    scores = formula.scores(memory, relevance, NOW)
    assert scores.total == pytest.approx(total, abs=1e-6)
    assert (scores.relevance, scores.importance, scores.computed_at) == (relevance, importance, NOW)


VALUES = {"a": 1.0, "b": 0.9, "c": 0.5}
ALIKE = {frozenset("ab"): 0.95, frozenset("ac"): 0.0, frozenset("bc"): 0.1}


@pytest.mark.parametrize(
    ("balance", "expected"),
    [
        (1.0, ["a", "b", "c"]),
        # after a: b = 0.5*0.9 - 0.5*0.95 = -0.025, c = 0.25
        (0.5, ["a", "c", "b"]),
        (0.0, ["a", "c", "b"]),
    ],
)
def test_mmr(balance: float, expected: list[str]) -> None:
    chosen = maximal_marginal_relevance(
        list("abc"), VALUES.__getitem__, lambda x, y: ALIKE[frozenset((x, y))], lambda x, y: 0, balance, 3
    )
    assert [name for name, _ in chosen] == expected
    assert dict(chosen)["b"] == pytest.approx(balance * VALUES["b"] - (1 - balance) * 0.95)


def test_mmr_breaks_ties_by_shared_tags() -> None:
    tags = {"a": {"x"}, "b": {"x"}, "c": {"y"}}
    chosen = maximal_marginal_relevance(
        list("abc"), lambda _: 0.5, lambda *_: 0.0, lambda x, y: len(tags[x] & tags[y]), 0.7, 2
    )
    assert [name for name, _ in chosen] == ["a", "c"]


def test_tag_similarity() -> None:
    assert tag_similarity(["a", "b"], ["b", "c"]) == pytest.approx(1 / 3)
    assert tag_similarity([], []) == 0.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我喜欢用 Python 写代码", MemoryType.PREFERENCE),
        ("I prefer tea", MemoryType.PREFERENCE),
        ("what is my favourite colour?", MemoryType.PREFERENCE),
        ("I usually run in the morning", MemoryType.PATTERN),
        ("我每天早上跑步", MemoryType.PATTERN),
        ("when is the meeting?", None),
        ("something like that", None),
    ],
)
def test_what_a_message_is_about(text: str, expected: MemoryType | None) -> None:
    assert wanted_type(text) is expected


def test_prefixes() -> None:
    assert prefixes("Pyth* and Rust or a*") == ("pyth*",)


def test_the_contracts_own_numbers() -> None:
    assert {recipe.name for recipe in RECIPES.values()} == {
        "native",
        "recall",
        "longterm",
        "companion",
        "nova",
        "datachat",
    }
    assert (RECIPES["recall"].rrf_k, RECIPES["recall"].min_relevance, RECIPES["recall"].token_budget) == (60, 0.3, 1000)
    assert (RECIPES["longterm"].limit, RECIPES["datachat"].token_budget) == (5, 4000)
    assert 8 <= RECIPES["companion"].limit <= 16
    with pytest.raises(InvalidInput, match="companion"):
        recipe_named("soup")
