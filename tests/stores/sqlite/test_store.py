"""What only the SQLite store promises: one private file, any thread, any loop, no surprises after its end."""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from recollect.errors import InvalidInput, RecollectError, Unavailable
from recollect.model import Listing
from recollect.ports import Store, Tx
from recollect.stores.sqlite import SqliteStore
from tests.contract.samples import ANA, digest, entry, memory


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = await SqliteStore.open(tmp_path / "data" / "memory.db")
    yield store
    await store.close()


def save(id: str) -> Callable[[Tx], None]:
    def work(tx: Tx) -> None:
        tx.memories.insert(memory(id), digest(id))
        tx.index.put([entry(id, "green tea")])

    return work


def exists(id: str, tx: Tx) -> bool:
    return id in tx.memories.get([id])


async def stored(store: Store) -> int:
    page = await store.read(ANA, lambda tx: tx.memories.list(Listing(limit=1)))
    return page.total


async def test_only_the_owner_can_read_the_files(store: SqliteStore, tmp_path: Path) -> None:
    await store.write(ANA, save("m1"))
    assert await stored(store) == 1
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "data").iterdir()}
    assert modes == {"memory.db": 0o600, "memory.db-wal": 0o600, "memory.db-shm": 0o600}
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700


async def test_everything_is_there_after_opening_again(tmp_path: Path) -> None:
    for n in range(3):
        store = await SqliteStore.open(tmp_path / "memory.db", migrate=n == 0)
        assert await stored(store) == n
        await store.write(ANA, save(f"m{n}"))
        await store.close()


async def test_fifty_threads_with_event_loops_of_their_own(store: SqliteStore) -> None:
    def live(number: int) -> int:
        async def days() -> int:
            for day in range(4):
                id = f"m{number}-{day}"
                await store.write(ANA, save(id))
                assert await store.read(ANA, partial(exists, id))
            return await stored(store)

        return asyncio.run(days())

    with ThreadPoolExecutor(50) as threads:
        seen = await asyncio.gather(*(asyncio.to_thread(threads.submit(live, n).result) for n in range(50)))
    assert max(seen) == await stored(store) == 200
    changes = await store.read(ANA, lambda tx: tx.index.changes(0, None, 1000))
    assert changes.size == len(changes.items) == 200
    assert all(finding.ok for finding in await store.checkup())


async def test_a_caller_that_stops_waiting_changes_nothing(store: SqliteStore) -> None:
    begun, go = threading.Event(), threading.Event()

    def slowly(tx: Tx) -> None:
        begun.set()
        go.wait(60)
        save("m1")(tx)

    task = asyncio.create_task(store.write(ANA, slowly))
    await asyncio.to_thread(begun.wait, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go.set()
    await store.write(ANA, save("m2"))
    assert await stored(store) == 2


@pytest.mark.parametrize("where", [":memory:", "file"])
async def test_after_its_end_a_store_says_so(where: str, tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "memory.db" if where == "file" else where)
    await store.close()
    await store.close()
    for use in (
        store.read(ANA, lambda tx: None),
        store.write(ANA, lambda tx: None),
        store.system(lambda system: None),
        store.scrub(),
    ):
        with pytest.raises(Unavailable, match="closed"):
            await use


async def test_closing_finishes_what_was_asked_for(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "memory.db")
    writes = [asyncio.ensure_future(store.write(ANA, save(f"m{n}"))) for n in range(100)]
    await asyncio.sleep(0)
    await store.close()
    await asyncio.gather(*writes)
    again = await SqliteStore.open(tmp_path / "memory.db")
    assert await stored(again) == 100
    await again.close()


async def test_a_forked_child_is_told_to_open_its_own(store: SqliteStore) -> None:
    child = os.fork()
    if child == 0:  # nothing of the test framework may run in here
        refused = 1
        try:
            store._same_process()
        except Unavailable:
            refused = 0
        os._exit(refused)
    _, status = await asyncio.to_thread(os.waitpid, child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    await store.write(ANA, save("m1"))


@pytest.mark.parametrize("where", [":memory:", "file"])
async def test_reading_can_not_write(where: str, tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "memory.db" if where == "file" else where)
    with pytest.raises(RecollectError):
        await store.read(ANA, save("m1"))
    assert await stored(store) == 0
    await store.write(ANA, save("m1"))
    assert await stored(store) == 1
    await store.close()


async def test_a_file_that_is_no_database_is_named_as_such(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, " * 100)
    with pytest.raises(InvalidInput, match="not a SQLite database"):
        await SqliteStore.open(tmp_path / "notes.txt")


async def test_a_folder_that_can_not_be_made_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable):
        await SqliteStore.open(tmp_path / "file" / "memory.db")


async def test_a_snapshot_does_not_move_while_it_is_read(store: SqliteStore) -> None:
    await store.write(ANA, save("m1"))
    looked, go = threading.Event(), threading.Event()

    def look_twice(tx: Tx) -> tuple[int, int]:
        first = tx.memories.list(Listing()).total
        looked.set()
        go.wait(60)
        return first, tx.memories.list(Listing()).total

    reading = asyncio.create_task(store.read(ANA, look_twice))
    await asyncio.to_thread(looked.wait, 60)
    await store.write(ANA, save("m2"))
    go.set()
    assert await reading == (1, 1)
    assert await stored(store) == 2
