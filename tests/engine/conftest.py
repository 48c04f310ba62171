"""An engine over every store, with a real if modest embedder and a clock that tests turn by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from recollect.engine import Engine, EngineConfig
from recollect.engine.generations import Generations
from recollect.model import Generation, Scope
from recollect.ports import Embedder, Store
from recollect.testing.clock import ManualClock
from recollect.testing.embedder import HashEmbedder
from tests.contract.stores import OPENERS, Ground

ANA = Scope("acme", "ana")


async def no_other_model(_: Generation) -> Embedder | None:
    return None


def engine_over(
    store: Store, embedder: Embedder | None = None, config: EngineConfig | None = None, clock: ManualClock | None = None
) -> Engine:
    clock = clock or ManualClock()
    generations = Generations(store, clock, embedder or HashEmbedder(), no_other_model)
    return Engine(store, clock, config or EngineConfig(), generations)


@pytest.fixture
def ground(request: pytest.FixtureRequest, tmp_path: Path) -> Ground:
    return Ground(tmp_path, postgres=lambda: request.getfixturevalue("postgres"))


@pytest.fixture(params=sorted(OPENERS))
async def store(request: pytest.FixtureRequest, ground: Ground) -> AsyncIterator[Store]:
    async with OPENERS[request.param](ground) as opened:
        yield opened


@pytest.fixture
def engine(store: Store) -> Engine:
    return engine_over(store)
