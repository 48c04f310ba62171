"""Tags from neighbours: proposed only where several close memories agree, and only to those that have few."""

from __future__ import annotations

import pytest

from recollect.engine import Engine, EngineConfig
from recollect.engine.embedding.embed import drain
from recollect.model import Filter, Listing, Query
from recollect.policy.metadata import SPARSE
from recollect.ports import Store
from tests.engine.conftest import ANA, engine_over


async def filled(engine: Engine) -> str:
    """Three close memories with tags, one without, one far away. Returns the id of the one without."""
    for number in (1, 2, 3):
        await engine.remember(
            ANA,
            {
                "content": f"Bergen ferry harbour timetable note {number}",
                "tags": ["travel", f"only-{number}", "norway"],
            },
        )
    await engine.remember(ANA, {"content": "quarterly tax return accountant", "tags": ["money", "tax"]})
    bare = await engine.remember(ANA, {"content": "Bergen ferry harbour timetable", "tags": ["mine"]})
    await drain(engine)
    return str(bare.id)


async def test_what_neighbours_agree_on_is_proposed(engine: Engine) -> None:
    bare = await filled(engine)
    assert await engine.propose_tags(ANA) >= 1
    tags = (await engine.get(ANA, bare)).tags
    assert tags[0] == "mine", "what somebody gave stays"
    assert {"travel", "norway"} <= set(tags)
    assert not {"money", "only-1", "only-2", "only-3"} & set(tags)
    found = await engine.recall(ANA, Query(text="Bergen ferry", filter=Filter(tags=("norway",), kinds=("memory",))))
    assert bare in {hit.target.id for hit in found}
    assert await engine.propose_tags(ANA) == 0, "who has enough is left alone"


async def test_upkeep_proposes_on_request_and_says_so_first(engine: Engine) -> None:
    bare = await filled(engine)
    sparse = [each for each in await engine.list(ANA, Listing()) if len(each.tags) < SPARSE]
    (announced,) = (await engine.maintain(ANA, dry_run=True, tags=True)).plan.steps
    assert (announced.action, announced.count) == ("tag", len(sparse))
    assert not (await engine.maintain(ANA)).plan.steps
    assert (await engine.maintain(ANA, tags=True)).done["tag"] >= 1
    assert "norway" in (await engine.get(ANA, bare)).tags


async def test_nothing_is_proposed_without_vectors_or_where_memory_is_off(store: Store, engine: Engine) -> None:
    bare = await filled(engine)
    await engine.change_settings(ANA, {"memory_enabled": False})
    assert await engine.propose_tags(ANA) == 0
    await engine.change_settings(ANA, {"memory_enabled": True})
    assert await engine_over(store, config=EngineConfig(write_mode="read_only")).propose_tags(ANA) == 0
    assert (await engine.get(ANA, bare)).tags[0] == "mine"


@pytest.mark.parametrize("most", [0, 1])
async def test_no_more_are_looked_at_than_asked(engine: Engine, most: int) -> None:
    await filled(engine)
    assert await engine.propose_tags(ANA, most) <= most
    assert (await engine.list(ANA, Listing())).total == 5
