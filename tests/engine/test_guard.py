"""A rare word is never lost, and no text is too strange to be looked for."""

from __future__ import annotations

import pytest

from recollect.engine import Engine
from recollect.model import Query
from tests.engine.conftest import ANA, both


@pytest.mark.parametrize("limit", [2, 3, 5])
async def test_what_holds_a_rare_identifier_is_always_shown(engine: Engine, limit: int) -> None:
    await engine.add_turns(
        ANA,
        "s",
        [
            {"role": "user", "content": f"the invoice for the harbour project, part {n} of the harbour"}
            for n in range(600)
        ]
        + [
            {"role": "user", "content": "kept in drawer zx-9981-k", "id": "one"},
            {"role": "user", "content": "and its copy in qq-4410-b", "id": "two"},
        ],
    )
    await engine.flush(ANA)
    question = "invoice for the harbour project part of the harbour zx-9981-k qq-4410-b"
    found = await engine.recall(ANA, Query(text=question, limit=limit))
    assert {"one", "two"} <= {hit.target.id for hit in found}
    assert len(found) == limit
    assert found.trace.truncated


@pytest.mark.parametrize("text", ["_" * 40_000, "【" * 40_000, "[source:" * 5_000, "\n" * 8_000 + "x", "1970-" * 2_000])
@both
async def test_strange_texts_hold_nobody_up(engine: Engine, text: str) -> None:
    """Each took seconds once. Pytest's own time limit is the judge."""
    await engine.remember(ANA, {"content": f"harbour {text}"})
    for recipe in ("native", "recall", "longterm", "companion"):
        assert len(await engine.recall(ANA, Query(text="harbour", recipe=recipe))) == 1
        await engine.recall(ANA, Query(text=text, recipe=recipe, history=(text,)))
