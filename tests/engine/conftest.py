"""An engine over every store, with a real if modest embedder and a clock that tests turn by hand."""

from __future__ import annotations

import pytest

from recollect.engine import Engine, EngineConfig
from recollect.engine.embedding.generations import Generations
from recollect.model import Generation, Scope
from recollect.ports import Embedder, Store
from recollect.testing.clock import ManualClock
from recollect.testing.embedder import HashEmbedder
from tests.contract.conftest import ground, store

__all__ = ["ground", "store"]  # the fixtures of the contract suite: an engine runs over the same stores

ANA = Scope("acme", "ana")
anywhere = pytest.mark.parametrize("store", ["sqlite-memory"], indirect=True)
"""For what no store can change: that the stores are alike is for the contract suite to hold."""
both = pytest.mark.parametrize("store", ["sqlite-memory", "postgres"], indirect=True)


async def no_other_model(_: Generation) -> Embedder | None:
    return None


def engine_over(
    store: Store, embedder: Embedder | None = None, config: EngineConfig | None = None, clock: ManualClock | None = None
) -> Engine:
    clock = clock or ManualClock()
    generations = Generations(store, clock, embedder or HashEmbedder(), no_other_model)
    return Engine(store, clock, config or EngineConfig(), generations)


@pytest.fixture
def engine(store: Store) -> Engine:
    return engine_over(store)
