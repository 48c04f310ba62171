"""What is forgotten leaves the files of every part, too."""

from __future__ import annotations

import psycopg
import pytest

from recollect.model import Scope, Target
from recollect.ports import Tx
from recollect.stores.postgres import PostgresStore, partitions
from recollect.stores.postgres.files import maintains
from recollect.testing.canary import columns_containing, files_containing
from tests.contract.samples import generation
from tests.contract.stores import divide
from tests.services.postgres import Database, PostgresServer
from tests.stores.postgres.conftest import migrated
from tests.stores.postgres.test_forgetting import ANA, CANARY, MANY, NOW, files_of, forget, large, owed, remember

OTHERS = [Scope("acme", f"user{number}") for number in range(6)]


@pytest.mark.parametrize("which", [7, MANY - 1], ids=["among others", "the latest"])
async def test_a_forgotten_word_is_nowhere(which: int, store: PostgresStore, database: Database) -> None:
    for scope in (ANA, *OTHERS):
        await store.write(scope, remember(which))
    assert files_containing(files_of(database), CANARY)
    for scope in (ANA, *OTHERS):
        await store.write(scope, forget(which))
    assert columns_containing(database.superuser_url, CANARY) == []
    assert await store.scrub()
    assert files_containing(files_of(database), CANARY) == []
    assert await owed(store) is None
    for scope in (ANA, *OTHERS):
        found = await store.read(scope, lambda tx: tx.index.frequencies([CANARY, "ordinary"]))
        assert found == {CANARY: 0, "ordinary": 29}


async def test_who_was_erased_is_nowhere_by_name(store: PostgresStore, database: Database) -> None:
    def erase(tx: Tx) -> None:
        tx.erase()
        tx.owe_scrub(NOW)

    await store.write(ANA, remember())
    await store.write(Scope("acme", f"{CANARY}@example.org"), remember(MANY))
    await store.write(Scope("acme", f"{CANARY}@example.org"), erase)
    assert await store.scrub()
    assert files_containing(files_of(database), CANARY + "@") == []


async def test_empty_graphs_of_many_parts_keep_no_vector_in_the_files(postgres: PostgresServer) -> None:
    database = migrated(postgres)
    divide(database, 16)
    store = await PostgresStore.open(database.app_url, pool_size=2)
    await store.system(lambda system: system.add_generation(generation()))
    await store.write(ANA, remember())
    await store.write(ANA, lambda tx: tx.embeddings.queue({Target("memory", "m7"): "h"}, "g1", NOW))

    def places() -> set[str]:
        with psycopg.connect(database.owner_url) as connection:
            parts = partitions.parts_of(connection, "embeddings")
            found = connection.execute("SELECT pg_relation_filepath(t::regclass) FROM unnest(%s::text[]) AS t", [parts])
            return {place for (place,) in found}

    before = places()
    await store.write(ANA, forget())
    assert await store.scrub()
    await store.close()
    assert len(before) == 16
    assert not before & places(), "written anew"
    postgres.discard(database)


async def test_large_tables_are_known_to_be_large_and_cleaned_beside_the_work(database: Database) -> None:
    async with large(database) as store:
        await store.write(ANA, remember())
        await store.write(ANA, forget())
        assert await store.scrub() is False, "nobody waits for it"
        with psycopg.connect(database.owner_url, autocommit=True) as owner:
            owner.execute("CREATE INDEX entries_p001_words_ccnew ON entries_p001 USING gin (tsv)")
        with psycopg.connect(database.superuser_url, autocommit=True) as superuser:
            broken_off = (
                "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'entries_p001_words_ccnew'::regclass"
            )
            superuser.execute(broken_off)
        assert await store.scrub(however_long=True)
    assert files_containing(files_of(database), CANARY) == []
    with psycopg.connect(database.owner_url) as owner:
        assert owner.execute("SELECT to_regclass('entries_p001_words_ccnew')").fetchone() == (None,)


async def test_a_role_that_may_not_clean_a_part_does_not_say_it_has(database: Database) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute("REVOKE MAINTAIN ON entries_p001 FROM app")
    with psycopg.connect(database.app_url) as connection:
        assert not maintains(connection, partitions.PARTED)
    store = await PostgresStore.open(database.app_url, pool_size=1)
    try:
        await store.write(ANA, remember())
        await store.write(ANA, forget())
        assert await store.scrub() is False
    finally:
        await store.close()
