"""After a delete and a scrub the word is in no column of any table and in no file of the database, indexes included."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import psycopg

from recollect.model import Entry, Memory, Scope, Target
from recollect.ports import Tx
from recollect.stores.postgres import PostgresStore
from recollect.testing.canary import columns_containing, files_containing
from tests.services.postgres import Database

NOW = datetime(2025, 6, 1, tzinfo=UTC)
ANA = Scope("acme", "ana")
CANARY = "zanzibarisch"


def remember(tx: Tx) -> None:
    for number in range(30):
        word = CANARY if number == 7 else "ordinary"
        target = Target("memory", f"m{number}")
        tx.memories.insert(
            Memory(id=target.id, content=f"a {word} text {number}", created_at=NOW, updated_at=NOW),
            f"d{number}",
        )
        tx.index.put([Entry(target=target, terms=(word, f"w{number}"), chars=9, created_at=NOW)])


def forget(tx: Tx) -> None:
    tx.memories.delete(["m7"])
    tx.index.drop([Target("memory", "m7")])


def files_of(database: Database) -> Path:
    """The database's folder on disk, with everything in memory written to it."""
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        row = connection.execute(
            "SELECT current_setting('data_directory'), oid FROM pg_database WHERE datname = current_database()"
        ).fetchone()
    assert row is not None
    return Path(row[0]) / "base" / str(row[1])


async def test_a_forgotten_word_is_nowhere(store: PostgresStore, database: Database) -> None:
    await store.write(ANA, remember)
    assert columns_containing(database.superuser_url, CANARY)
    assert files_containing(files_of(database), CANARY)
    await store.write(ANA, forget)
    assert columns_containing(database.superuser_url, CANARY) == []
    assert await store.scrub()
    assert files_containing(files_of(database), CANARY) == []
    assert await store.read(ANA, lambda tx: tx.index.frequencies([CANARY, "ordinary"])) == {
        CANARY: 0,
        "ordinary": 29,
    }


async def test_scrubbing_waits_for_no_one_forever(store: PostgresStore, database: Database) -> None:
    """A transaction that began before the delete may still see the row: then scrubbing says that it could not."""
    await store.write(ANA, remember)
    with psycopg.connect(database.app_url) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        connection.execute("SELECT 1")
        await store.write(ANA, forget)
        assert await store.scrub() is False
    assert await store.scrub() is True
