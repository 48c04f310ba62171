"""Both caches keep the same promises; the one on Redis keeps them whatever becomes of its server."""

from __future__ import annotations

import asyncio
import logging
import pickle
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from hashlib import sha256

import numpy as np
import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from recollect.bootstrap import open_embedder, open_engine
from recollect.errors import InvalidInput
from recollect.ports import Cache
from recollect.providers.caches import CachedEmbedder, EmbeddingCache, MemoryCache, SharedEmbeddingCache, open_cache
from recollect.providers.caches.breaker import Breaker
from recollect.providers.caches.shared import RedisCache
from recollect.providers.embedders import EmbedderConfig
from recollect.settings import Settings
from recollect.testing.embedder import HashEmbedder
from tests.providers.wire import SIZE, EmbeddingServer
from tests.services.valkey import ValkeyServer

PATIENT = 5.0
"""Seconds a call may take where the machine's business is not what is tested."""


@pytest.fixture(params=["memory", "redis"])
async def cache(request: pytest.FixtureRequest) -> AsyncIterator[Cache]:
    if request.param == "memory":
        cache: Cache = MemoryCache()
    else:
        server: ValkeyServer = request.getfixturevalue("valkey")
        cache = RedisCache(server.url, wait_s=PATIENT)
    yield cache
    await cache.close()


async def test_what_was_set_is_there_until_it_is_dropped(cache: Cache) -> None:
    assert await cache.get("a") is None
    await cache.set("a", b"\x00\xff", 60)
    await cache.set("a", b"", 60)
    await cache.set("b", b"two", 60)
    assert (await cache.get("a"), await cache.get("b")) == (b"", b"two")
    await cache.drop("a")
    await cache.drop("never there")
    assert (await cache.get("a"), await cache.get("b")) == (None, b"two")


async def test_time_runs_out(cache: Cache) -> None:
    await cache.set("short", b"x", 0.05)
    await cache.set("long", b"x", 60)
    await asyncio.sleep(0.12)
    assert (await cache.get("short"), await cache.get("long")) == (None, b"x")


async def test_counting_starts_its_time_once(cache: Cache) -> None:
    # Had a later count begun the time anew, it would not run out while anybody looks.
    assert [await cache.add("n", seconds) for seconds in (1.5, 3600, 3600)] == [1, 2, 3]
    assert await cache.add("other", 60) == 1
    for _ in range(1_000):
        if await cache.get("n") is None:
            break
        await asyncio.sleep(0.05)
    assert await cache.add("n", 60) == 1


async def test_no_count_is_lost_or_given_twice(cache: Cache) -> None:
    counts = await asyncio.gather(*(cache.add("n", 60) for _ in range(100)))
    assert sorted(counts) == list(range(1, 101))


