"""One fixture, every store. A test that takes `store` runs over all of them; a missing server fails it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from recollect.ports import Store
from recollect.stores import migrations
from tests.contract.samples import generation
from tests.contract.stores import OPENERS, Ground


@pytest.fixture(scope="session")
def blank_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite database with the current schema and nothing in it: copying is faster than migrating anew."""
    path = tmp_path_factory.mktemp("blank") / "blank.db"
    migrations.upgrade(path)
    return path


@pytest.fixture
def ground(request: pytest.FixtureRequest, tmp_path: Path) -> Ground:
    def ask(fixture: str) -> Callable[[], Any]:
        return lambda: request.getfixturevalue(fixture)

    return Ground(tmp_path, blank_file=ask("blank_file"), postgres=ask("postgres"))


@pytest.fixture(params=sorted(OPENERS))
async def store(request: pytest.FixtureRequest, ground: Ground) -> AsyncIterator[Store]:
    async with OPENERS[request.param](ground) as opened:
        yield opened


@pytest.fixture
async def vector_store(store: Store) -> Store:
    """A store with a serving generation `g1` of three dimensions."""
    await store.system(lambda system: system.add_generation(generation()))
    return store
