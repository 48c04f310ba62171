"""What upkeep removes is gone from every byte and every column, and what it puts away can still be forgotten without a trace."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from recollect.engine import Engine
from recollect.model import Conversation, Listing, Query, Scope
from recollect.testing import columns_containing, files_containing
from recollect.testing.clock import ManualClock
from tests.api.homes import Home, engine_over, open_store

CANARY = "qzvxkanarrr7"
ANA = Scope("acme", "ana")
DAY = timedelta(days=1)


def traces(home: Home) -> list[str]:
    if home.database is not None:
        return columns_containing(home.database.superuser_url, CANARY)
    return [path.name for path in files_containing(home.folder, CANARY)]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def engine(home: Home, clock: ManualClock) -> AsyncIterator[Engine]:
    (home.folder / "data").mkdir(exist_ok=True)
    engine = engine_over(await open_store(home), clock)
    for number in range(10):
        await engine.remember(ANA, {"content": f"bystander{number} about tea", "tags": ["plain"]})
    yield engine
    await engine.close()


async def garden(engine: Engine, clock: ManualClock) -> list[str]:
    """Old memories of one matter, the word in the last of them."""
    ids = []
    for what in ("compost in spring", "cover in winter", f"{CANARY} in summer. Beds need {CANARY}"):
        told = await engine.remember(ANA, {"content": f"The garden beds need {what}", "theme": "garden"})
        ids.append(told.id or "")
        clock.advance(DAY)
    await engine.flush(ANA)
    clock.advance(40 * DAY)
    assert (await engine.maintain(ANA, roll_up=True)).done["summarise"] >= 1
    await engine.flush(ANA)
    return ids


async def test_a_forgotten_original_is_gone_from_the_roll_up_too(
    engine: Engine, home: Home, clock: ManualClock
) -> None:
    ids = await garden(engine, clock)
    assert traces(home)
    hits = await engine.recall(ANA, Query(text=f"garden beds {CANARY}"))
    assert [hit for hit in hits if CANARY in hit.content]
    assert (await engine.forget(ANA, [ids[2]])).scrubbed
    assert traces(home) == []
    (summary,) = [each for each in await engine.list(ANA, Listing()) if each.theme == "garden"]
    assert summary.content.count("\n") == 1, "the others are still in it"
    assert summary.source_ids == (ids[0], ids[1])


async def test_a_forgotten_roll_up_takes_what_it_stood_for(engine: Engine, home: Home, clock: ManualClock) -> None:
    await garden(engine, clock)
    (summary,) = [each for each in await engine.list(ANA, Listing()) if each.theme == "garden"]
    await engine.forget(ANA, [summary.id])
    assert traces(home) == []


async def test_an_archived_memory_can_be_forgotten_without_a_trace(engine: Engine, home: Home) -> None:
    told = await engine.remember(ANA, {"content": f"the word is {CANARY}"})
    await engine.flush(ANA)
    await engine.archive(ANA, [told.id or ""])
    assert traces(home)
    await engine.forget(ANA, [told.id or ""])
    assert traces(home) == []


async def test_what_has_expired_or_outlived_the_archive_is_gone(engine: Engine, home: Home, clock: ManualClock) -> None:
    await engine.remember(ANA, {"content": f"today only: {CANARY}", "expires_at": clock.now() + DAY})
    old = await engine.remember(ANA, {"content": f"an old {CANARY}", "theme": f"theme {CANARY}", "tags": [CANARY]})
    await engine.flush(ANA)
    await engine.archive(ANA, [old.id or ""])
    clock.advance(180 * DAY)
    assert (await engine.maintain(ANA)).done == {"expire": 1, "remove": 1}
    assert traces(home) == []
    assert (await engine.list(ANA, Listing(tags=("plain",)))).total == 10


async def test_an_expired_conversation_is_gone(engine: Engine, home: Home, clock: ManualClock) -> None:
    now = clock.now()
    talk = Conversation(id=f"talk {CANARY}", created_at=now, updated_at=now, expires_at=now + DAY, summary=CANARY)
    await engine.store.write(ANA, lambda tx: tx.conversations.open(talk))
    turn = {"role": "user", "content": f"{CANARY} was said", "name": CANARY}
    await engine.add_turns(ANA, talk.id, [turn])
    await engine.flush(ANA)
    clock.advance(DAY)
    assert (await engine.maintain(ANA)).done["drop_conversation"] == 1
    assert traces(home) == []