def test_it_serves_several_loops_and_threads(cache: Cache) -> None:
    async def count() -> list[int]:
        return list(await asyncio.gather(*(cache.add("n", 60) for _ in range(20))))

    counts: list[int] = []
    threads = [threading.Thread(target=lambda: counts.extend(asyncio.run(count()))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(counts) == list(range(1, 81))


STEPS = st.lists(
    st.tuples(st.sampled_from(["get", "set", "add", "drop"]), st.sampled_from("ab"), st.integers(0, 9)), max_size=30
)


@given(STEPS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_both_do_the_same(valkey: ValkeyServer, steps: list[tuple[str, str, int]]) -> None:
    async def walked(cache: Cache) -> list[object]:
        told: list[object] = []
        for verb, key, number in steps:
            if verb == "get":
                told.append(await cache.get(key))
            elif verb == "set":
                await cache.set(key, b"%d" % number, 60)
            elif verb == "add":
                told.append(await cache.add(key, 60))
            else:
                await cache.drop(key)
        await cache.close()
        return told

    valkey.clear()
    assert asyncio.run(walked(MemoryCache())) == asyncio.run(walked(RedisCache(valkey.url, wait_s=PATIENT)))


async def test_memory_holds_no_more_than_it_may() -> None:
    cache = MemoryCache(most=3)
    for key in "abc":
        await cache.set(key, b"x", 60)
    await cache.get("a")
    await cache.set("d", b"x", 60)
    assert len(cache) == 3
    assert [await cache.get(key) for key in "abcd"] == [b"x", None, b"x", b"x"]


async def test_the_settings_choose() -> None:
    here, there = open_cache(), open_cache("redis://127.0.0.1:1/0")
    assert (type(here), type(there)) == (MemoryCache, RedisCache)
    await there.close()
    with pytest.raises(InvalidInput, match="Redis address"):
        open_cache("http://example.org")


# What becomes of us when the server goes.


async def test_a_server_that_is_gone_fails_nothing_and_is_found_again(
    private_valkey: ValkeyServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    cache = RedisCache(private_valkey.url, wait_s=PATIENT, breaker=Breaker(first_s=0.05, longest_s=0.2))
    answers: list[bool] = []
    cache.tell(answers.append)
    await cache.set("a", b"x", 60)
    assert await cache.get("a") == b"x"
    private_valkey.kill()
    for _ in range(50):
        assert (await cache.get("a"), await cache.add("n", 60)) == (None, 0)
        await cache.set("a", b"x", 60)
        await cache.drop("a")
    assert _warnings(caplog) == 1
    private_valkey.start()
    for _ in range(1_000):
        if await cache.add("n", 60):
            break
        await asyncio.sleep(0.02)
    await cache.set("a", b"y", 60)
    assert await cache.get("a") == b"y"
    private_valkey.kill()
    for _ in range(10):
        assert await cache.get("a") is None
    assert _warnings(caplog) == 2
    assert answers == [False, True, False], "whoever watches is told, too"
    assert str(private_valkey.port) not in caplog.text
    await cache.close()


@pytest.fixture
def mute() -> Iterator[str]:
    """A server that takes every connection and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        yield f"redis://127.0.0.1:{listening.getsockname()[1]}/0"


async def test_a_server_that_never_answers_holds_up_only_the_first(mute: str, caplog: pytest.LogCaptureFixture) -> None:
    cache = RedisCache(mute, wait_s=0.5, breaker=Breaker(first_s=0.05))
    await asyncio.gather(*(cache.get(f"first {n}") for n in range(20)))
    began = time.monotonic()
    for n in range(200):
        assert await cache.get(str(n)) is None
    # Looking whether it is back costs those who ask nothing: two hundred such waits would take a hundred seconds.
    assert time.monotonic() - began < 30
    assert _warnings(caplog) == 1
    await cache.close()


async def test_what_is_no_number_is_not_counted(cache: Cache) -> None:
    await cache.set("word", b"not a number", 60)
    assert await cache.add("word", 60) == 0
    assert await cache.get("word") == b"not a number"


async def test_what_is_no_text_is_not_there(valkey: ValkeyServer) -> None:
    with redis.Redis.from_url(valkey.url) as client:
        client.lpush("list", "x")
    cache = RedisCache(valkey.url, wait_s=PATIENT)
    assert await cache.get("list") is None
    await cache.close()


async def test_a_closed_cache_is_an_empty_one(valkey: ValkeyServer) -> None:
    cache = RedisCache(valkey.url)
    await cache.close()
    await cache.close()
    assert (await cache.get("a"), await cache.add("a", 60)) == (None, 0)


def _warnings(caplog: pytest.LogCaptureFixture) -> int:
    return sum(record.levelno == logging.WARNING for record in caplog.records)


def test_the_breaker_asks_ever_more_seldom() -> None:
    clock = [0.0]
    breaker = Breaker(after=2, first_s=1, longest_s=8, now=lambda: clock[0])
    assert not breaker.failed()
    assert not breaker.is_open
    assert breaker.failed()
    assert not breaker.failed()
    looked = []
    for tick in range(400):
        clock[0] = tick / 10
        if breaker.due():
            looked.append(clock[0])
            assert not breaker.due()
    assert looked == [1, 3, 7, 15, 23, 31, 39]
    assert breaker.succeeded()
    assert not breaker.succeeded()
    assert not breaker.is_open


# Vectors that several processes share.


class CountingEmbedder(HashEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        self.asked += texts
        return await super().embed(texts, query=query)


async def test_what_one_process_asked_the_others_know(cache: Cache) -> None:
    first, second = CountingEmbedder(), CountingEmbedder()
    one = CachedEmbedder(first, SharedEmbeddingCache(EmbeddingCache(), cache))
    two = CachedEmbedder(second, SharedEmbeddingCache(EmbeddingCache(), cache))
    assert one.dimensions == two.dimensions
    mine = await one.embed(["tea", "surf"], query=True)
    theirs = await two.embed(["surf", "rain", "tea"], query=True)
    assert (first.asked, second.asked) == (["tea", "surf"], ["rain"])
    assert np.array_equal(theirs[[2, 0]], mine)
    await two.embed(["tea"], query=True)
    assert second.asked == ["rain"]


async def test_no_text_and_no_vector_of_another_model_reaches_the_server(valkey: ValkeyServer) -> None:
    cache = RedisCache(valkey.url, wait_s=PATIENT)
    await CachedEmbedder(HashEmbedder(), SharedEmbeddingCache(EmbeddingCache(), cache)).embed(
        ["canary mine"], query=True
    )
    with redis.Redis.from_url(valkey.url) as client:
        (name,) = client.keys("*")
        kept = client.get(name)
        assert name.startswith(b"embedding_cache:")
        assert 6 * 24 * 3600 < client.ttl(name) <= 7 * 24 * 3600
        assert b"canary" not in pickle.dumps((name, kept))
        assert not await SharedEmbeddingCache(EmbeddingCache(), cache).fetch([("other", b"x")])
    await cache.close()


ASKED = [f"cup {number} of tea" for number in range(50)]


async def test_names_are_peppered_as_the_settings_say(valkey: ValkeyServer) -> None:
    """Or whoever reads the server could try whether a question they guess was asked."""
    with EmbeddingServer().running() as server:
        config = EmbedderConfig(provider="openai", endpoint_url=f"{server.url}/v1", model="m", dimensions=SIZE)
        caches = {pepper: MemoryCache() for pepper in (b"", b"salt", b"pepper")}
        for pepper, cache in caches.items():
            embedder = await open_embedder(config, cache, pepper)
            assert embedder is not None
            await embedder.embed(ASKED, query=True)
            await embedder.close()
        names = {pepper: set(cache._entries) for pepper, cache in caches.items()}
        assert len(names[b""] | names[b"salt"] | names[b"pepper"]) == 3 * len(ASKED)
        told = {"embedder_url": f"{server.url}/v1", "embedder_model": "m", "embedder_dimensions": SIZE}
        here = {"store": ":memory:", "redis_url": valkey.url, "pepper": "pepper", "worker": False}
        running = await open_engine(Settings.load({}, embedder="openai", **told, **here))
        serving = await running.engine.generations.serving()
        assert serving is not None
        embedder = await running.engine.generations.embedder(serving)
        assert embedder is not None
        found: set[str] = set()
        with redis.Redis.from_url(valkey.url, decode_responses=True) as client:
            for asked in ASKED:  # on a busy machine a tenth of a second may not do for each
                await embedder.embed([asked], query=True)
                found |= set(client.keys("embedding_cache:*"))
        await running.close()
    assert found
    assert found <= names[b"pepper"]


@pytest.mark.parametrize("harm", [b"", b"x", b"\x00" * 8, b"\x00" * 4100, b"\xff" * 404])
async def test_a_vector_that_came_to_harm_is_made_anew(cache: Cache, harm: bytes) -> None:
    embedder = CountingEmbedder()
    shared = SharedEmbeddingCache(EmbeddingCache(), cache, pepper=b"pepper")
    first = CachedEmbedder(embedder, shared)
    whole = await first.embed(["tea"], query=True)
    name = shared._name((first._named, _digest("tea")))
    assert await cache.get(name) is not None
    await cache.set(name, harm, 60)
    again = CachedEmbedder(embedder, SharedEmbeddingCache(EmbeddingCache(), cache, pepper=b"pepper"))
    assert again.dimensions
    assert np.array_equal(await again.embed(["tea"], query=True), whole)
    assert embedder.asked == ["tea", "tea"]


def _digest(text: str) -> bytes:
    return sha256(text.encode()).digest()
