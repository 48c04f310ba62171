"""After a delete and a scrub the word is in no column of any table and in no file of the database, indexes included; and what
could not be scrubbed, or takes longer than anybody waits, is owed until somebody has."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest

from recollect.model import Conversation, Entry, Memory, Message, Scope, Target, WorkingMemory
from recollect.ports import Tx
from recollect.stores.postgres import PostgresStore
from recollect.stores.postgres.scrubbing import LOCK
from recollect.testing.canary import columns_containing, files_containing
from tests.services.postgres import Database

NOW = datetime(2025, 6, 1, tzinfo=UTC)
ANA = Scope("acme", "ana")
CANARY = "zanzibarisch"
MANY = 30
PATIENCE_SECONDS = 60.0


def remember(which: int = 7) -> Callable[[Tx], None]:
    def work(tx: Tx) -> None:
        for number in range(MANY):
            word = CANARY if number == which else "ordinary"
            target = Target("memory", f"m{number}")
            tx.memories.insert(
                Memory(id=target.id, content=f"a {word} text {number}", created_at=NOW, updated_at=NOW),
                f"d{number}",
            )
            tx.index.put([Entry(target=target, terms=(word, f"w{number}"), chars=9, created_at=NOW)])

    return work


def forget(which: int = 7, at: datetime = NOW) -> Callable[[Tx], None]:
    def work(tx: Tx) -> None:
        tx.memories.delete([f"m{which}"])
        tx.index.drop([Target("memory", f"m{which}")])
        tx.owe_scrub(at)

    return work


def files_of(database: Database) -> Path:
    """The database's folder on disk, with everything in memory written to it."""
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        row = connection.execute(
            "SELECT current_setting('data_directory'), oid FROM pg_database WHERE datname = current_database()"
        ).fetchone()
    assert row is not None
    return Path(row[0]) / "base" / str(row[1])


@asynccontextmanager
async def large(database: Database) -> AsyncIterator[PostgresStore]:
    """A store to which any table is larger than anybody waits for."""
    opened = await PostgresStore.open(database.app_url, pool_size=4, scrubbed_at_once=0)
    try:
        yield opened
    finally:
        await opened.close()


async def owed(store: PostgresStore) -> datetime | None:
    return await store.system(lambda system: system.scrub_owed())


@pytest.mark.parametrize("which", [7, MANY - 1], ids=["among others", "the latest"])
async def test_a_forgotten_word_is_nowhere(which: int, store: PostgresStore, database: Database) -> None:
    """The latest row lies at the edge of its page's free space, which no VACUUM overwrites."""
    await store.write(ANA, remember(which))
    assert columns_containing(database.superuser_url, CANARY)
    assert files_containing(files_of(database), CANARY)
    await store.write(ANA, forget(which))
    assert columns_containing(database.superuser_url, CANARY) == []
    assert await store.scrub()
    assert files_containing(files_of(database), CANARY) == []
    assert await owed(store) is None
    assert await store.read(ANA, lambda tx: tx.index.frequencies([CANARY, "ordinary"])) == {CANARY: 0, "ordinary": 29}


async def test_a_session_that_ended_before_its_conversation_was_forgotten_is_nowhere(
    store: PostgresStore, database: Database
) -> None:
    def talk(tx: Tx) -> None:
        for name, word in (("c1", "ordinary"), ("c2", CANARY)):
            tx.conversations.open(Conversation(id=name, title=word, created_at=NOW, updated_at=NOW))
            said = Message(id=f"{name}m", session_id=name, order=0, role="user", content=word * 500, created_at=NOW)
            tx.conversations.append([said])
            tx.space.save_working(WorkingMemory(session_id=name, current_topic=word, created_at=NOW, updated_at=NOW))

    def drop(tx: Tx) -> None:
        tx.conversations.delete(["c2"])
        tx.owe_scrub(NOW)

    await store.write(ANA, talk)
    await store.write(ANA, lambda tx: tx.space.drop_working(["c2"]))
    await store.write(ANA, drop)
    assert await store.scrub()
    assert files_containing(files_of(database), CANARY) == []
    assert files_containing(files_of(database), "ordinary"), "the probe still sees what was kept"


async def test_who_was_erased_is_nowhere_by_name(store: PostgresStore, database: Database) -> None:
    """Many a user goes by an address."""

    def erase(tx: Tx) -> None:
        tx.erase()
        tx.owe_scrub(NOW)

    await store.write(ANA, remember())
    await store.write(Scope("acme", f"{CANARY}@example.org"), remember(MANY))
    await store.write(Scope("acme", f"{CANARY}@example.org"), erase)
    assert await store.scrub()
    assert files_containing(files_of(database), CANARY + "@") == []
    assert await store.read(ANA, lambda tx: tx.index.frequencies(["ordinary"])) == {"ordinary": MANY - 1}


async def test_scrubbing_waits_for_no_one_forever(store: PostgresStore, database: Database) -> None:
    """A transaction that began before the delete may still see the row: then scrubbing says that it could not."""
    await store.write(ANA, remember())
    with psycopg.connect(database.app_url) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        connection.execute("SELECT 1")
        await store.write(ANA, forget())
        assert await store.scrub() is False
        assert await owed(store) == NOW
    assert await store.scrub() is True
    assert await owed(store) is None


