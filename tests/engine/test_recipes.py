"""The contracts' recipes over real stores: what each promises, in its own words."""

from __future__ import annotations

from datetime import timedelta

import pytest

from recollect.engine import Engine, EngineConfig
from recollect.model import Query, Recall
from recollect.policy.budget import count_tokens
from recollect.ports import Store
from recollect.testing.clock import ManualClock
from tests.engine.conftest import ANA, engine_over


def texts(recall: Recall) -> list[str]:
    return [hit.content for hit in recall]


async def test_recall_fuses_the_ranks_of_both_legs(engine: Engine) -> None:
    for text in ("the harbour at night", "the harbour in the rain", "a quiet garden"):
        await engine.remember(ANA, {"content": text})
    await engine.flush(ANA)
    recalled = await engine.recall(ANA, Query(text="harbour at night", recipe="recall"))
    assert texts(recalled)[0] == "the harbour at night"
    best = recalled.hits[0]
    assert (best.signals["lexical_rank"], best.signals["dense_rank"]) == (1, 1)
    assert best.score == pytest.approx(2 / 61)
    assert recalled.trace.token_count == sum(count_tokens(text) for text in texts(recalled))


async def test_recall_covers_memories_only_and_keeps_its_token_budget(store: Store) -> None:
    engine = engine_over(store, config=EngineConfig(token_budget=30))
    await engine.add_turns(ANA, "s", [{"role": "user", "content": "harbour talk"}])
    for number in range(8):
        await engine.remember(ANA, {"content": f"harbour note {number}: the harbour was full of boats that day"})
    recalled = await engine.recall(ANA, Query(text="harbour", recipe="recall"))
    assert {hit.target.kind for hit in recalled} == {"memory"}
    assert recalled.trace.truncated
    assert 0 < recalled.trace.token_count <= 30


async def test_no_match_is_an_empty_list_in_every_recipe(engine: Engine) -> None:
    await engine.remember(ANA, {"content": "the harbour at night"})
    await engine.flush(ANA)
    for recipe in ("native", "recall", "longterm", "companion", "nova"):
        assert texts(await engine.recall(ANA, Query(text="zzyzx quux", recipe=recipe))) == [], recipe


async def test_longterm_prefers_preferences_when_one_is_spoken_of(engine: Engine) -> None:
    await engine.remember(ANA, {"content": "Python was installed on Monday", "type": "fact"})
    await engine.remember(ANA, {"content": "Python code every morning", "type": "preference"})
    liked = await engine.recall(ANA, Query(text="我喜欢用 Python 写代码", recipe="longterm"))
    assert texts(liked)[0] == "Python code every morning"
    assert liked.hits[0].signals["category"] == 1.0


async def test_longterm_finds_by_prefix_and_gives_five(engine: Engine) -> None:
    for number in range(7):
        await engine.remember(ANA, {"content": f"Python lesson {number}"})
    assert len(await engine.recall(ANA, Query(text="Pyth*", recipe="longterm"))) == 5


async def test_longterm_lifts_what_is_on_topic(engine: Engine) -> None:
    for text in ("the report about sales", "the report about hiring"):
        await engine.remember(ANA, {"content": text})
    for topic, first in (("sales", "the report about sales"), ("hiring", "the report about hiring")):
        recalled = await engine.recall(ANA, Query(text="report", recipe="longterm", topic=topic))
        assert texts(recalled)[0] == first
        assert recalled.hits[0].signals["topic"] == 1.0


async def test_longterm_counts_what_was_used(engine: Engine) -> None:
    receipt = await engine.remember(ANA, {"content": "the report about sales"})
    await engine.recall(ANA, Query(text="report", recipe="longterm"))
    await engine.flush(ANA)
    memory = await engine.get(ANA, receipt.id or "")
    assert (memory.access_count, memory.last_accessed) == (1, engine.clock.now())


async def test_companion_weighs_recency_and_importance_beside_relevance(store: Store) -> None:
    clock = ManualClock()
    engine = engine_over(store, clock=clock)
    await engine.remember(ANA, {"content": "tea with Bo in the garden", "importance": 0.1})
    clock.advance(timedelta(days=30))
    await engine.remember(ANA, {"content": "tea with Chen in the garden", "importance": 0.1})
    await engine.remember(ANA, {"content": "tea with Dana in the garden", "importance": 0.9})
    await engine.flush(ANA)
    recalled = await engine.recall(ANA, Query(text="tea in the garden", recipe="companion"))
    assert texts(recalled)[0] == "tea with Dana in the garden"
    assert texts(recalled)[-1] == "tea with Bo in the garden"
    oldest = recalled.hits[-1]
    assert oldest.signals["recency"] == pytest.approx(2.718281828 ** -(30 / 7), rel=1e-3)


async def test_companion_does_not_say_the_same_twice_first(engine: Engine) -> None:
    for text in ("the garden gate is green", "the garden gate is green!", "the garden pond has fish"):
        await engine.remember(ANA, {"content": text})
    await engine.flush(ANA)
    shown = texts(await engine.recall(ANA, Query(text="garden gate pond", recipe="companion", min_relevance=0.0)))
    assert "the garden pond has fish" in shown[:2]


async def test_datachat_looks_at_messages(engine: Engine) -> None:
    await engine.add_turns(
        ANA, "s", [{"role": "user", "content": f"sales by region for {year}"} for year in range(2019, 2025)]
    )
    recalled = await engine.recall(ANA, Query(text="sales by region", recipe="datachat"))
    assert len(recalled) == 3
    assert {hit.target.kind for hit in recalled} == {"message"}
