"""Transactions on the pool: many loops and threads at once, callers that give up, lost races, and time limits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from recollect.errors import InvalidInput, Unavailable
from recollect.model import Entry, Generation, GenerationState, Memory, Scope, Target
from recollect.ports import System, Tx
from recollect.stores.postgres import PostgresStore
from tests.services.postgres import Database

NOW = datetime(2025, 6, 1, tzinfo=UTC)
ANA = Scope("acme", "ana")


def entry(id: str) -> Entry:
    return Entry(target=Target("memory", id), terms=("word",), chars=4, created_at=NOW)


def memory(id: str) -> Memory:
    return Memory(id=id, content="x", created_at=NOW, updated_at=NOW)


async def test_writers_of_one_scope_keep_revision_and_size_exact(database: Database) -> None:
    """Two stores, each used from two event loops in threads of their own, all writing to one scope."""
    stores = [await PostgresStore.open(database.app_url, pool_size=3) for _ in range(2)]
    await stores[0].write(ANA, lambda tx: tx.index.put([entry("first")]))
    before = await stores[0].read(ANA, lambda tx: tx.index.changes(0, None, 0))

    async def some(store: PostgresStore, name: str) -> None:
        async def one(number: int) -> None:
            await store.write(ANA, lambda tx: tx.index.put([entry(f"{name}-{number}"), entry("shared")]))

        await asyncio.gather(*(one(number) for number in range(6)))

    def loop_of_its_own(store: PostgresStore, name: str) -> None:
        asyncio.run(some(store, name))

    threads = [
        threading.Thread(target=loop_of_its_own, args=(store, f"{i}{j}"))
        for i, store in enumerate(stores)
        for j in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join)
    after = await stores[1].read(ANA, lambda tx: tx.index.changes(before.revision, None, 1000))
    assert after.revision == before.revision + 24
    assert after.size == 1 + 24 + 1
    assert len(after.items) == 25
    for store in stores:
        await store.close()


async def test_a_caller_that_gives_up_does_not_undo_the_work(store: PostgresStore) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(tx: Tx) -> None:
        tx.memories.insert(memory("m"), "d")
        begun.set()
        go_on.wait(60)

    caller = asyncio.ensure_future(store.write(ANA, slow))
    await asyncio.to_thread(begun.wait, 60)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert await store.read(ANA, lambda tx: tx.memories.get(["m"])) == {}
    go_on.set()
    # The next writer of this scope waits for the one before it.
    assert await store.write(ANA, lambda tx: list(tx.memories.get(["m"]))) == ["m"]


async def test_a_lost_race_is_run_again(store: PostgresStore) -> None:
    """Two transactions take the same two rows in opposite order; one loses, and nobody hears of it."""

    def add(system: System) -> None:
        for id in ("a", "b"):
            building = GenerationState.BUILDING
            system.add_generation(
                Generation(id=id, provider="p", model="m", dimensions=2, state=building, created_at=NOW)
            )

    await store.system(add)
    met = threading.Barrier(2)
    runs: list[str] = []

    def crossing(first: str, second: str) -> Callable[[System], None]:
        def work(system: System) -> None:
            runs.append(first)
            system.set_generation(first, GenerationState.RETIRED)
            if runs.count(first) == 1:
                met.wait(60)
            system.set_generation(second, GenerationState.RETIRED)

        return work

    await asyncio.gather(store.system(crossing("a", "b")), store.system(crossing("b", "a")))
    assert len(runs) >= 3  # who lost may lose again, to whoever comes first after that
    states = await store.system(lambda system: {each.state for each in system.generations()})
    assert states == {GenerationState.RETIRED}


async def test_work_that_fails_leaves_nothing_and_the_connection_is_good(store: PostgresStore) -> None:
    def failing(tx: Tx) -> None:
        tx.memories.insert(memory("m"), "d")
        raise KeyError("the work's own mistake")

    for _ in range(6):  # more often than there are connections
        with pytest.raises(KeyError):
            await store.write(ANA, failing)
    assert await store.read(ANA, lambda tx: tx.memories.get(["m"])) == {}


async def test_waiting_has_limits(database: Database) -> None:
    """One holds the lock who may take as long as it likes: only the others are in a hurry."""
    patient = await PostgresStore.open(database.app_url, pool_size=1)
    hasty = await PostgresStore.open(database.app_url, pool_size=1, statement_timeout_ms=500, wait_timeout=1.0)
    held, release = threading.Event(), threading.Event()

    def holding(tx: Tx) -> None:
        held.set()
        release.wait(60)

    first = asyncio.ensure_future(patient.write(ANA, holding))
    assert await asyncio.to_thread(held.wait, 60)
    with pytest.raises(Unavailable, match="statement timeout"):
        await hasty.write(ANA, lambda tx: None)  # waits for the scope's lock
    held.clear()
    second = asyncio.ensure_future(hasty.read(ANA, holding))
    assert await asyncio.to_thread(held.wait, 60)
    third = asyncio.ensure_future(hasty.read(ANA, lambda tx: None))  # no connection is left for this one
    await asyncio.sleep(0)  # from here on it waits
    await asyncio.sleep(1.1)
    release.set()
    with pytest.raises(Unavailable, match="overloaded"):
        await third
    await asyncio.gather(first, second)
    await hasty.read(ANA, lambda tx: tx.memories.get(["m"]))
    await hasty.close()
    await patient.close()


async def test_a_wrong_address_is_said_at_once() -> None:
    with pytest.raises(Unavailable, match="cannot connect"):
        await PostgresStore.open("postgresql://app@127.0.0.1:1/none", connect_timeout=2)


async def test_an_address_that_can_not_be_read_is_refused_without_its_password() -> None:
    url = "postgresql://app:hunt%er2@127.0.0.1:1/none"
    with pytest.raises(InvalidInput, match="write % as %25") as refused:
        await PostgresStore.open(url)
    assert "hunt" not in str(refused.value)


async def test_two_pools_claim_every_job_once(database: Database) -> None:
    scopes = [Scope("acme", f"user{number}") for number in range(3)]
    stores = [await PostgresStore.open(database.app_url, pool_size=3) for _ in range(2)]
    per_scope = 20

    def fill(tx: Tx) -> None:
        for number in range(per_scope):
            tx.memories.insert(memory(f"m{number}"), f"d{number}")
        tx.embeddings.queue({Target("memory", f"m{n}"): "h" for n in range(per_scope)}, "g", NOW)

    for scope in scopes:
        await stores[0].write(scope, fill)
    taken: list[tuple[Scope, Target]] = []

    async def claim(store: PostgresStore, scope: Scope) -> None:
        while jobs := await store.write(scope, lambda tx: tx.embeddings.claim("g", NOW, timedelta(minutes=1), 3)):
            taken.extend((scope, job.target) for job in jobs)

    await asyncio.gather(*(claim(store, scope) for store in stores for scope in scopes for _ in range(2)))
    assert len(taken) == len(set(taken)) == per_scope * len(scopes)
    for store in stores:
        await store.close()
