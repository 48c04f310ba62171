"""Keys of our own, on every store: found by their hash, gone within seconds of being revoked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recollect.bootstrap import engine_over, open_store
from recollect.doors.http.auth.bearer_token import STANDS_SECONDS, BearerToken
from recollect.doors.http.auth.key_secrets import PREFIX, hash_of, is_secret, new_secret
from recollect.engine import Engine
from recollect.errors import Unauthenticated, Unavailable
from recollect.model import ApiKey, Scope
from recollect.settings import Settings
from tests.api.homes import Home
from tests.doors.http.requests import asked, bearing

NOW = datetime.now(UTC)


@pytest.fixture
async def engine(home: Home) -> AsyncIterator[Engine]:
    settings = Settings.load({}, store=home.url, data_dir=home.folder / "data", embedder="off", pool_size=2)
    engine = engine_over(await open_store(settings), None, settings)
    yield engine
    await engine.close()


async def key_in(engine: Engine, **changed: Any) -> tuple[str, ApiKey]:
    secret = new_secret()
    made: dict[str, Any] = {
        "id": hash_of(secret)[:12],
        "name": "laptop",
        "tenant": "acme",
        "user": "ana",
        "secret_hash": hash_of(secret),
        "created_at": NOW,
    }
    key = ApiKey(**{**made, **changed})
    await engine.store.system(lambda system: system.add_key(key))
    return secret, key


async def test_a_key_speaks_for_its_user(engine: Engine) -> None:
    secret, key = await key_in(engine, role="admin")
    caller = await BearerToken("default")(bearing(secret, engine))
    assert (caller.scope, caller.role) == (Scope("acme", "ana", "default"), "admin")
    assert caller.actor == f"key:{key.id}"


async def test_its_use_is_noted_now_and_then(engine: Engine) -> None:
    secret, key = await key_in(engine)
    source = BearerToken("default")
    for _ in range(3):
        await source(bearing(secret, engine))
    stored = await engine.store.system(lambda system: system.find_key(key.secret_hash))
    assert stored is not None
    assert stored.last_used_at is not None
    assert abs(stored.last_used_at - datetime.now(UTC)) < timedelta(minutes=1)


async def test_the_store_has_no_secret(engine: Engine) -> None:
    secret, _ = await key_in(engine)
    assert secret.startswith(PREFIX)
    assert secret not in str(await engine.store.system(lambda system: system.keys()))


@pytest.mark.parametrize(
    "changed",
    [{"expires_at": NOW - timedelta(seconds=1)}, {"revoked_at": NOW}, {"revoked_at": NOW - timedelta(days=1)}],
    ids=["expired", "just revoked", "revoked"],
)
async def test_a_key_that_has_ended_opens_nothing(engine: Engine, changed: dict[str, Any]) -> None:
    secret, _ = await key_in(engine, **changed)
    with pytest.raises(Unauthenticated):
        await BearerToken("default")(bearing(secret, engine))


async def test_one_that_ends_later_still_opens(engine: Engine) -> None:
    secret, _ = await key_in(engine, expires_at=datetime.now(UTC) + timedelta(hours=1))
    assert (await BearerToken("default")(bearing(secret, engine))).scope.user == "ana"


async def test_a_revoked_key_stops_within_seconds(engine: Engine) -> None:
    now = [0.0]
    secret, key = await key_in(engine)
    source = BearerToken("default", lambda: now[0])
    await source(bearing(secret, engine))
    await engine.store.system(lambda system: system.revoke_key(key.id, datetime.now(UTC)))
    now[0] = STANDS_SECONDS + 0.1
    with pytest.raises(Unauthenticated):
        await source(bearing(secret, engine))


async def test_where_it_may_outlast_the_store_a_known_key_does_for_a_while(engine: Engine) -> None:
    now = [0.0]
    secret, _ = await key_in(engine)
    lasting, plain = BearerToken("default", lambda: now[0], outlasts_s=60), BearerToken("default", lambda: now[0])
    for source in (lasting, plain):
        await source(bearing(secret, engine))
    await engine.store.close()
    now[0] = STANDS_SECONDS + 1
    assert (await lasting(bearing(secret, engine))).scope.user == "ana"
    with pytest.raises(Unavailable):
        await plain(bearing(secret, engine))
    with pytest.raises(Unavailable):
        await lasting(bearing(new_secret(), engine))
    now[0] = STANDS_SECONDS + 61
    with pytest.raises(Unavailable):
        await lasting(bearing(secret, engine))


@pytest.mark.parametrize(
    "token",
    ["", "rk_", "rk_" + "a" * 42, "rk_" + "a" * 44, "sk_" + "a" * 43, "RK_" + "a" * 43, "rk_" + "a" * 42 + "="],
)
async def test_what_is_no_key_is_not_even_looked_up(token: str) -> None:
    """There is no engine here to look into."""
    assert not is_secret(token)
    with pytest.raises(Unauthenticated):
        await BearerToken("default")(bearing(token))


async def test_an_unknown_or_touched_key_opens_nothing(engine: Engine) -> None:
    secret, key = await key_in(engine)
    other = "A" if secret[-1] != "A" else "B"
    for token in (new_secret(), secret[:-1] + other, secret.swapcase().replace("RK_", "rk_")):
        with pytest.raises(Unauthenticated):
            await BearerToken("default")(bearing(token, engine))
    with pytest.raises(Unauthenticated):
        await BearerToken("default")(bearing(key.secret_hash[:46], engine))


async def test_a_key_in_another_place_is_no_key(engine: Engine) -> None:
    secret, _ = await key_in(engine)
    for header in (("Authorization", f"Basic {secret}"), ("Authorization", secret), ("X-API-Key", secret)):
        with pytest.raises(Unauthenticated):
            await BearerToken("default")(asked(header, engine=engine))
