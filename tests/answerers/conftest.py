"""One shop on each database for the whole run: nothing here is able to change it, which is what is tested."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from recollect.providers.answerers.database import Database
from tests.answerers.denodo_wire import DenodoServer
from tests.answerers.grounds import Ground, on_postgres, on_sqlite
from tests.services.postgres import PostgresServer


@pytest.fixture(scope="session")
def sqlite_ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return on_sqlite(tmp_path_factory.mktemp("shop"))


@pytest.fixture(scope="session")
def postgres_ground(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return on_postgres(postgres, tmp_path_factory.mktemp("shop"))


@pytest.fixture(params=["sqlite", "postgres"])
def ground(request: pytest.FixtureRequest) -> Ground:
    found: Ground = request.getfixturevalue(f"{request.param}_ground")
    return found


@pytest.fixture
async def database(ground: Ground) -> AsyncIterator[Database]:
    opened = ground.open()
    yield opened
    await opened.close()


@pytest.fixture
async def shop(sqlite_ground: Ground) -> AsyncIterator[Database]:
    """The sample shop on SQLite, where the database makes no difference."""
    opened = sqlite_ground.open()
    yield opened
    await opened.close()


@pytest.fixture
def denodo() -> Iterator[DenodoServer]:
    with DenodoServer().running() as running:
        yield running
