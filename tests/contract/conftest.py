"""One fixture, every store. A test that takes `store` runs over all of them; a missing server fails it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from recollect.ports import Store
from tests.contract.samples import generation
from tests.contract.stores import OPENERS, Ground


@pytest.fixture
def ground(request: pytest.FixtureRequest, tmp_path: Path) -> Ground:
    return Ground(tmp_path, postgres=lambda: request.getfixturevalue("postgres"))


@pytest.fixture(params=sorted(OPENERS))
async def store(request: pytest.FixtureRequest, ground: Ground) -> AsyncIterator[Store]:
    async with OPENERS[request.param](ground) as opened:
        yield opened


@pytest.fixture
async def vector_store(store: Store) -> Store:
    """A store with a serving generation `g1` of three dimensions."""
    await store.system(lambda system: system.add_generation(generation()))
    return store
