"""Forgetting is permanent, counted, and reaches what was derived."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from recollect.engine import Engine
from recollect.errors import NotFound, Unavailable
from recollect.model import Listing, Query, Scope
from recollect.ports import Store, Tx
from recollect.testing.reference.store import ReferenceStore
from tests.engine.conftest import ANA, engine_over

T = TypeVar("T")


class Failing:
    """A store that takes so many more writes and then none."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.takes = 1000

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def write(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        self.takes -= 1
        if self.takes < 0:
            raise Unavailable("full")
        return await self._store.write(scope, work)


async def test_the_receipt_counts_what_was_removed(engine: Engine) -> None:
    receipt = await engine.remember(ANA, {"content": "My code is 4471", "theme": "Codes"})
    await engine.flush(ANA)
    gone = await engine.forget(ANA, [receipt.id or ""])
    assert (gone.memories, gone.index_entries, gone.vectors, gone.tombstones) == (1, 1, 1, 1)
    assert (await engine.recall(ANA, Query(text="code 4471"))).hits == ()
    assert await engine.themes(ANA) == [], "a theme's name goes with its last memory"
    with pytest.raises(NotFound):
        await engine.get(ANA, receipt.id or "")


async def test_one_unknown_id_means_nothing_is_removed(engine: Engine) -> None:
    kept = await engine.remember(ANA, {"content": "kept"})
    with pytest.raises(NotFound):
        await engine.forget(ANA, [kept.id or "", "unknown"])
    assert (await engine.list(ANA, Listing())).total == 1


async def test_someone_elses_memory_looks_absent(engine: Engine) -> None:
    mine = await engine.remember(ANA, {"content": "mine"})
    for stranger in (Scope("acme", "bo"), Scope("other", "ana"), Scope("acme", "ana", "work")):
        with pytest.raises(NotFound):
            await engine.forget(stranger, [mine.id or ""])
    assert (await engine.list(ANA, Listing())).total == 1


async def test_what_has_no_other_source_goes_too(engine: Engine) -> None:
    a = (await engine.remember(ANA, {"content": "went to Rome in May"})).id or ""
    b = (await engine.remember(ANA, {"content": "went to Oslo in June"})).id or ""
    only_a = await engine.remember(ANA, {"content": "travels in spring", "source_ids": [a], "type": "summary"})
    deeper = await engine.remember(ANA, {"content": "likes spring", "source_ids": [only_a.id or ""]})
    both = await engine.remember(ANA, {"content": "travels a lot", "source_ids": [a, b], "type": "summary"})
    gone = await engine.forget(ANA, [a])
    assert (gone.memories, gone.derived) == (1, 2)
    left = {memory.id: memory for memory in await engine.list(ANA, Listing())}
    assert left.keys() == {b, both.id}
    assert deeper.id not in left
    assert left[both.id or ""].source_ids == (b,), "a survivor no longer names what is gone"


async def test_a_conversation_goes_with_what_was_learnt_from_it_alone(engine: Engine) -> None:
    turns = await engine.add_turns(ANA, "s1", [{"role": "user", "content": "I moved to Berlin"}])
    await engine.remember(
        ANA, {"content": "lives in Berlin", "source_message_id": turns.ids[0], "source_conversation_id": "s1"}
    )
    await engine.add_turns(ANA, "s2", [{"role": "user", "content": "I like rye bread"}])
    gone = await engine.forget_conversation(ANA, "s1")
    assert (gone.conversations, gone.messages, gone.derived, gone.memories) == (1, 1, 1, 0)
    assert (await engine.recall(ANA, Query(text="Berlin"))).hits == ()
    assert [hit.content for hit in await engine.recall(ANA, Query(text="rye bread"))] == ["I like rye bread"]


async def test_erasing_a_user_reaches_every_space_and_nobody_else(engine: Engine) -> None:
    work = ANA.within("work")
    neighbours = (Scope("acme", "bo"), Scope("other", "ana"))
    for scope in (ANA, work, *neighbours):
        await engine.remember(scope, {"content": "the canary sings"})
        await engine.add_turns(scope, "s", [{"role": "user", "content": "a canary again"}])
    seen: list[int] = []
    gone = await engine.erase_user("acme", "ana", lambda receipt: seen.append(receipt.memories))
    assert (gone.memories, gone.messages, gone.conversations) == (2, 2, 2)
    assert seen == [1, 2]
    for scope in (ANA, work):
        assert (await engine.recall(scope, Query(text="canary"))).hits == ()
        assert (await engine.list(scope, Listing())).total == 0
    for scope in neighbours:
        assert len(await engine.recall(scope, Query(text="canary"))) == 2


async def test_what_was_said_and_what_was_learnt_from_it_go_together_or_not_at_all() -> None:
    store: Any = Failing(ReferenceStore())
    engine = engine_over(store)
    said = await engine.add_turns(ANA, "s1", [{"role": "user", "content": "My locker code is 4471"}])
    learnt = await engine.remember(ANA, {"content": "locker code 4471", "source_message_id": said.ids[0]})
    assert len((await engine.recall(ANA, Query(text="locker code"))).hits) == 2
    store.takes = 0
    with pytest.raises(Unavailable):
        await engine.unsay(ANA, learnt.id or "")
    assert len((await engine.recall(ANA, Query(text="locker code"))).hits) == 2
    store.takes = 1
    gone = await engine.unsay(ANA, learnt.id or "")
    assert (gone.memories, gone.messages, gone.scrubbed, gone.scrub_owed) == (1, 1, True, False)
    assert (await engine.recall(ANA, Query(text="locker code"))).hits == ()
