"""A served app on each store for every test that asks for one; a missing server fails it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.api.homes import KINDS, Home, migrated, postgres_home, sqlite_home
from tests.doors.serving import Served
from tests.doors.serving import served as serving
from tests.services.postgres import Database, PostgresServer


@pytest.fixture(scope="session")
def doors_database(postgres: PostgresServer) -> Database:
    return migrated(postgres)


@pytest.fixture(params=KINDS)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    if request.param == "sqlite":
        return sqlite_home(tmp_path)
    return postgres_home(tmp_path, request.getfixturevalue("doors_database"))


@pytest.fixture
async def served(home: Home) -> AsyncIterator[Served]:
    async with serving(home) as app:
        yield app
