"""Spaces of one person never mix, unless one of them says which tags it shares."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.engine import Engine
from recollect.model import Filter, Hit, Occasion, Query, Scope
from tests.engine.conftest import ANA

WORK = ANA.within("work")
HOME = ANA.within("home")


async def told(engine: Engine, scope: Scope, content: str, *tags: str, **fields: Any) -> str:
    receipt = await engine.remember(scope, {"content": content, "tags": tags, **fields})
    await engine.flush(scope)
    return receipt.id or ""


async def hits(engine: Engine, scope: Scope, text: str, **query: Any) -> list[Hit]:
    return list(await engine.recall(scope, Query(text=text, **query)))


@pytest.fixture
async def shared(engine: Engine) -> Engine:
    """At work something is shared, something isn't; at home there is a memory of its own."""
    await told(engine, WORK, "The office door code is turquoise", "team")
    await told(engine, WORK, "The office salary review is turquoise too", "private")
    await engine.add_turns(WORK, "s", [{"role": "user", "content": "is the office door turquoise?"}])
    await told(engine, HOME, "The garden door is red")
    await engine.flush(WORK)
    await engine.change_settings(WORK, {"shared_tags": ["team"]})
    return engine


@pytest.mark.parametrize("recipe", ["native", "recall", "longterm", "companion", "nova"])
async def test_without_an_opt_in_spaces_never_mix(engine: Engine, recipe: str) -> None:
    await told(engine, WORK, "The office door code is turquoise", "team")
    await told(engine, HOME, "The garden door is red", "team")
    assert await hits(engine, ANA, "office door turquoise", recipe=recipe) == []
    assert [hit.content for hit in await hits(engine, HOME, "door", recipe=recipe)] == ["The garden door is red"]


@pytest.mark.parametrize("recipe", ["native", "recall", "longterm", "companion", "nova"])
async def test_a_shared_tag_lets_its_memories_be_recalled_from_other_spaces(shared: Engine, recipe: str) -> None:
    found = await hits(shared, HOME, "office door turquoise", recipe=recipe)
    assert ("The office door code is turquoise", "work") in [(hit.content, hit.space) for hit in found]
    assert not [hit for hit in found if "salary" in hit.content or hit.message]
    assert [hit.space for hit in found if hit.content == "The garden door is red"] in ([], [None])


async def test_sharing_goes_one_way(shared: Engine) -> None:
    found = await hits(shared, WORK, "garden door red")
    assert not [hit for hit in found if "garden" in hit.content]
    assert all(hit.space is None for hit in found)


async def test_other_people_and_tenants_share_nothing(shared: Engine) -> None:
    for stranger in (Scope("acme", "bo", "home"), Scope("other", "ana", "home")):
        await told(shared, stranger, "something of their own")
        assert await hits(shared, stranger, "office door turquoise") == []


async def test_opting_out_holds_at_once(shared: Engine) -> None:
    assert await hits(shared, HOME, "office turquoise")
    await shared.change_settings(WORK, {"shared_tags": []})
    assert await hits(shared, HOME, "office turquoise") == []


@pytest.mark.parametrize("switch", [{"memory_enabled": False}, {"incognito_default": True}])
async def test_a_space_that_is_off_or_incognito_shares_nothing(shared: Engine, switch: dict[str, bool]) -> None:
    await shared.change_settings(WORK, switch)
    assert await hits(shared, HOME, "office turquoise") == []


async def test_who_may_not_recall_is_shared_nothing(shared: Engine) -> None:
    await shared.start_incognito(HOME, "quiet")
    assert await hits(shared.on(Occasion(session_id="quiet")), HOME, "office turquoise") == []
    await shared.change_settings(HOME, {"memory_enabled": False})
    assert await hits(shared, HOME, "office turquoise") == []


async def test_filters_hold_for_what_is_shared_too(shared: Engine) -> None:
    await told(shared, WORK, "The office plant is turquoise", "team", "plants")
    await told(shared, WORK, "The office cactus is turquoise", "plants")
    only = Filter(kinds=("memory",), tags=("plants",))
    assert [hit.content for hit in await hits(shared, HOME, "office turquoise", filter=only)] == [
        "The office plant is turquoise"
    ]
    assert await hits(shared, HOME, "office turquoise", filter=Filter(kinds=("message",))) == []
    assert await hits(shared, HOME, "office turquoise", filter=Filter(sessions=("s",))) == []


async def test_the_limit_counts_what_is_shared_and_the_more_relevant_comes_first(shared: Engine) -> None:
    await told(shared, HOME, "The office is far from home")
    found = await hits(shared, HOME, "The office door code is turquoise", limit=1)
    assert [(hit.content, hit.space) for hit in found] == [("The office door code is turquoise", "work")]


async def test_an_access_is_counted_where_the_memory_lives(shared: Engine) -> None:
    found = await hits(shared, HOME, "office door turquoise", recipe="recall")
    (id,) = [hit.target.id for hit in found if hit.space == "work"]
    await shared.settle_debts()
    memory = await shared.get(WORK, id)
    assert memory.access_count == 1
    assert memory.last_scores is not None


async def test_what_is_archived_or_forgotten_is_no_longer_shared(shared: Engine) -> None:
    (hit,) = await hits(shared, HOME, "office turquoise", recipe="recall")
    await shared.archive(WORK, [hit.target.id])
    assert await hits(shared, HOME, "office turquoise") == []
    await shared.restore(WORK, hit.target.id)
    assert await hits(shared, HOME, "office turquoise")
    await shared.forget(WORK, [hit.target.id])
    assert await hits(shared, HOME, "office turquoise") == []


async def test_only_a_few_sharing_spaces_are_looked_at(engine: Engine) -> None:
    for number in range(12):
        scope = ANA.within(f"space{number:02}")
        await told(engine, scope, f"The turquoise note number {number}", "team")
        await engine.change_settings(scope, {"shared_tags": ["team"]})
    found = await hits(engine, ANA, "turquoise note number", limit=50, recipe="recall")
    assert {hit.space for hit in found} == {f"space{number:02}" for number in range(8)}


async def test_a_tag_that_shares_is_never_proposed_to_a_memory_that_has_none(engine: Engine) -> None:
    await engine.change_settings(WORK, {"shared_tags": ["team"]})
    for day in ("Monday", "Tuesday", "Wednesday", "Thursday"):
        await told(engine, WORK, f"the tall office plant gets its water on {day}", "team", "plants")
    bare = await told(engine, WORK, "the tall office plant gets its water on Friday")
    assert await engine.propose_tags(WORK) == 1
    assert (await engine.get(WORK, bare)).tags == ("plants",)
