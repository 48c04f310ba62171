"""Scopes never leak: the same ids, keys, digests and words in every neighbouring scope, and each sees its own only."""

from __future__ import annotations

import asyncio
import random

import pytest

from recollect.model import (
    AuditEvent,
    Listing,
    Memory,
    Scope,
    SpaceSettings,
    Status,
    Target,
    Theme,
    Tombstone,
    WorkingMemory,
)
from recollect.ports import Store, Tx
from tests.contract.samples import (
    ANA,
    ANY,
    LEASE,
    NEIGHBOURS,
    T0,
    at,
    conversation,
    dense,
    digest,
    embed,
    entry,
    found_ids,
    lexical,
    memory,
    message,
    of,
    shelve,
    unit,
)
from tests.contract.snapshots import everything

EVERYONE = (ANA, *NEIGHBOURS)
EAST = unit(1, 0, 0)
SHARED = Target("memory", "same")
UNFINISHED = Target("memory", "unfinished")


def furnish(tx: Tx) -> None:
    """Put one of everything into a scope, under ids every other scope uses too; only the owner's name differs."""
    owner = " ".join((tx.scope.tenant, tx.scope.user, tx.scope.space))
    tx.memories.insert(
        memory("same", owner, theme="food", key="key", tags=("x",), source_ids=("s",), source_message_id="msg"),
        digest("same"),
    )
    tx.memories.insert(memory("unfinished", owner, status=Status.ARCHIVED, simhash=2**63), digest("u"))
    tx.conversations.open(conversation("talk", title=owner))
    tx.conversations.append([message("msg", "talk", content=owner)])
    tx.index.put([entry("same", "tea", theme="food"), entry("msg", "tea", kind="message", session_id="talk")])
    embed(tx, {SHARED: EAST, Target("message", "msg"): EAST})
    tx.embeddings.queue({UNFINISHED: "hash"}, "g1", T0)
    tx.space.save_settings(SpaceSettings(shared_tags=(owner,)))
    tx.space.save_theme(Theme(slug="food", display_name=owner, created_at=T0, updated_at=T0))
    tx.space.bury([Tombstone(digest=digest(owner), created_at=T0, expires_at=at(9))])
    tx.space.record(AuditEvent(id="event", at=T0, action="test", target_id=owner))
    tx.space.save_working(WorkingMemory(session_id="talk", current_topic=owner, created_at=T0, updated_at=T0))


def own_view(tx: Tx) -> None:
    """Every way of asking answers with the owner's things, each once."""
    owner = " ".join((tx.scope.tenant, tx.scope.user, tx.scope.space))
    ways: dict[str, list[Memory | None]] = {
        "get": list(tx.memories.get(["same"]).values()),
        "list": list(tx.memories.list(Listing())),
        "list by tag": list(tx.memories.list(Listing(tags=("x",), themes=("food",)))),
        "scan": [each for each in tx.memories.scan(None, 99) if each.id == "same"],
        "twin": [tx.memories.twin(digest("same"))],
        "near": list(tx.memories.near(0, 3, 99)),
        "keyed": list(tx.memories.keyed("key")),
        "descendants": list(tx.memories.descendants(["s"])),
        "from messages": list(tx.memories.from_messages(["msg"])),
    }
    for way, found in ways.items():
        assert [each and each.content for each in found] == [owner], way
    assert tx.memories.list(Listing(statuses=tuple(Status))).total == 2
    assert [each.title for each in tx.conversations.list(99, 0)] == [owner]
    assert [each.title for each in tx.conversations.scan(None, 99)] == [owner]
    assert [each.content for each in tx.conversations.history("talk", 99)] == [owner]
    assert [each.content for each in tx.conversations.messages(["msg"]).values()] == [owner]
    assert found_ids(tx.index.lexical(["tea"], ANY, T0, 99)) == ["same", "msg"]
    assert found_ids(tx.index.lexical(["te*"], ANY, T0, 99)) == ["same", "msg"]
    assert found_ids(tx.index.dense(EAST, "g1", ANY, T0, 99)) == ["same", "msg"]
    assert tx.index.frequencies(["tea"])["tea"] == 2
    assert tx.index.changes(0, "g1", 99).size == len(tx.index.changes(0, "g1", 99).items) == 2
    assert tx.embeddings.backlog("g1").pending == 1
    assert tx.space.settings().shared_tags == (owner,)
    assert [(each.display_name, each.count) for each in tx.space.themes()] == [(owner, 1)]
    assert [each.target_id for each in tx.space.audit(99, 0)] == [owner]
    assert [each.current_topic for each in tx.space.idle_working(at(9), 99)] == [owner]
    for scope in EVERYONE:
        stone = tx.space.buried(digest(" ".join((scope.tenant, scope.user, scope.space))), T0)
        assert (stone is not None) == (scope == tx.scope)


