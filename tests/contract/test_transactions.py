"""Transactions: all or nothing, one after another within a scope, and a reader sees one moment."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from dataclasses import replace

import pytest

from recollect.errors import RecollectError, Unavailable
from recollect.model import AuditEvent, Listing, Scope, SpaceSettings, Target, Tombstone
from recollect.ports import Store, Tx
from tests.contract.samples import (
    ANA,
    ANY,
    NEIGHBOURS,
    T0,
    at,
    conversation,
    digest,
    entry,
    memory,
    message,
    of,
    remember,
    shelve,
    unit,
)
from tests.contract.snapshots import everything

PATIENCE = 60.0


class Change(Exception):
    """Raised by work that has changed its mind."""


def write_everywhere(tx: Tx) -> None:
    tx.memories.insert(memory("new", "new"), digest("new"))
    tx.memories.touch(["old"], at(5))
    tx.memories.delete(["gone"])
    tx.conversations.open(conversation("new"))
    tx.conversations.append([message("new", "new")])
    tx.index.put([entry("new", "tea")])
    tx.index.drop(of("memory", "old"))
    tx.embeddings.queue({Target("memory", "new"): "hash"}, "g1", T0)
    tx.space.save_settings(SpaceSettings(soft_cap=1))
    tx.space.bury([Tombstone(digest=digest("x"), created_at=T0, expires_at=at(9))])
    tx.space.record(AuditEvent(id="e-new", at=T0, action="test"))


async def test_work_that_raises_leaves_nothing_and_its_error_arrives(vector_store: Store) -> None:
    store = vector_store
    await shelve(
        store, ANA, entry("old", "milk"), entry("gone", "milk"), vectors={"old": unit(1, 0, 0), "gone": unit(1, 1, 1)}
    )
    before = await store.read(ANA, everything)
    due = await store.system(lambda system: system.next_due())

    def work(tx: Tx) -> None:
        write_everywhere(tx)
        raise Change("because")

    with pytest.raises(Change, match="because"):
        await store.write(ANA, work)
    assert await store.read(ANA, everything) == before
    assert await store.system(lambda system: system.next_due()) == due
    await store.write(ANA, write_everywhere)
    assert await store.read(ANA, everything) != before


async def test_a_scope_whose_first_write_failed_does_not_exist(store: Store) -> None:
    def work(tx: Tx) -> None:
        write_everywhere(tx)
        raise Change

    with pytest.raises(Change):
        await store.write(ANA, work)
    assert list(await store.system(lambda system: system.scopes(None, 9))) == []


async def test_work_sees_what_it_has_written(store: Store) -> None:
    def work(tx: Tx) -> None:
        assert tx.scope == ANA
        write_everywhere(tx)
        assert set(tx.memories.get(["new"])) == {"new"}
        assert tx.memories.list(Listing()).total == 1
        assert tx.memories.twin(digest("new")) is not None
        assert [each.id for each in tx.conversations.history("new", 5)] == ["new"]
        assert [each.target.id for each in tx.index.lexical(["tea"], ANY, T0, 5)] == ["new"]
        assert tx.index.frequencies(["tea"])["tea"] == 1
        assert tx.index.changes(0, None, 9).size == 1
        assert tx.embeddings.backlog("g1").pending == 1
        assert tx.space.settings().soft_cap == 1
        assert tx.space.buried(digest("x"), T0) is not None

    await store.write(ANA, work)


async def test_a_write_returns_what_its_work_returns(store: Store) -> None:
    assert await store.write(ANA, lambda tx: ("a", 1)) == ("a", 1)
    assert await store.read(ANA, lambda tx: tx.scope) == ANA


async def test_errors_of_reads_arrive_and_do_no_harm(store: Store) -> None:
    def work(tx: Tx) -> None:
        raise Change

    for _ in range(20):
        with pytest.raises(Change):
            await store.read(ANA, work)
    await remember(store, ANA, memory())


async def test_a_read_never_writes(store: Store) -> None:
    await remember(store, ANA, memory("old"))
    with suppress(RecollectError):
        await store.read(ANA, lambda tx: tx.memories.insert(memory("new"), digest("new")))
    assert set(await store.read(ANA, lambda tx: tx.memories.get(["old", "new"]))) == {"old"}


async def test_a_reader_sees_one_moment(store: Store) -> None:
    await shelve(store, ANA, entry("a"))
    looked, written = threading.Event(), threading.Event()

    def work(tx: Tx) -> tuple[object, object]:
        first = (tx.memories.list(Listing()).total, tx.index.changes(0, None, 9).size)
        looked.set()
        # A store may let writers wait for readers instead; then there is nothing to see but the same moment.
        written.wait(0.5)
        return first, (tx.memories.list(Listing()).total, tx.index.changes(0, None, 9).size)

    reading = asyncio.create_task(store.read(ANA, work))
    assert await asyncio.to_thread(looked.wait, PATIENCE)
    writing = asyncio.create_task(shelve(store, ANA, entry("b")))
    writing.add_done_callback(lambda _: written.set())
    first, second = await reading
    await writing
    assert first == second == (1, 1)
    assert await store.read(ANA, lambda tx: tx.memories.list(Listing()).total) == 2


async def test_writers_of_one_scope_run_one_after_another(store: Store) -> None:
    def work(tx: Tx) -> None:
        settings = tx.space.settings()
        tx.space.save_settings(replace(settings, soft_cap=settings.soft_cap + 1))
        talk = tx.conversations.open(conversation())
        tx.conversations.append([message(f"m{talk.message_count}", order=talk.message_count)])

    await asyncio.gather(*(store.write(ANA, work) for _ in range(20)))
    assert (await store.read(ANA, lambda tx: tx.space.settings())).soft_cap == SpaceSettings().soft_cap + 20
    told = await store.read(ANA, lambda tx: tx.conversations.history("c1", 99))
    assert [each.order for each in told] == list(range(20))


async def test_concurrent_first_writes_of_a_scope_make_it_once(store: Store) -> None:
    async def write(number: int) -> None:
        await shelve(store, ANA, entry(f"m{number}", "tea"))

    await asyncio.gather(*(write(number) for number in range(10)))
    found = await store.read(ANA, lambda tx: tx.index.changes(0, None, 99))
    assert (found.size, len(found.items)) == (10, 10)
    assert list(await store.system(lambda system: system.scopes(None, 9))) == [ANA]


async def test_writers_of_many_scopes_and_readers_run_together(store: Store) -> None:
    scopes = [*NEIGHBOURS, ANA]

    async def write(scope: Scope, number: int) -> None:
        await shelve(store, scope, entry(f"m{number}", f"tea word{number}"))
        found = await store.read(scope, lambda tx: tx.index.lexical([f"word{number}"], ANY, T0, 9))
        assert [each.target.id for each in found] == [f"m{number}"]

    await asyncio.gather(*(write(scope, number) for number in range(6) for scope in scopes))
    for scope in scopes:
        assert await store.read(scope, lambda tx: tx.index.changes(0, None, 99).size) == 6
        assert await store.read(scope, lambda tx: tx.index.frequencies(["tea"])["tea"]) == 6


async def test_a_caller_that_goes_away_leaves_all_or_nothing(store: Store) -> None:
    began = threading.Event()

    def work(tx: Tx) -> None:
        tx.memories.insert(memory("first", "1"), digest("1"))
        began.set()
        threading.Event().wait(0.1)
        tx.memories.insert(memory("second", "2"), digest("2"))

    writing = asyncio.create_task(store.write(ANA, work))
    assert await asyncio.to_thread(began.wait, PATIENCE)
    writing.cancel()
    with suppress(asyncio.CancelledError):
        await writing
    # The next writer of the scope comes after it, so by now it has ended one way or the other.
    await store.write(ANA, lambda tx: None)
    assert len(await store.read(ANA, lambda tx: tx.memories.get(["first", "second"]))) in (0, 2)


async def test_a_closed_store_says_so(store: Store) -> None:
    await remember(store, ANA, memory())
    await store.close()
    await store.close()
    with pytest.raises(Unavailable):
        await store.read(ANA, lambda tx: tx.memories.get(["m1"]))
    with pytest.raises(Unavailable):
        await store.write(ANA, lambda tx: tx.memories.delete(["m1"]))
    with pytest.raises(Unavailable):
        await store.system(lambda system: system.generations())
