"""Databases with the current schema for the tests of what only Postgres does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from recollect.stores import migrations
from recollect.stores.postgres import PostgresStore
from tests.services.postgres import Database, PostgresServer


def migrated(server: PostgresServer) -> Database:
    template = server.build_template(
        "migrated", lambda database: migrations.upgrade(database.owner_url, app_role="app")
    )
    return server.fresh_database(template)


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[Database]:
    made = migrated(postgres)
    yield made
    postgres.discard(made)


@pytest.fixture
async def store(database: Database) -> AsyncIterator[PostgresStore]:
    opened = await PostgresStore.open(database.app_url, pool_size=4)
    yield opened
    await opened.close()
