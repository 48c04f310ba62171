"""The embedding server is down, dies, stalls and comes back: the memory stays usable, says what is wrong, and catches up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from recollect import AsyncMemory
from recollect.engine import browse
from recollect.model import EmbeddingState, EmbeddingStatus, Target
from tests.api.homes import Home, sqlite_home
from tests.faults.rig import until
from tests.providers.wire import SIZE, EmbeddingServer, Fault

SECONDS = 60.0
DOWN = Fault(status=503)


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer().running() as running:
        yield running


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """One store is enough: which one it is makes no difference to a model that fails."""
    return sqlite_home(tmp_path)


@asynccontextmanager
async def memory_at(home: Home, server: EmbeddingServer, *, dimensions: int = SIZE) -> AsyncIterator[AsyncMemory]:
    memory = AsyncMemory(
        home.url,
        user="ana",
        embedder="openai",
        embedder_url=f"{server.url}/v1",
        embedder_model="m",
        embedder_dimensions=dimensions,
        embedder_timeout_s=1,
        pool_size=4,
    )
    async with memory:
        yield memory


async def status(memory: AsyncMemory, id: str | None) -> EmbeddingStatus:
    target = Target("memory", id or "")
    running = await memory._open()
    return (await browse.embedding_status(running.engine, memory.scope, [target]))[target]


async def reached(memory: AsyncMemory, id: str | None, state: EmbeddingState) -> EmbeddingStatus:
    deadline = time.monotonic() + SECONDS
    while (seen := await status(memory, id)).state is not state:
        assert time.monotonic() < deadline, seen
        await asyncio.sleep(0.02)
    return seen


async def assert_usable(memory: AsyncMemory, word: str) -> None:
    """Stored, found by words, changed: all without a model."""
    receipt = await memory.add(f"{word} is kept meanwhile")
    assert receipt.id in {hit.target.id for hit in await memory.search(word)}
    assert (await memory.update(receipt.id or "", tags=["meanwhile"])).tags == ("meanwhile",)


async def test_it_dies_and_comes_back(home: Home, server: EmbeddingServer) -> None:
    async with memory_at(home, server) as memory:
        first = await memory.add("the sky was red")
        await memory.flush(SECONDS)
        assert (await status(memory, first.id)).state is EmbeddingState.READY
        server.faults.extend([DOWN] * 50)
        second = await memory.add("the sea was green")
        failed = await reached(memory, second.id, EmbeddingState.ERROR)
        assert failed.attempts >= 1
        assert failed.error is not None
        assert "503" in failed.error
        assert (await memory.search("green sea")).trace.degraded == ("dense",)
        await assert_usable(memory, "ballast")
        server.faults.clear()
        assert (await reached(memory, second.id, EmbeddingState.READY)).error is None

        async def whole() -> bool:
            return (await memory.search("sea green")).trace.degraded == ()

        await until("questions are embedded again, for which a second may not do on a busy machine", whole)


async def test_it_is_down_from_the_start(home: Home, server: EmbeddingServer) -> None:
    server.faults.extend([DOWN] * 50)
    async with memory_at(home, server) as memory:
        receipt = await memory.add("the sky was red")
        await assert_usable(memory, "anchor")
        assert (await reached(memory, receipt.id, EmbeddingState.ERROR)).error
    server.faults.clear()
    async with memory_at(home, server) as memory:
        await reached(memory, receipt.id, EmbeddingState.READY)


async def test_it_is_slow(home: Home, server: EmbeddingServer) -> None:
    """A call that hangs costs its time limit in the background; writing never waits for it."""
    async with memory_at(home, server) as memory:
        server.faults.extend([Fault(delay_s=30)] * 50)
        began = time.monotonic()
        receipts = [await memory.add(f"note{number} about the harbour") for number in range(10)]
        assert time.monotonic() - began < 9.0, "ten writes, none of which waited for the model"
        assert (await reached(memory, receipts[0].id, EmbeddingState.ERROR)).error
        server.faults.clear()
        await reached(memory, receipts[-1].id, EmbeddingState.READY)


async def test_it_cannot_say_what_it_is_until_later(home: Home, server: EmbeddingServer) -> None:
    """Without configured dimensions a server that is down can't even be asked for them. What was stored catches up later."""
    server.faults.extend([DOWN] * 200)
    async with memory_at(home, server, dimensions=0) as memory:
        receipt = await memory.add("the sky was red")
        assert receipt.id in {hit.target.id for hit in await memory.search("red sky")}
        server.faults.clear()
        async with asyncio.timeout(SECONDS):
            while (await status(memory, receipt.id)).state is not EmbeddingState.READY:
                await memory.add(f"life goes on at {time.monotonic()}")
                await asyncio.sleep(0.2)


async def test_closing_does_not_wait_for_a_server_that_hangs(home: Home, server: EmbeddingServer) -> None:
    async with memory_at(home, server) as memory:
        server.faults.extend([Fault(delay_s=30)] * 5)
        receipt = await memory.add("the sky was red")
        began = time.monotonic()
    assert time.monotonic() - began < 29, "its own time limits, not the server's"
    assert home.rows("SELECT id FROM memories") == [(receipt.id,)]
