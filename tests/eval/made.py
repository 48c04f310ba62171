"""Golden cases and answers made by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from eval.golden import Answer, Golden, Setup, Shown


def case(expected: Iterable[str] = (), **fields: Any) -> Golden:
    defaults: dict[str, Any] = {
        "id": "made-001",
        "lang": "en",
        "category": "made",
        "memories": (),
        "query": "?",
        "expected": frozenset(expected),
        "acceptable": frozenset(),
        "top": None,
        "at_least": None,
        "types": (),
        "limit": None,
        "token_budget": None,
        "now": None,
        "rubric": "made by hand",
    }
    return Golden(**{**defaults, **fields})


def answer(case: Golden, came: Sequence[str] = (), *, foreign: Sequence[str] = (), **fields: Any) -> Answer:
    """`came` in this order; those that are also in `foreign` are somebody else's."""
    shown = tuple(Shown(text, 0.9, 0.1, text not in foreign) for text in came)
    defaults: dict[str, Any] = {"seconds": 0.01, "tokens": 10, "budget": 1000, "degraded": ()}
    return Answer(case=case, shown=shown, **{**defaults, **fields})


def stored(content: str, *, user: str | None = None, forgotten: bool = False, **fields: Any) -> Setup:
    return Setup({"content": content, **fields}, user, forgotten)
