"""Is it alive, can it answer, what waits: told in time, also when the store does not answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from recollect.bootstrap import engine_over, open_store
from recollect.doors.http import health
from recollect.engine import Engine
from recollect.settings import Settings
from recollect.testing.embedder import HashEmbedder
from tests.doors.http.framed import app, asking

SETTINGS = Settings.load({}, store=":memory:")


@asynccontextmanager
async def embedding() -> AsyncIterator[Engine]:
    """An engine that is to embed, and nobody who does it."""
    engine = engine_over(await open_store(SETTINGS), HashEmbedder(), SETTINGS)
    yield engine
    await engine.close()


async def test_what_waits_for_an_embedding_is_told() -> None:
    async with asking(app(opening=embedding)) as client:
        for word in ("I prefer tea", "The bus leaves at nine"):
            await client.post("/door/remember", json={"word": word})
        text = (await client.get("/metrics")).text
    assert 'recollect_embedding_backlog{state="pending"} 2.0' in text
    assert 'recollect_embedding_backlog{state="error"} 0.0' in text


async def test_a_store_that_is_gone_is_said_in_the_one_shape() -> None:
    serving = app(opening=embedding)
    async with asking(serving) as client:
        assert (await client.get("/readyz")).json() == {"status": "ready"}
        await serving.state.engine.store.close()
        answer = await client.get("/readyz")
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
        assert (await client.get("/healthz")).status_code == 200


async def test_a_store_that_hangs_is_asked_once_and_not_waited_for() -> None:
    serving = app(opening=embedding)
    released = threading.Event()

    async with asking(serving) as client:
        store = serving.state.engine.store
        busy = asyncio.create_task(store.system(lambda _: released.wait(60)))
        try:
            answers = await asyncio.gather(*(client.get("/readyz") for _ in range(5)))
        finally:
            released.set()
            await busy
        assert {answer.status_code for answer in answers} == {503}
        assert (await client.get("/readyz")).status_code == 200


def test_the_patience_is_shorter_than_that_of_those_who_ask() -> None:
    assert health.PATIENCE_SECONDS <= 5
