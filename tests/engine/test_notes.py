"""What is noted of reads is written in the end, whatever the store does meanwhile; nobody's reading costs others their trail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from recollect.engine import EngineConfig, audit
from recollect.engine.recalling.notes import Notes
from recollect.errors import Unavailable
from recollect.model import Listing, Occasion, Query, Scope
from recollect.ports import Store, Tx
from recollect.testing.clock import ManualClock
from recollect.testing.reference.store import ReferenceStore
from tests.engine.conftest import engine_over

T = TypeVar("T")
ANA, BO = Scope("acme", "ana"), Scope("acme", "bo")


class Stumbling:
    """A store that takes nothing for one of its people while it stumbles."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.over: Scope | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def write(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        if scope == self.over:
            raise Unavailable("busy")
        return await self._store.write(scope, work)


def noted(kept: Notes, scope: Scope, count: int = 1) -> None:
    for _ in range(count):
        kept.read(scope, audit.event(Occasion(), ManualClock().now(), "memory.read"))


async def facts(store: Store, scope: Scope) -> int:
    trail = await store.read(scope, lambda tx: tx.space.audit(1000, 0))
    return sum(event.action == "memory.read" for event in trail)


async def test_what_the_store_does_not_take_is_written_later() -> None:
    store: Any = Stumbling(ReferenceStore())
    engine = engine_over(store)
    for scope in (ANA, BO):
        await engine.remember(scope, {"content": "The ferry leaves at noon"})
        noted(engine.notes, scope)
    store.over = ANA
    with pytest.raises(Unavailable):
        await engine.notes.write(store, engine.clock)
    noted(engine.notes, ANA)
    store.over = None
    await engine.notes.write(store, engine.clock)
    assert (await facts(store, ANA), await facts(store, BO)) == (2, 1)


async def test_whoever_reads_much_crowds_out_nobody_else() -> None:
    engine = engine_over(ReferenceStore())
    engine.notes = Notes(most=100)
    for scope in (ANA, BO):
        await engine.remember(scope, {"content": "The ferry leaves at noon"})
    noted(engine.notes, ANA, 3)
    noted(engine.notes, BO, 1000)
    await engine.notes.write(engine.store, engine.clock)
    assert await facts(engine.store, ANA) == 3
    assert 0 < await facts(engine.store, BO) <= 100


async def test_what_was_written_or_dropped_counts_no_longer() -> None:
    engine = engine_over(ReferenceStore())
    engine.notes = Notes(most=100)
    for scope in (ANA, BO):
        await engine.remember(scope, {"content": "The ferry leaves at noon"})
    noted(engine.notes, ANA, 50)
    for _ in range(5):
        noted(engine.notes, BO, 40)
        await engine.notes.write(engine.store, engine.clock, BO)
        noted(engine.notes, BO, 40)
        engine.notes.discard(BO)
    await engine.notes.write(engine.store, engine.clock)
    assert (await facts(engine.store, ANA), await facts(engine.store, BO)) == (50, 200)


async def test_only_what_made_it_into_the_prompt_counts_as_accessed() -> None:
    engine = engine_over(ReferenceStore())
    for number in range(4):
        await engine.remember(ANA, {"content": f"The ferry number {number} leaves at noon", "id": f"f{number}"})
    found = await engine.recall(ANA, Query(text="when does the ferry leave"))
    assert len(found) == 4
    used = [hit.target for hit in found.hits[:1]]
    engine.passed_over(ANA, found.hits, used)
    engine.passed_over(ANA, found.hits, used)  # there is nothing left to take back
    engine.passed_over(BO, found.hits, used)
    await engine.flush(ANA)
    counts = {each.id: (each.access_count, each.last_scores is not None) for each in await engine.list(ANA, Listing())}
    assert counts == {f"f{n}": (int(f"f{n}" == used[0].id), True) for n in range(4)}


async def test_a_chat_counts_what_it_used() -> None:
    engine = engine_over(ReferenceStore(), config=EngineConfig(token_budget=150))
    for number in range(8):
        await engine.remember(ANA, {"content": f"The ferry number {number} to Bergen leaves at noon"})
    reply = await (await engine.converse(ANA, "When does the ferry to Bergen leave?", session_id="s")).whole()
    await engine.talks.settle()
    await engine.flush(ANA)
    used = {each.target.id for each in reply.remembered.used}
    assert 0 < len(used) < 8
    assert {each.id for each in await engine.list(ANA, Listing()) if each.access_count} == used


async def test_where_a_memory_comes_from_is_told_by_a_store_that_takes_no_writes() -> None:
    store: Any = Stumbling(ReferenceStore())
    engine = engine_over(store)
    id = (await engine.remember(ANA, {"content": "The ferry leaves at noon"})).id
    assert id
    noted(engine.notes, ANA)
    store.over = ANA
    assert (await engine.why(ANA, id)).memory.id == id
    store.over = None
    assert (await engine.why(ANA, id)).memory.id == id
    assert await facts(store, ANA) >= 2, "what was noted meanwhile is written when it can be"
