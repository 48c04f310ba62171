"""Five thousand texts of one user and three of another, at a real Postgres: the three don't wait for the five thousand."""

from __future__ import annotations

import asyncio

from bench.ground import engine_over
from recollect.engine import EngineConfig
from recollect.engine.embedding import embed
from recollect.model import Memory, Scope, Target
from recollect.policy.digest import content_hash, twin_digest
from recollect.ports import Tx
from recollect.providers.clock import SystemClock
from recollect.testing import HashEmbedder
from tests.api.homes import Home, open_store

ANA, BO = Scope("default", "ana"), Scope("default", "bo")
MANY, FEW, BATCH = 5_000, 3, 64


def _put_many(generation: str, tx: Tx) -> None:
    """All that the queue needs to know of them, in one transaction: what else a write does is not the matter here."""
    now = SystemClock().now()
    texts = {f"note-{number:04}": f"note {number} about the harbour" for number in range(MANY)}
    for id, text in texts.items():
        tx.memories.insert(Memory(id=id, content=text, created_at=now, updated_at=now), twin_digest(ANA, text))
    tx.embeddings.queue({Target("memory", id): content_hash(text) for id, text in texts.items()}, generation, now)


async def test_three_texts_do_not_wait_for_five_thousand(home: Home) -> None:
    stores = [await open_store(home) for _ in range(2)]
    workers = [engine_over(store, HashEmbedder(16), EngineConfig(embed_batch=BATCH)) for store in stores]
    (generation,) = await workers[0].generations.to_fill()
    await stores[0].write(ANA, lambda tx: _put_many(generation, tx))
    for number in range(FEW):
        await workers[0].remember(BO, {"content": f"word{number} is what I came for"})
    passes = await asyncio.gather(*(embed.run_once(worker) for worker in workers))
    ready = dict(home.rows("SELECT user_id, count(*) FROM embeddings WHERE state = 'ready' GROUP BY user_id"))
    assert ready["bo"] == FEW, "in the very first batch, though ana came first"
    assert ready["ana"] == 2 * BATCH - FEW, "and no place in a batch is left empty"
    assert sum(each.embedded for each in passes) == 2 * BATCH, "nothing by both"
    for store in stores:
        await store.close()
