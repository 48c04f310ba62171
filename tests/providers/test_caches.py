"""The query cache: same vectors, fewer calls, bounded, and no text inside."""

from __future__ import annotations

import pickle
from collections.abc import AsyncIterator
from datetime import UTC

import numpy as np
import pytest

from recollect.errors import Unavailable
from recollect.providers.caches import CachedEmbedder, EmbeddingCache
from recollect.providers.clock import SystemClock
from recollect.providers.embedders.http import HttpEmbedder
from recollect.providers.embedders.patience import Patience
from recollect.providers.embedders.wires import OPENAI
from tests.providers.wire import SIZE, EmbeddingServer, Fault


@pytest.fixture
async def plain(server: EmbeddingServer) -> AsyncIterator[HttpEmbedder]:
    once = Patience(attempts=1, timeout_s=5)
    embedder = HttpEmbedder(OPENAI, url=server.url + "/v1", model="m1", query_patience=once)
    yield embedder
    await embedder.close()


def asked(server: EmbeddingServer) -> list[list[str]]:
    return [seen.body["input"] for seen in server.seen]


async def test_a_query_is_embedded_once(server: EmbeddingServer, plain: HttpEmbedder) -> None:
    cached = CachedEmbedder(plain, EmbeddingCache())
    first = await cached.embed(["tea", "surf", "tea"], query=True)
    second = await cached.embed(["surf", "rain", "tea"], query=True)
    assert asked(server) == [["tea", "surf"], ["rain"]]
    assert np.array_equal(first, (await plain.embed(["tea", "surf", "tea"], query=True)))
    assert np.array_equal(second[[0, 2]], first[[1, 0]])
    assert (cached.provider, cached.model, cached.dimensions) == ("openai", "m1", SIZE)


async def test_documents_pass_through(server: EmbeddingServer, plain: HttpEmbedder) -> None:
    cache = EmbeddingCache()
    cached = CachedEmbedder(plain, cache)
    for _ in range(2):
        await cached.embed(["a document"])
    assert len(server.seen) == 2
    assert len(cache) == 0


async def test_the_least_recently_used_goes_first(server: EmbeddingServer, plain: HttpEmbedder) -> None:
    cache = EmbeddingCache(most=2)
    cached = CachedEmbedder(plain, cache)
    for text in ("a", "b", "a", "c", "a", "b"):
        await cached.embed([text], query=True)
    assert asked(server) == [["a"], ["b"], ["c"], ["b"]]
    assert len(cache) == 2
    # More at once than the cache holds is still answered in full.
    assert (await cached.embed(["p", "q", "r", "s"], query=True)).shape == (4, SIZE)


async def test_a_callers_changes_stay_with_the_caller(plain: HttpEmbedder) -> None:
    cached = CachedEmbedder(plain, EmbeddingCache())
    first = await cached.embed(["tea"], query=True)
    kept = first.copy()
    first[:] = 0
    second = await cached.embed(["tea"], query=True)
    assert np.array_equal(second, kept)
    second[:] = 0
    assert np.array_equal(await cached.embed(["tea"], query=True), kept)


async def test_failures_are_not_kept(server: EmbeddingServer, plain: HttpEmbedder) -> None:
    cached = CachedEmbedder(plain, EmbeddingCache())
    server.faults.append(Fault(status=503, body=b"{}"))
    with pytest.raises(Unavailable):
        await cached.embed(["tea"], query=True)
    assert (await cached.embed(["tea"], query=True)).shape == (1, SIZE)


async def test_a_cache_holds_no_text(plain: HttpEmbedder) -> None:
    cache = EmbeddingCache()
    await CachedEmbedder(plain, cache).embed(["canary-in-a-coal-mine", "\ud83c"], query=True)
    assert len(cache) == 2
    assert b"canary" not in pickle.dumps(list(cache._vectors.items()))
    cache.clear()
    assert len(cache) == 0


def test_the_clock_tells_utc_and_goes_forward() -> None:
    first, second = SystemClock().now(), SystemClock().now()
    assert first.tzinfo is UTC
    assert first <= second
