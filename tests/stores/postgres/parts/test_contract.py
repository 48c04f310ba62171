"""The store's contract on tables in parts: the same tests, of the files that ask most of the tables that are divided."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from recollect.ports import Store
from tests.contract import (
    test_dense,
    test_embeddings,
    test_erase,
    test_isolation,
    test_memories,
    test_system,
    test_transactions,
)
from tests.contract.samples import generation
from tests.contract.stores import DIVIDED, Ground
from tests.contract.test_isolation import furnished

__all__ = ["furnished"]

AGAIN = (test_dense, test_embeddings, test_erase, test_isolation, test_memories, test_system, test_transactions)

for module in AGAIN:
    for name, each in vars(module).items():
        if name.startswith("test_") and callable(each):
            globals()[f"{name}__{module.__name__.rpartition('.')[2]}"] = each


@pytest.fixture
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    (opener,) = DIVIDED.values()
    async with opener(Ground(tmp_path, postgres=lambda: request.getfixturevalue("postgres"))) as opened:
        yield opened


@pytest.fixture
async def vector_store(store: Store) -> Store:
    await store.system(lambda system: system.add_generation(generation()))
    return store
