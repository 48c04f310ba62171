"""What benchmarks stand on: a fresh store of either kind, an engine over it, and an embedder that costs nothing.

Vectors are made from a fixed random matrix by a digest of the text, so that what is measured is the store and the engine, not
a model; a bench that means to include the model says so. They are as long as those of the local model.
"""

from __future__ import annotations

import resource
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from recollect.bootstrap import open_store, postgres_url, sqlite_path
from recollect.engine import Engine, EngineConfig, embed
from recollect.engine.generations import Generations
from recollect.model import Generation, Scope
from recollect.ports import Embedder, Store
from recollect.providers.clock import SystemClock
from recollect.settings import Settings

ANA = Scope("bench", "ana")
DIMENSIONS = 896
BULK = EngineConfig(embed_batch=2048)
"""For filling: large batches, because nobody waits for each."""


class FreeEmbedder:
    """Unit vectors at the price of two look-ups: millions of different ones, the same in every run."""

    provider, model, dimensions = "bench", "free", DIMENSIONS

    def __init__(self) -> None:
        rows = np.random.default_rng(3).standard_normal((4096, DIMENSIONS)).astype(np.float32)
        self._rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        digests = np.fromiter((crc32(text.encode()) for text in texts), np.int64, len(texts))
        vectors = self._rows[digests & 4095] + self._rows[digests >> 12 & 4095]
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)

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


Noted = Callable[[int], None]
"""Told how many more are done: the progress bar."""


async def fill(store: Store, scope: Scope, texts: Iterable[str], noted: Noted = lambda _: None) -> None:
    """Many memories quickly, through the import that people use to move house, each with its index entry and vector."""
    engine = engine_over(store, config=BULK)
    for batch in _batches(memory_lines(texts), 2000):
        await engine.import_lines(scope, batch)
        await embed.drain(engine)
        noted(len(batch))


def memory_lines(texts: Iterable[str]) -> Iterator[dict[str, Any]]:
    now = datetime.now(UTC).isoformat()
    for number, text in enumerate(texts):
        yield {"kind": "memory", "id": f"note-{number:07}", "content": text, "created_at": now, "updated_at": now}


def _batches(lines: Iterable[dict[str, Any]], size: int) -> Iterator[list[dict[str, Any]]]:
    lines = iter(lines)
    while batch := list(islice(lines, size)):
        yield batch


async def bytes_on_disk(settings: Settings) -> int:
    """What the database takes, its log included."""
    path = sqlite_path(settings)
    if path is not None:
        return sum(file.stat().st_size for file in Path(path).parent.glob(Path(path).name + "*"))
    import psycopg

    async with await psycopg.AsyncConnection.connect(await postgres_url(settings)) as connection:
        found = await connection.execute("SELECT pg_database_size(current_database())")
        return int((await found.fetchone() or (0,))[0])


def resident_mb() -> float:
    """The memory of this process now; where the system doesn't tell, the most it ever was."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
