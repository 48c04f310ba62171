"""Erasing a scope: nothing of it is left, everyone else keeps everything, and no copy of it can pass for current."""

from __future__ import annotations

import pytest

from recollect.model import ForgetReceipt, SpaceSettings
from recollect.ports import Store, Tx
from tests.contract.samples import (
    ANA,
    ANY,
    NEIGHBOURS,
    T0,
    at,
    dense,
    digest,
    entry,
    found_ids,
    lexical,
    memory,
    shelve,
    unit,
)
from tests.contract.snapshots import everything
from tests.contract.test_isolation import EVERYONE, furnish, own_view


async def erase(store: Store) -> ForgetReceipt:
    return await store.write(ANA, lambda tx: tx.erase())


async def test_nothing_is_left_of_an_erased_scope(vector_store: Store) -> None:
    store = vector_store
    blank = await store.read(ANA, everything)
    await store.write(ANA, furnish)
    await erase(store)
    assert await store.read(ANA, everything) == blank
    assert list(await lexical(store, ANA, "tea", "te*")) == []
    assert list(await dense(store, ANA, unit(1, 0, 0))) == []

    def rest(tx: Tx) -> list[object]:
        return [
            tx.space.settings() == SpaceSettings(),
            tx.space.working("talk"),
            tx.space.buried(digest("acme ana default"), T0),
            tx.space.audit(9, 0).total,
            list(tx.space.themes()),
            tx.index.frequencies(["tea"]).get("tea", 0),
        ]

    assert await store.read(ANA, rest) == [True, None, None, 0, [], 0]
    assert list(await store.system(lambda system: system.scopes(None, 9))) == []
    assert list(await store.system(lambda system: system.waiting(at(9), 9))) == []
    assert await store.system(lambda system: system.next_due()) is None


async def test_the_receipt_counts_what_was_removed(vector_store: Store) -> None:
    await vector_store.write(ANA, furnish)
    receipt = await erase(vector_store)
    counted = (receipt.memories, receipt.messages, receipt.conversations, receipt.index_entries)
    assert counted == (2, 1, 1, 2)
    assert receipt.vectors in (2, 3), "two vectors, and one row whose vector was still to come"
    assert await erase(vector_store) == ForgetReceipt()


async def test_everyone_else_keeps_everything(vector_store: Store) -> None:
    store = vector_store
    for scope in EVERYONE:
        await store.write(scope, furnish)
    await erase(store)
    for scope in NEIGHBOURS:
        await store.read(scope, own_view)
    assert set(await store.system(lambda system: system.scopes(None, 9))) == set(NEIGHBOURS)
    assert set(await store.system(lambda system: system.waiting(at(9), 9))) == set(NEIGHBOURS)


async def test_erasing_what_does_not_exist_is_nothing(store: Store) -> None:
    assert await erase(store) == ForgetReceipt()
    assert list(await store.system(lambda system: system.scopes(None, 9))) == []


async def test_an_erasure_that_fails_has_not_happened(vector_store: Store) -> None:
    await vector_store.write(ANA, furnish)

    def work(tx: Tx) -> None:
        tx.erase()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await vector_store.write(ANA, work)
    await vector_store.read(ANA, own_view)


async def test_a_scope_can_be_filled_again(vector_store: Store) -> None:
    await vector_store.write(ANA, furnish)
    await erase(vector_store)
    await vector_store.write(ANA, furnish)
    await vector_store.read(ANA, own_view)


async def test_a_scope_can_be_erased_and_filled_in_one_transaction(vector_store: Store) -> None:
    await vector_store.write(ANA, furnish)

    def work(tx: Tx) -> None:
        tx.erase()
        furnish(tx)
        assert found_ids(tx.index.lexical(["tea"], ANY, T0, 9)) == ["same", "msg"]

    await vector_store.write(ANA, work)
    await vector_store.read(ANA, own_view)
    assert list(await vector_store.system(lambda system: system.scopes(None, 9))) == [ANA]
    assert list(await vector_store.system(lambda system: system.waiting(at(9), 9))) == [ANA]


async def test_a_copy_from_before_an_erasure_can_tell_that_it_is_stale(store: Store) -> None:
    """However many changes follow, a copy's revision must never look current again: it holds erased text."""
    for number in range(3):
        await shelve(store, ANA, entry(f"old{number}"))
    copied = (await store.read(ANA, lambda tx: tx.index.changes(0, None, 99))).revision
    await erase(store)
    for number in range(6):
        found = await store.read(ANA, lambda tx: tx.index.changes(copied, None, 99))
        assert copied < found.purged or copied > found.revision, f"after {number} changes"
        await shelve(store, ANA, entry(f"new{number}"))


async def test_an_erased_id_is_free_again(store: Store) -> None:
    await store.write(ANA, lambda tx: tx.memories.insert(memory(content="old"), digest("old")))
    await erase(store)
    await store.write(ANA, lambda tx: tx.memories.insert(memory(content="new"), digest("new")))
    assert await store.read(ANA, lambda tx: tx.memories.get(["m1"])["m1"].content) == "new"
