"""The index as a set of entries with revisions: what an in-memory copy needs to stay current, and no less."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace

import numpy as np

from recollect.model import Changes, Entry, Target
from recollect.ports import Store, Tx
from tests.contract.samples import ANA, NEIGHBOURS, T0, at, embed, entry, of, shelve, unit

FULL = Entry(
    target=Target("message", "e-full"),
    terms=("tea", "绿", "绿茶", "user_id", "tea"),
    chars=42,
    created_at=at(1),
    dated=False,
    expires_at=at(9),
    type="note",
    theme="food",
    tags=("x", "茶", "a b"),
    session_id="c1",
    position=7,
    speaker="Ana",
    role="assistant",
    is_question=True,
    about_from=at(2),
    about_until=at(3),
)


async def changes(store: Store, since: int, generation: str | None = None, most: int = 1000) -> Changes:
    return await store.read(ANA, lambda tx: tx.index.changes(since, generation, most))


async def revision(store: Store) -> int:
    return (await changes(store, 0, most=0)).revision


def changed(found: Changes) -> set[str]:
    return {item.entry.target.id for item in found.items}


def test_the_full_sample_leaves_no_field_at_its_default() -> None:
    for each in fields(Entry):
        default = each.default_factory() if each.default_factory is not MISSING else each.default
        assert getattr(FULL, each.name) != default, each.name


async def test_every_field_of_an_entry_comes_back(store: Store) -> None:
    bare = entry("m1", "", type=None)
    await shelve(store, ANA, FULL, bare)
    targets = [FULL.target, bare.target, Target("memory", "e-full")]
    assert await store.read(ANA, lambda tx: tx.index.entries(targets)) == {FULL.target: FULL, bare.target: bare}
    assert await store.read(ANA, lambda tx: tx.index.entries([])) == {}
    found = await changes(store, 0)
    assert {item.entry.target: item.entry for item in found.items} == {FULL.target: FULL, bare.target: bare}


async def test_put_replaces_an_entry_whole(store: Store) -> None:
    await shelve(store, ANA, FULL)
    plain = entry("e-full", "coffee", kind="message")
    await store.write(ANA, lambda tx: tx.index.put([plain]))
    assert await store.read(ANA, lambda tx: tx.index.entries([FULL.target])) == {FULL.target: plain}
    assert (await changes(store, 0)).size == 1


async def test_a_memory_and_a_message_may_share_an_id(store: Store) -> None:
    both = [entry("same", "tea"), entry("same", "milk", kind="message")]
    await shelve(store, ANA, *both)
    found = await store.read(ANA, lambda tx: tx.index.entries([each.target for each in both]))
    assert list(found.values()) == both or list(found.values()) == both[::-1]
    assert await store.write(ANA, lambda tx: tx.index.drop(of("memory", "same"))) == 1
    assert (await changes(store, 0)).size == 1


async def test_a_revision_belongs_to_a_transaction(store: Store) -> None:
    before = await revision(store)

    def work(tx: Tx) -> None:
        tx.index.put([entry("a"), entry("b")])
        tx.index.put([entry("c")])
        tx.index.drop(of("memory", "b"))

    await store.write(ANA, work)
    first = await revision(store)
    assert first > before
    await store.write(ANA, lambda tx: tx.index.put([entry("a", "milk")]))
    assert await revision(store) == first + 1
    assert changed(await changes(store, first)) == {"a"}
    assert changed(await changes(store, first - 1)) == {"a", "c"}


async def test_changes_after_a_revision(store: Store) -> None:
    await shelve(store, ANA, entry("a"), entry("b"))
    first = await revision(store)
    assert changed(await changes(store, first)) == set()
    await shelve(store, ANA, entry("c"))
    await store.write(ANA, lambda tx: tx.index.put([entry("b", "milk")]))
    found = await changes(store, first)
    assert (changed(found), found.size) == ({"b", "c"}, 3)
    assert changed(await changes(store, 0)) == {"a", "b", "c"}


async def test_writes_that_leave_the_index_alone_leave_its_revision_alone(store: Store) -> None:
    await shelve(store, ANA, entry("a"))
    before = await changes(store, 0)

    def work(tx: Tx) -> None:
        tx.memories.touch(["a"], T0)
        tx.space.save_settings(replace(tx.space.settings(), soft_cap=5))
        tx.embeddings.queue({Target("memory", "a"): "h"}, "g1", T0)

    await store.write(ANA, work)
    after = await changes(store, 0)
    assert (after.revision, after.purged) == (before.revision, before.purged)


async def test_a_removal_is_told_by_purged(store: Store) -> None:
    await shelve(store, ANA, entry("a"), entry("b"), entry("c"))
    before = await changes(store, 0)
    assert before.purged < before.revision
    assert await store.write(ANA, lambda tx: tx.index.drop(of("memory", "a", "absent", "b"))) == 2
    after = await changes(store, before.revision)
    assert after.revision == after.purged == before.revision + 1
    assert (after.size, changed(after)) == (1, set())


async def test_dropping_nothing_changes_nothing(store: Store) -> None:
    await shelve(store, ANA, entry("a"))
    before = await changes(store, 0)
    assert await store.write(ANA, lambda tx: tx.index.drop(of("memory", "absent"))) == 0
    assert await store.write(ANA, lambda tx: tx.index.drop(of("message", "a"))) == 0
    assert await store.write(ANA, lambda tx: tx.index.drop([])) == 0
    await store.write(ANA, lambda tx: tx.index.put([]))
    after = await changes(store, 0)
    assert (after.revision, after.purged, after.size) == (before.revision, before.purged, before.size)


async def test_a_large_scope_tells_counts_only(store: Store) -> None:
    await shelve(store, ANA, *(entry(f"m{n}") for n in range(4)))
    full, short = await changes(store, 0, most=4), await changes(store, 0, most=3)
    assert len(full.items) == 4
    assert (short.revision, short.size, list(short.items)) == (full.revision, 4, [])


async def test_a_scope_that_does_not_exist_is_empty_and_reading_does_not_make_it(store: Store) -> None:
    found = await changes(store, 0)
    assert (found.size, list(found.items)) == (0, [])
    assert list(await store.system(lambda system: system.scopes(None, 10))) == []


async def test_the_size_is_exact_through_puts_and_drops(store: Store) -> None:
    sizes = []
    for put, drop in ((("a", "b"), ()), (("b", "c"), ("a",)), ((), ("b", "b")), (("c",), ("c",)), (("d",), ("x",))):

        def work(tx: Tx, put: tuple[str, ...] = put, drop: tuple[str, ...] = drop) -> None:
            tx.index.put([entry(id) for id in put])
            tx.index.drop(of("memory", *drop))

        await store.write(ANA, work)
        sizes.append((await changes(store, 0)).size)
    assert sizes == [2, 2, 1, 0, 1]


async def test_changes_carry_ready_vectors_of_the_generation_asked_for(vector_store: Store) -> None:
    store = vector_store
    await shelve(store, ANA, entry("a"), entry("b", kind="message"))
    before = await revision(store)
    vector = unit(1, 2, 3)
    assert await store.write(ANA, lambda tx: embed(tx, {Target("message", "b"): vector})) == 1
    found = await changes(store, before, "g1")
    assert changed(found) == {"b"}
    np.testing.assert_allclose(np.asarray(found.items[0].vector, np.float32), vector, atol=1e-3)
    everything = {item.entry.target.id: item.vector for item in (await changes(store, 0, "g1")).items}
    assert everything["a"] is None
    assert everything["b"] is not None
    for other in (None, "g2"):
        assert [item.vector for item in (await changes(store, 0, other)).items] == [None, None]


async def test_revisions_of_scopes_are_their_own(store: Store) -> None:
    await shelve(store, ANA, entry("a"))
    before = await changes(store, 0)
    for scope in NEIGHBOURS:
        await shelve(store, scope, entry("a"), entry("b"))
        await store.write(scope, lambda tx: tx.index.drop(of("memory", "a")))
    after = await changes(store, 0)
    assert (after.revision, after.purged, after.size) == (before.revision, before.purged, 1)
