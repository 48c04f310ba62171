"""A provider that hangs costs the first few a wait, and nobody after them; it never holds up what others need threads for."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from recollect.errors import InvalidInput, Unavailable
from recollect.providers.caches.breaker import Breaker
from recollect.providers.embedders.guarded import LOOK, GuardedEmbedder
from recollect.providers.embedders.http import THREADS, HttpEmbedder
from recollect.providers.embedders.wires import WIRES
from recollect.testing import FaultyEmbedder, HashEmbedder
from tests.providers.wire import SIZE, EmbeddingServer

PATIENCE_SECONDS = 60.0


class Clock:
    """Goes on by so much each time it is looked at."""

    def __init__(self, step: float) -> None:
        self.time, self.step = 0.0, step

    def __call__(self) -> float:
        self.time += self.step
        return self.time


def guarded(faulty: FaultyEmbedder, step: float = 2.0) -> tuple[GuardedEmbedder, Clock]:
    """Every call takes `step` seconds; the breaker looks again after one second of a clock of its own."""
    pauses = Clock(0.0)
    return GuardedEmbedder(faulty, breaker=Breaker(now=pauses), now=Clock(step)), pauses


async def answered(embedder: GuardedEmbedder) -> NDArray[np.float32]:
    """What it says as soon as it is asked again."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            try:
                return await embedder.embed(["where is the boat?"], query=True)
            except Unavailable:
                await asyncio.sleep(0.01)


async def test_after_two_that_waited_in_vain_nobody_asks_until_it_is_back() -> None:
    faulty = FaultyEmbedder(HashEmbedder(8), fail_with=Unavailable("too slow"))
    embedder, pauses = guarded(faulty)
    for _ in range(10):
        with pytest.raises(Unavailable):
            await embedder.embed(["where is the boat?"], query=True)
    assert faulty.calls == 2
    faulty.fail_with = None
    pauses.time += 10
    with pytest.raises(Unavailable):
        await embedder.embed(["where is the boat?"], query=True)  # sends somebody to look, and doesn't wait for them
    assert (await answered(embedder)).shape == (1, 8)
    assert faulty.calls == 4, "the two that waited, the one that looked, and this one"
    await embedder.close()


async def test_one_that_refuses_at_once_is_asked_each_time() -> None:
    faulty = FaultyEmbedder(HashEmbedder(8), fail_with=Unavailable("connection refused"))
    embedder, _ = guarded(faulty, step=0.01)
    for _ in range(5):
        with pytest.raises(Unavailable):
            await embedder.embed(["where is the boat?"], query=True)
    assert faulty.calls == 5
    faulty.fail_with = InvalidInput("no such model")
    with pytest.raises(InvalidInput):
        await embedder.embed(["where is the boat?"], query=True)


async def test_what_is_to_be_remembered_is_sent_all_the_same_and_shows_that_it_is_back() -> None:
    faulty = FaultyEmbedder(HashEmbedder(8), fail_with=Unavailable("too slow"))
    embedder, _ = guarded(faulty)
    for _ in range(3):
        with pytest.raises(Unavailable):
            await embedder.embed(["where is the boat?"], query=True)
    faulty.fail_with = None
    await embedder.embed(["the boat is in the harbour"])
    assert (await embedder.embed(["where is the boat?"], query=True)).shape == (1, 8)


class Mute(EmbeddingServer):
    """Takes every request and says nothing until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.words: list[str] = []

    def answer(self, path: str, body: Any) -> tuple[int, Any]:
        self.words += body["input"]
        self.gate.wait(PATIENCE_SECONDS)
        return super().answer(path, body)


async def test_a_server_that_hangs_holds_up_nobody_else() -> None:
    mute = Mute()
    with mute.running() as server:
        bare = HttpEmbedder(WIRES["openai"], url=f"{server.url}/v1", model="m", dimensions=SIZE)
        embedder = GuardedEmbedder(bare, longest_s=0.2)
        many = 4 * THREADS
        asked = [embedder.embed([f"question {number}"], query=True) for number in range(many)]
        outcomes = await asyncio.gather(*asked, return_exceptions=True)
        assert all(isinstance(each, Unavailable) for each in outcomes), "each was told in time"
        assert await asyncio.wait_for(asyncio.to_thread(lambda: "free"), PATIENCE_SECONDS) == "free"
        with pytest.raises(Unavailable):
            await embedder.embed(["one more"], query=True)
        assert "one more" not in mute.words
        mute.gate.set()
        assert (await answered(embedder)).shape == (1, SIZE)
        assert LOOK in mute.words
        await embedder.close()
        with pytest.raises(Unavailable):
            await embedder.embed(["after the end"])
