"""Quoted words over every store, in every recipe, in memory and through the database's own index."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recollect.engine import Engine, EngineConfig
from recollect.model import Filter, Query
from recollect.ports import Store
from recollect.stores.sqlite import SqliteStore
from tests.engine.conftest import ANA, engine_over

RECIPES = ("native", "recall", "longterm", "companion", "nova")
QUOTED = "Notes of the annual budget review on Monday"
APART = "The annual dinner: a budget, and a review of the budget, annual as ever"
NOTES = (
    APART,
    "A review of the annual budget, and of the budget of the annual review",
    QUOTED,
    "Our garden has tomatoes",
    "大家在讨论年度预算的事情",
    "预算每年都有，年度总结也有",
)


@pytest.fixture(params=["held in memory", "searched through the database"])
async def noted(store: Store, request: pytest.FixtureRequest) -> Engine:
    exact_below = 100 if request.param == "held in memory" else 0
    return await _with_notes(engine_over(store, config=EngineConfig(exact_below=exact_below)))


async def _with_notes(engine: Engine) -> Engine:
    for text in NOTES:
        await engine.remember(ANA, {"content": text})
    await engine.flush(ANA)
    return engine


async def first(engine: Engine, text: str, recipe: str) -> str:
    recalled = await engine.recall(ANA, Query(text=text, recipe=recipe))
    return recalled.hits[0].content if recalled.hits else ""


async def test_what_holds_the_quote_comes_first(noted: Engine) -> None:
    for recipe in RECIPES:
        assert await first(noted, 'what about "annual budget review"?', recipe) == QUOTED, recipe
        assert await first(noted, "「年度预算」", recipe) == "大家在讨论年度预算的事情", recipe


async def test_a_quote_found_is_a_sure_match(noted: Engine) -> None:
    for recipe in RECIPES:
        recalled = await noted.recall(
            ANA, Query(text='when did we speak of "budget review" in Lisbon, Ana?', recipe=recipe)
        )
        assert recalled.hits[0].content == QUOTED, recipe
        assert recalled.hits[0].relevance == 1.0, recipe
        assert recalled.hits[0].signals["phrase"] == 1.0, recipe


async def test_what_lacks_the_quote_stays_behind_it(noted: Engine) -> None:
    recalled = await noted.recall(ANA, Query(text='"annual budget review"'))
    assert recalled.hits[0].content == QUOTED
    assert APART in [hit.content for hit in recalled]


async def test_a_quote_nobody_said_falls_back_on_its_words(noted: Engine) -> None:
    for recipe in RECIPES:
        recalled = await noted.recall(ANA, Query(text='"garden of tomatoes"', recipe=recipe))
        assert recalled.hits[0].content == "Our garden has tomatoes", recipe
        assert "phrase" not in recalled.hits[0].signals, recipe


async def test_more_of_the_quotes_come_before_fewer(noted: Engine) -> None:
    await noted.remember(ANA, {"content": "tomatoes at the annual budget review"})
    await noted.flush(ANA)
    for recipe in RECIPES:
        assert (
            await first(noted, '"tomatoes" and "annual budget review"', recipe)
            == "tomatoes at the annual budget review"
        )


async def test_a_quote_does_not_reach_past_a_filter(noted: Engine) -> None:
    recalled = await noted.recall(ANA, Query(text='"annual budget review"', filter=Filter(tags=("work",))))
    assert len(recalled) == 0


async def test_a_quote_is_found_among_many_texts_with_its_words(store: Store) -> None:
    engine = engine_over(store, config=EngineConfig(exact_below=0))
    for number in range(120):
        await engine.remember(ANA, {"content": f"review {number}: annual budget and review, budget, annual {number}"})
    await engine.remember(
        ANA, {"content": "a long day that began late, and among much else there was the budget review"}
    )
    await engine.flush(ANA)
    for recipe in RECIPES:
        found = await first(engine, 'annual "budget review"', recipe)
        assert found.endswith("the budget review"), recipe


async def test_without_full_text_a_quote_is_found_too() -> None:
    store = await SqliteStore.open(":memory:", full_text=False)
    engine = await _with_notes(engine_over(store, config=EngineConfig(exact_below=0)))
    for recipe in RECIPES:
        assert await first(engine, '"annual budget review"', recipe) == QUOTED
    await store.close()


async def test_what_is_still_being_typed_is_found_by_its_beginning(noted: Engine) -> None:
    for typed, found in (
        ("toma", "Our garden has tomatoes"),
        ("garden tom", "Our garden has tomatoes"),
        ("年度预", "大家在讨论年度预算的事情"),
    ):
        for recipe in ("native", "recall"):
            recalled = await noted.recall(ANA, Query(text=typed, recipe=recipe, typing=True, min_relevance=0.3))
            assert recalled.hits, (typed, recipe)
            assert recalled.hits[0].content == found, (typed, recipe)
    done = Query(text="toma", recipe="recall", min_relevance=0.3)
    assert not [hit for hit in await noted.recall(ANA, done) if "lexical" in hit.signals]
    assert not [
        hit for hit in await noted.recall(ANA, replace(done, text="toma?", typing=True)) if "lexical" in hit.signals
    ]


async def test_what_is_still_being_typed_may_be_a_whole_word(noted: Engine) -> None:
    for content in ("The small team meets early", "She likes a cup of tea with a little milk in the late afternoon"):
        await noted.remember(ANA, {"content": content})
    await noted.flush(ANA)
    for recipe in ("native", "recall"):
        recalled = await noted.recall(ANA, Query(text="tea", recipe=recipe, typing=True))
        assert recalled.hits[0].content.startswith("She likes a cup of tea"), recipe
