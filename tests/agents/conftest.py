"""A memory on each store for every test that asks for one; a missing server fails it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from examples.scripted_model import ScriptedModel
from recollect import AsyncMemory
from tests.api.homes import KINDS, Home, migrated, postgres_home, sqlite_home
from tests.services.postgres import Database, PostgresServer


@pytest.fixture(scope="session")
def agents_database(postgres: PostgresServer) -> Database:
    return migrated(postgres)


def home_of(kind: str, request: pytest.FixtureRequest, folder: Path) -> Home:
    if kind == "sqlite":
        return sqlite_home(folder)
    return postgres_home(folder, request.getfixturevalue("agents_database"))


def opened_memory(home: Home, user: str = "ana", **settings: Any) -> AsyncMemory:
    """Somebody's memory, found by words alone."""
    return AsyncMemory(home.url, user, embedder="off", pool_size=4, rate_limit=1_000_000, **settings)


@pytest.fixture(params=KINDS)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    return home_of(request.param, request, tmp_path)


@pytest.fixture
async def memory(home: Home) -> AsyncIterator[AsyncMemory]:
    """Ana's."""
    async with opened_memory(home) as memory:
        yield memory


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel().running() as model:
        yield model
