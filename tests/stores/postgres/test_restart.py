"""A server that dies and comes back: nothing acknowledged is lost, nothing uncertain is acknowledged, nobody restarts us."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime

import psycopg
import pytest

from recollect.errors import Unavailable
from recollect.model import Memory, Scope, Tombstone
from recollect.stores.postgres import PostgresStore
from tests.services.postgres import Database, PostgresServer
from tests.stores.postgres.conftest import migrated

NOW = datetime(2025, 6, 1, tzinfo=UTC)
ANA = Scope("acme", "ana")
PATIENCE_SECONDS = 60

# Runs within the COMMIT, so that a server can be caught in the middle of one.
SLOW_COMMIT = """
CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NULL; END';
CREATE CONSTRAINT TRIGGER dawdle AFTER INSERT ON tombstones DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION dawdle();
"""


async def remember(store: PostgresStore, id: str) -> None:
    memory = Memory(id=id, content="x", created_at=NOW, updated_at=NOW)
    await store.write(ANA, lambda tx: tx.memories.insert(memory, id))


async def remembered(store: PostgresStore) -> list[str]:
    return [each.id for each in await store.read(ANA, lambda tx: tx.memories.scan(None, 100))]


@pytest.mark.slow
async def test_the_pool_heals_and_an_unknown_commit_is_never_called_done(
    private_postgres: PostgresServer,
) -> None:
    database = migrated(private_postgres)
    with psycopg.connect(database.owner_url) as connection:
        connection.execute(SLOW_COMMIT)
    store = await PostgresStore.open(database.app_url, pool_size=4, wait_timeout=5.0, connect_timeout=5)
    await asyncio.gather(*(remember(store, f"before{number}") for number in range(4)))

    # A restart between two calls: every pooled connection is dead, and nobody notices.
    private_postgres.kill()
    await asyncio.to_thread(private_postgres.start)
    await remember(store, "after a restart")

    # The server stays away: a typed error within the time limit, not a hang.
    private_postgres.kill()
    async with asyncio.timeout(PATIENCE_SECONDS):
        with pytest.raises(Unavailable):
            await remember(store, "while away")
    await asyncio.to_thread(private_postgres.start)
    await _eventually(store, "healed")

    # Killed in the middle of a COMMIT: nobody can know, and so it is said.
    grave = Tombstone(digest="d", created_at=NOW, expires_at=NOW)
    caller = asyncio.ensure_future(store.write(ANA, lambda tx: tx.space.bury([grave])))
    await asyncio.to_thread(_until_it_dawdles, database)
    private_postgres.kill()
    with pytest.raises(Unavailable) as caught:
        await caller
    assert caught.value.details == {"outcome": "unknown"}
    await asyncio.to_thread(private_postgres.start)
    await _eventually(store, "at last")

    kept = ["after a restart", "at last", *(f"before{number}" for number in range(4)), "healed"]
    assert await remembered(store) == kept
    await store.close()


def _until_it_dawdles(database: Database) -> None:
    """Until the commit is under way, on the server."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        while not connection.execute("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'").fetchall():
            assert time.monotonic() < deadline, "nothing was committed"
            time.sleep(0.02)


async def _eventually(store: PostgresStore, id: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return await remember(store, id)
        except Unavailable:
            assert time.monotonic() < deadline, "the pool did not heal"
            await asyncio.sleep(0.1)
