"""Databases whose large tables are in parts, under the names by which the tests of whole ones know theirs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from recollect.stores import migrations
from recollect.stores.postgres import PostgresStore
from tests.contract.stores import divide
from tests.services.postgres import Database, PostgresServer

PARTS = 3


def _in_parts(database: Database) -> None:
    migrations.upgrade(database.owner_url, app_role="app")
    divide(database, PARTS)


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[Database]:
    made = postgres.fresh_database(postgres.build_template("in parts", _in_parts))
    yield made
    postgres.discard(made)


@pytest.fixture
async def store(database: Database) -> AsyncIterator[PostgresStore]:
    opened = await PostgresStore.open(database.app_url, pool_size=4)
    yield opened
    await opened.close()
