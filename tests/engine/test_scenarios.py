"""Scenarios of the long-term and the companion contract that no other test is named after, over both stores.

Which test holds which scenario is listed in docs/scenarios.md, and the list is held to what there is.
"""

from __future__ import annotations

import ast
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect.engine import Engine, EngineConfig
from recollect.engine.embedding.embed import drain
from recollect.model import Filter, Listing, Query
from recollect.policy.recipes import COMPANION
from recollect.policy.text import keywords
from recollect.ports import Store
from recollect.testing.clock import ManualClock
from tests.engine.conftest import ANA, engine_over

ROOT = Path(__file__).parents[2]
BOTH = pytest.mark.parametrize("store", ["sqlite-memory", "postgres"], indirect=True)
MEMORIES = Filter(kinds=("memory",))


async def texts(engine: Engine, query: Query) -> list[str]:
    return [hit.content for hit in await engine.recall(ANA, query)]


@BOTH
async def test_retrieve_relevant_long_term_memories(store: Store) -> None:
    engine = engine_over(store)
    for number in range(8):
        confidence = (number + 1) / 10
        await engine.remember(ANA, {"content": f"Python lesson {number} is on Monday", "confidence": confidence})
    found = await engine.recall(ANA, Query(text="When is my Python lesson?", recipe="longterm"))
    assert len(found) == 5
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    few = engine_over(store, config=EngineConfig(max_results=2))
    assert len(await few.recall(ANA, Query(text="When is my Python lesson?", recipe="longterm"))) == 2


@BOTH
async def test_keyword_extraction_from_user_message(store: Store) -> None:
    engine = engine_over(store)
    said = "我喜欢用 Python 写代码"
    assert set(keywords(said)) == {"Python", "代码", "喜欢"}
    await engine.remember(ANA, {"content": "Python 代码要有测试"})
    await engine.remember(ANA, {"content": "我用铅笔写信"})
    assert (await texts(engine, Query(text=said, recipe="longterm")))[0] == "Python 代码要有测试"


@BOTH
async def test_category_based_candidate_recall(store: Store) -> None:
    engine = engine_over(store)
    await engine.remember(ANA, {"content": "green tea grows on hills", "type": "fact"})
    await engine.remember(ANA, {"content": "green tea before noon", "type": "preference"})
    found = await engine.recall(ANA, Query(text="我喜欢 green tea", recipe="longterm"))
    assert [hit.content for hit in found] == ["green tea before noon", "green tea grows on hills"]
    assert [hit.signals["category"] for hit in found] == [1.0, 0.0]


@BOTH
async def test_keyword_matching_with_full_text(store: Store) -> None:
    """A prefix finds the word, and what matches better scores higher."""
    engine = engine_over(store)
    await engine.remember(ANA, {"content": "Python and nothing but Python"})
    await engine.remember(ANA, {"content": "a long walk by the river, and later a word about Python with Ben"})
    assert len(await texts(engine, Query(text="Pyth*", recipe="longterm"))) == 2
    first, second = await engine.recall(ANA, Query(text="Python", recipe="longterm"))
    assert first.signals["lexical"] > second.signals["lexical"] > 0


@BOTH
async def test_relevance_score_calculation(store: Store) -> None:
    clock = ManualClock()
    engine = engine_over(store, clock=clock)
    await engine.remember(ANA, {"content": "the report about sales", "confidence": 0.6})
    clock.advance(timedelta(days=7))
    (hit,) = await engine.recall(ANA, Query(text="report", recipe="longterm"))
    keyword = hit.signals["lexical"]
    # Nothing was accessed yet, and a week is half of the recency.
    assert hit.score == pytest.approx(keyword * 0.4 + 1.0 * 0.2 + 0.5 * 0.15 + 0.0 * 0.1 + 0.6 * 0.15, abs=1e-3)


@BOTH
async def test_empty_retrieval_result_leaves_the_conversation_alone(store: Store) -> None:
    engine = engine_over(store)
    await engine.remember(ANA, {"content": "The bakery opens at six"})
    assert await texts(engine, Query(text="zyzzyva", recipe="longterm")) == []
    reply = await (await engine.converse(ANA, "zyzzyva?", session_id="s")).whole()
    await engine.talks.settle()
    assert (reply.remembered.used, reply.failed) == ((), None)
    assert reply.text


@BOTH
async def test_importance_heuristics_on_the_way_in(store: Store) -> None:
    engine = engine_over(store)
    told: dict[str, dict[str, Any]] = {
        "asked": {"content": "the shed key hangs left", "manually_saved": True},
        "lasting": {"content": "I always prefer the window seat", "type": "preference"},
        "plain": {"content": "the shed has a door"},
        "passing": {"content": "haha ok thanks"},
    }
    weight = {}
    for name, fields in told.items():
        receipt = await engine.remember(ANA, fields)
        weight[name] = (await engine.get(ANA, str(receipt.id))).importance
    assert weight["asked"] >= weight["plain"] + 0.5 - 1e-6
    assert weight["lasting"] >= weight["plain"] + 0.3 - 1e-6
    assert weight["passing"] <= weight["plain"]


@BOTH
async def test_importance_is_recomputed_with_every_repeat(store: Store) -> None:
    engine = engine_over(store)
    seen = []
    for text in ("I like green tea", "i like GREEN tea!", "I like  green tea", "I like green tea."):
        receipt = await engine.remember(ANA, {"content": text})
        memory = await engine.get(ANA, str(receipt.id))
        seen.append((memory.repeat_count, memory.importance))
    assert [count for count, _ in seen] == [0, 1, 2, 3]
    assert [weight for _, weight in seen] == sorted({weight for _, weight in seen}), "each repeat adds"
    assert (await engine.list(ANA, Listing())).total == 1


@BOTH
async def test_hybrid_retrieval_skips_what_has_no_embedding_and_still_finds_it(store: Store) -> None:
    engine = engine_over(store)
    await engine.remember(ANA, {"content": "the ferry to Bergen leaves at noon"})
    await drain(engine)
    await engine.remember(ANA, {"content": "the ferry to Oslo leaves at one"})
    found = await engine.recall(ANA, Query(text="ferry leaves", recipe="companion"))
    assert {hit.content for hit in found} == {"the ferry to Bergen leaves at noon", "the ferry to Oslo leaves at one"}


@BOTH
async def test_the_top_entries_are_within_the_token_budget(store: Store) -> None:
    engine = engine_over(store)
    assert 8 <= COMPANION.limit <= 16
    for number in range(20):
        await engine.remember(ANA, {"content": f"the ferry number {number} leaves from pier {number} at noon sharp"})
    query = Query(text="when does the ferry leave", recipe="companion", filter=MEMORIES)
    assert len(await engine.recall(ANA, query)) == COMPANION.limit
    tight = await engine.recall(ANA, Query(text=query.text, recipe="companion", filter=MEMORIES, token_budget=60))
    assert 0 < len(tight) < COMPANION.limit
    assert tight.trace.token_count <= 60


def test_every_scenario_names_a_test_that_is_there() -> None:
    table = (ROOT / "docs" / "scenarios.md").read_text()
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", table)
    assert len(named) > 50
    known: dict[str, set[str]] = {}
    for path, test in named:
        if path not in known:
            functions = ast.walk(ast.parse((ROOT / path).read_text()))
            known[path] = {each.name for each in functions if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
        assert test in known[path], f"{path} has no {test}"
