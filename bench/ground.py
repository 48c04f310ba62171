"""What benchmarks stand on: a fresh store of either kind, an engine over it, and an embedder that costs nothing.

Vectors are made from a fixed random matrix by a digest of the text, so that what is measured is the store and the engine, not
a model; a bench that means to include the model says so. They are as long as those of the local model.
"""

from __future__ import annotations

import resource
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from recollect.bootstrap import open_store, postgres_url, sqlite_path
from recollect.engine import Engine, EngineConfig
from recollect.engine.embedding import embed
from recollect.engine.embedding.generations import Generations
from recollect.engine.remembering.disputes import state
from recollect.model import Generation, Memory, Scope, Target
from recollect.policy.digest import content_hash, twin_digest
from recollect.policy.duplicates import fingerprint
from recollect.policy.projection import entry_of_memory
from recollect.ports import Embedder, Store, Tx
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
async def fresh_store(kind: str, kept: Path | None = None) -> AsyncIterator[tuple[Store, Settings]]:
    """A store of this run alone, or the one in the folder `kept`, which stays."""
    folder = kept or Path(tempfile.mkdtemp(prefix="recollect-bench-"))
    try:
        # Filling takes statements far longer than a server would put up with.
        where = "postgres" if kind == "postgres" else ""
        settings = Settings.load(store=where, data_dir=folder, statement_timeout_ms=600_000)
        store = await open_store(settings)
        try:
            yield store, settings
        finally:
            await store.close()
    finally:
        if kept is None:
            shutil.rmtree(folder, ignore_errors=True)


def engine_over(store: Store, embedder: Embedder | None = None, config: EngineConfig | None = None) -> Engine:
    async def nobody(_: Generation) -> Embedder | None:
        return None

    generations = Generations(store, SystemClock(), embedder or FreeEmbedder(), nobody)
    return Engine(store, SystemClock(), config or EngineConfig(), generations)


Noted = Callable[[int], None]
"""Told how many more are done: the progress bar."""


async def fill(store: Store, scope: Scope, texts: Iterable[str], noted: Noted = lambda _: None, first: int = 0) -> None:
    """Many memories quickly, each with its index entry and vector. `first`: how many were put there before."""
    engine = engine_over(store, config=BULK)
    async for count in put_memories(engine, scope, texts, first=first):
        await embed.drain(engine)
        noted(count)


async def put_memories(
    engine: Engine, scope: Scope, texts: Iterable[str], at_once: int = 2000, first: int = 0
) -> AsyncIterator[int]:
    """Store memories as the engine would, in large transactions, without the checks for twins and graves that it makes for
    each; their vectors are queued. Tells how many after each transaction."""
    generations = await engine.generations.to_fill()
    numbered = enumerate(texts, start=first)
    while batch := list(islice(numbered, at_once)):
        now = engine.clock.now()
        memories = [
            Memory(id=f"note-{n:07}", content=text, simhash=fingerprint(text), created_at=now, updated_at=now)
            for n, text in batch
        ]
        await engine.store.write(scope, partial(_insert, memories, generations))
        yield len(memories)


def _insert(memories: Sequence[Memory], generations: Sequence[str], tx: Tx) -> None:
    for memory in memories:
        tx.memories.insert(memory, twin_digest(tx.scope, memory.content))
        state(tx, memory, b"")
    tx.index.put([entry_of_memory(memory) for memory in memories])
    hashes = {Target("memory", memory.id): content_hash(memory.content) for memory in memories}
    for generation in generations:
        tx.embeddings.queue(hashes, generation, memories[0].created_at)


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