async def test_another_vacuum_is_in_nobodys_way(store: PostgresStore, database: Database) -> None:
    await store.write(ANA, remember())
    with psycopg.connect(database.superuser_url, autocommit=True) as vacuuming:
        vacuuming.execute("CREATE TABLE elsewhere AS SELECT repeat('x', 2000) FROM generate_series(1, 2000)")
        vacuuming.execute("SET vacuum_cost_delay = 100")
        vacuuming.execute("SET vacuum_cost_limit = 1")
        slow = asyncio.create_task(asyncio.to_thread(vacuuming.execute, "VACUUM elsewhere"))
        try:
            with psycopg.connect(database.superuser_url, autocommit=True) as watching:
                while not watching.execute("SELECT FROM pg_stat_progress_vacuum").fetchall():
                    assert not slow.done()
                    await asyncio.sleep(0.01)
            await store.write(ANA, forget())
            assert await store.scrub()
            assert not slow.done(), "it was under way all the time"
        finally:
            vacuuming.cancel_safe()
            with pytest.raises(psycopg.errors.QueryCanceled):
                await slow


async def test_what_an_index_build_is_in_the_way_of_is_owed(store: PostgresStore, database: Database) -> None:
    await store.write(ANA, remember())
    await store.write(ANA, forget())
    with psycopg.connect(database.owner_url) as building:
        building.execute("LOCK TABLE entries IN SHARE UPDATE EXCLUSIVE MODE")  # as CREATE INDEX CONCURRENTLY does
        assert await store.scrub() is False
        assert await owed(store) == NOW
    assert await store.scrub()
    assert files_containing(files_of(database), CANARY) == []


async def test_a_large_table_is_owed_and_settled_by_another_process(database: Database) -> None:
    async with large(database) as forgetful:
        await forgetful.write(ANA, remember())
        await forgetful.write(ANA, forget())
        await forgetful.write(ANA, forget(8, NOW + timedelta(minutes=1)))
        assert await forgetful.scrub() is False, "nobody waits for it"
    async with large(database) as worker:
        assert await owed(worker) == NOW, "since the first of them, whoever has died meanwhile"
        assert await worker.scrub(however_long=True)
        assert await owed(worker) is None
        assert files_containing(files_of(database), CANARY) == []
        found = await worker.read(ANA, lambda tx: tx.index.frequencies([CANARY, "ordinary"]))
        assert found == {CANARY: 0, "ordinary": 28}, "the index that was rebuilt is the one that is used"


async def test_what_was_broken_off_before_is_taken_away(database: Database) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute("CREATE INDEX entries_tsv_ccnew ON entries USING gin (tsv)")
    with psycopg.connect(database.superuser_url, autocommit=True) as superuser:
        superuser.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'entries_tsv_ccnew'::regclass")
    async with large(database) as store:
        await store.write(ANA, remember())
        await store.write(ANA, forget())
        assert await store.scrub(however_long=True)
    with psycopg.connect(database.owner_url) as owner:
        found = owner.execute("SELECT to_regclass('entries_tsv_ccnew'), to_regclass('entries_tsv')").fetchone()
    assert found == (None, "entries_tsv")


async def test_only_tables_that_lost_something_are_rewritten(store: PostgresStore, database: Database) -> None:
    def places() -> dict[str, str]:
        statement = "SELECT t, pg_relation_filepath(t::regclass) FROM unnest(%s::text[]) AS t"
        with psycopg.connect(database.owner_url) as connection:
            return dict(connection.execute(statement, [["memories", "entries", "messages", "conversations"]]))

    await store.write(ANA, remember())
    before = places()
    assert await store.scrub(), "nothing is owed"
    assert places() == before
    await store.write(ANA, forget())
    assert await store.scrub()
    assert {name for name, place in places().items() if place != before[name]} == {"memories", "entries"}


async def test_whoever_comes_while_another_process_is_at_it_shares_what_it_does(database: Database) -> None:
    store = await PostgresStore.open(database.app_url, pool_size=4)
    await store.write(ANA, remember())
    await store.write(ANA, forget())
    with psycopg.connect(database.app_url, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        waiting = asyncio.create_task(store.scrub())
        await until_seen(database, "query LIKE '%pg_try_advisory_lock%'")
        other.execute("DELETE FROM scrubs")  # it was done for all who came before
        other.execute("SELECT pg_advisory_unlock(%s)", [LOCK])
        assert await waiting
    assert files_containing(files_of(database), CANARY), "it was not done twice"
    await store.close()


async def test_closing_breaks_off_what_takes_long(database: Database) -> None:
    """As when a worker is stopped in the middle of a table of hundreds of gigabytes."""
    async with large(database) as store:
        await store.write(ANA, remember())
        await store.write(ANA, forget())
        with psycopg.connect(database.app_url) as reader:
            # A rebuild beside the work waits for whoever has written to the table and goes on.
            reader.execute("LOCK TABLE entries IN ROW EXCLUSIVE MODE")
            scrub = asyncio.create_task(store.scrub(however_long=True))
            await until_seen(database, "query LIKE 'REINDEX%' AND wait_event_type = 'Lock'")
            await store.close()
            assert await scrub is False
    async with large(database) as again:
        assert await owed(again) == NOW
        assert await again.scrub(however_long=True)
        assert files_containing(files_of(database), CANARY) == []


async def until_seen(database: Database, condition: LiteralString) -> None:
    """Until a session of this database does what is said of it."""
    others = "datname = current_database() AND pid <> pg_backend_pid()"
    statement: LiteralString = f"SELECT count(*) FROM pg_stat_activity WHERE {others} AND {condition}"
    deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        while connection.execute(statement).fetchone() == (0,):
            assert asyncio.get_running_loop().time() < deadline, f"nobody was seen with {condition}"
            await asyncio.sleep(0.01)
