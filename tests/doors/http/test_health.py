"""Is it alive, can it answer, what waits: told in time, also when the store does not answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from recollect.bootstrap import engine_over, open_store
from recollect.doors.http import health
from recollect.doors.http.auth.bearer_token import PATIENCE_SECONDS, TOUCHED_SECONDS, BearerToken
from recollect.doors.http.auth.jwt_claim import Claims, JwtClaim
from recollect.doors.http.auth.jwt_keys import OneKey, secret_key
from recollect.doors.http.auth.key_secrets import hash_of, new_secret
from recollect.engine import Engine
from recollect.model import ApiKey
from recollect.model.access import Role
from recollect.settings import Settings
from recollect.testing.embedder import HashEmbedder
from tests.doors.http.framed import app, asking
from tests.doors.http.issuing import SECRET, signed
from tests.doors.http.requests import bearing

ROLES: tuple[Role, Role] = ("admin", "user")
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


async def test_an_administrators_key_reads_what_is_counted_however_people_come_in() -> None:
    by_token = JwtClaim(OneKey(secret_key(SECRET)), Claims(), "default", "default")
    serving = app(by_token, opening=embedding)
    async with asking(serving) as client:
        engine = serving.state.engine
        admin, user = [await _key(engine, role) for role in ROLES]

        async def answered(path: str, secret: str) -> int:
            return (await client.get(path, headers={"Authorization": f"Bearer {secret}"})).status_code

        assert await answered("/metrics", admin) == 200
        assert await answered("/metrics", user) == 403
        assert await answered("/metrics", new_secret()) == 401
        assert await answered("/metrics", signed(role="admin")) == 200
        for path in ("/door/reserved", "/v1/operations", "/metrics/"):
            assert await answered(path, admin) == 401, "a key is good for counts and for nothing else"
        await engine.store.close()
        assert await answered("/metrics", admin) == 200, "while the store is away, too"


async def test_a_key_waits_a_moment_only_for_a_store_that_hangs() -> None:
    """Neither for being looked up, where it may outlast the store, nor for its use being noted."""
    now, released = [0.0], threading.Event()
    async with embedding() as engine:
        secret = await _key(engine, "admin")
        source = BearerToken("default", lambda: now[0], outlasts_s=3600)
        await source(bearing(secret, engine))
        now[0] = TOUCHED_SECONDS + 1
        busy = asyncio.create_task(engine.store.system(lambda _: released.wait(60)))
        try:
            async with asyncio.timeout(4 * PATIENCE_SECONDS):
                assert (await source(bearing(secret, engine))).scope.user == "ops"
        finally:
            released.set()
            await busy


async def _key(engine: Engine, role: Role) -> str:
    secret, made = new_secret(), engine.clock.now()
    key = ApiKey(
        id=role, name="counts", tenant="default", user="ops", role=role, secret_hash=hash_of(secret), created_at=made
    )
    await engine.store.system(lambda system: system.add_key(key))
    return secret


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
