"""What the settings say about Postgres reaches the store."""

from __future__ import annotations

from recollect.bootstrap import open_store
from recollect.settings import Settings
from recollect.stores.postgres import PostgresStore
from tests.services.postgres import Database


async def test_the_replica_the_pool_and_what_is_prepared_are_as_the_settings_say(database: Database) -> None:
    settings = Settings.load(
        {"RECOLLECT_STORE": database.app_url, "MEMORY_DB_MAX_OVERFLOW": "3"},
        read_url=database.app_url,
        pool_size=2,
        prepare=False,
    )
    store = await open_store(settings)
    try:
        assert isinstance(store, PostgresStore)
        assert store._replica is not None
        assert store._pool.settings is not None  # each transaction says them for itself: nothing is prepared
        assert store._pool.stats()["pool_max"] == 5
    finally:
        await store.close()