@pytest.fixture
async def furnished(vector_store: Store) -> Store:
    for scope in EVERYONE:
        await vector_store.write(scope, furnish)
    return vector_store


async def test_everyone_sees_their_own_and_nothing_else(furnished: Store) -> None:
    for scope in EVERYONE:
        await furnished.read(scope, own_view)


async def test_a_stranger_sees_nothing(furnished: Store) -> None:
    empty = await furnished.read(Scope("acme", "nobody"), everything)
    for stranger in (Scope("acm", "eana"), Scope("acme", "ana", "Default"), Scope("acme", "an"), Scope("ACME", "ana")):
        assert await furnished.read(stranger, everything) == empty
        assert list(await lexical(furnished, stranger, "tea", "te*")) == []
        assert list(await dense(furnished, stranger, EAST)) == []
        assert await furnished.write(stranger, lambda tx: tx.embeddings.claim("g1", at(9), LEASE, 9)) == []


async def test_changing_ones_own_changes_no_one_elses(furnished: Store) -> None:
    before = {scope: await furnished.read(scope, everything) for scope in NEIGHBOURS}

    def work(tx: Tx) -> None:
        tx.memories.touch(["same"], at(3))
        tx.memories.replace(memory("same", "changed"), digest("changed"))
        tx.memories.delete(["unfinished"])
        tx.index.put([entry("same", "coffee")])
        tx.index.drop(of("message", "msg"))
        tx.embeddings.drop([SHARED, UNFINISHED, Target("message", "msg")])
        tx.conversations.delete_messages(["msg"])
        tx.conversations.delete(["talk"])
        tx.space.save_settings(SpaceSettings())
        tx.space.exhume(at(99))
        tx.space.drop_working(["talk"])

    await furnished.write(ANA, work)
    for scope in NEIGHBOURS:
        assert await furnished.read(scope, everything) == before[scope]
        await furnished.read(scope, own_view)


async def test_claims_and_settlements_stay_at_home(furnished: Store) -> None:
    late = at(9)
    for scope in EVERYONE:
        await furnished.write(scope, lambda tx: tx.memories.delete(["absent"]))
        jobs = await furnished.write(scope, lambda tx: tx.embeddings.claim("g1", late, LEASE, 99))
        assert [(job.space, job.content) for job in jobs] == [
            (scope.space, " ".join((scope.tenant, scope.user, scope.space)))
        ]
    foreign = jobs  # taken in the last scope, offered in the first
    status = await furnished.read(ANA, lambda tx: tx.embeddings.status([UNFINISHED], "g1"))
    await furnished.write(EVERYONE[-1], lambda tx: tx.embeddings.settle([(job, EAST) for job in foreign], late))
    assert await furnished.read(ANA, lambda tx: tx.embeddings.status([UNFINISHED], "g1")) == status


async def test_names_that_run_together_are_still_apart(store: Store) -> None:
    """Separators inside names must not make two scopes one."""
    scopes = [
        Scope("a", "b c"),
        Scope("a b", "c"),
        Scope("a/b", "c"),
        Scope("a", "b/c"),
        Scope("a_b", "c", "d"),
        Scope("a", "b_c", "d"),
    ]
    for number, scope in enumerate(scopes):
        await shelve(store, scope, entry(f"m{number}", "tea"))
    for number, scope in enumerate(scopes):
        assert found_ids(await lexical(store, scope, "tea")) == [f"m{number}"]


async def test_hostile_names_are_names(store: Store) -> None:
    names = ["'; DROP TABLE spaces; --", "%", "_", '"', "\\", "茶🍵", "x" * 255]
    for name in names:
        await shelve(store, Scope(name, name, name), entry("a", "tea"))
        await store.write(Scope(name, name, name), lambda tx: tx.memories.touch(["a"], T0))
    for name in names:
        assert found_ids(await lexical(store, Scope(name, name, name), "tea")) == ["a"]
    assert len(await store.system(lambda system: system.scopes(None, 99))) == len(names)


async def test_many_users_with_overlapping_words(store: Store) -> None:
    chance = random.Random(3)
    words = [f"w{n}" for n in range(12)]
    users = [Scope("t", f"user{n}") for n in range(25)]
    shelves = {
        scope: {f"m{n}": " ".join(chance.sample(words, 4)) for n in range(chance.randint(1, 6))} for scope in users
    }
    await asyncio.gather(
        *(shelve(store, scope, *(entry(id, text) for id, text in shelf.items())) for scope, shelf in shelves.items())
    )
    for scope, shelf in shelves.items():
        word = chance.choice(words)
        expected = {id for id, text in shelf.items() if word in text.split()}
        assert set(found_ids(await lexical(store, scope, word))) == expected
        counted = await store.read(scope, lambda tx, word=word: tx.index.frequencies([word]).get(word, 0))  # type: ignore[misc]
        assert counted == len(expected)
