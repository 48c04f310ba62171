"""What benchmarks stand on: a fresh store of either kind, an engine over it, and an embedder that costs nothing.

Vectors are taken from a fixed random matrix by hash of the text, so that what is measured is the store and the engine, not a
model; a bench that means to include the model says so.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recollect.bootstrap import open_store
from recollect.engine import Engine, EngineConfig, embed
from recollect.engine.generations import Generations
from recollect.model import Generation, Scope
from recollect.ports import Embedder, Store
from recollect.providers.clock import SystemClock
from recollect.settings import Settings

ANA = Scope("bench", "ana")
DIMENSIONS = 512


class FreeEmbedder:
    """Unit vectors at the price of a lookup."""

    provider, model, dimensions = "bench", "free", DIMENSIONS

    def __init__(self) -> None:
        rows = np.random.default_rng(3).standard_normal((4096, DIMENSIONS)).astype(np.float32)
        self._rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        return self._rows[[hash(text) % len(self._rows) for text in texts]]

    async def close(self) -> None:
        """Holds nothing open."""


@asynccontextmanager
async def fresh_store(kind: str) -> AsyncIterator[tuple[Store, Settings]]:
    folder = Path(tempfile.mkdtemp(prefix="recollect-bench-"))
    try:
        settings = Settings.load(store="postgres" if kind == "postgres" else "", data_dir=folder)
        store = await open_store(settings)
        try:
            yield store, settings
        finally:
            await store.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def engine_over(store: Store, embedder: Embedder | None = None, config: EngineConfig | None = None) -> Engine:
    async def nobody(_: Generation) -> Embedder | None:
        return None

    generations = Generations(store, SystemClock(), embedder or FreeEmbedder(), nobody)
    return Engine(store, SystemClock(), config or EngineConfig(), generations)


async def fill(engine: Engine, scope: Scope, texts: Iterable[str], session: str = "filler") -> None:
    """Many texts quickly, as turns of conversations of five hundred, embedded."""
    batch: list[dict[str, str]] = []
    count = 0
    for text in texts:
        batch.append({"role": "user", "content": text})
        if len(batch) == 500:
            await engine.add_turns(scope, f"{session}-{count}", batch)
            batch, count = [], count + 1
    if batch:
        await engine.add_turns(scope, f"{session}-{count}", batch)
    await embed.drain(engine)
