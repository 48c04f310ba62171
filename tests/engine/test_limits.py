"""Too many questions are answered with what is known already, on either cache; and nothing comes back that shouldn't."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
import redis

from recollect.engine import Engine, EngineConfig
from recollect.engine.recalling.limits import answer_name, counter_name, recall_softly
from recollect.errors import InvalidInput
from recollect.model import Filter, MemoryType, Occasion, Query, Scope
from recollect.ports import Cache, Store
from recollect.providers.caches import MemoryCache
from recollect.providers.caches.breaker import Breaker
from recollect.providers.caches.shared import RedisCache
from recollect.testing.clock import ManualClock
from tests.engine.conftest import ANA, anywhere, engine_over
from tests.services.valkey import ValkeyServer

TEA = Query(text="green tea")
LIMIT = 3


@pytest.fixture(params=["memory", "redis"])
async def cache(request: pytest.FixtureRequest) -> AsyncIterator[Cache]:
    if request.param == "memory":
        cache: Cache = MemoryCache()
    else:
        server: ValkeyServer = request.getfixturevalue("valkey")
        cache = RedisCache(server.url, wait_s=5.0)
    yield cache
    await cache.close()


@pytest.fixture
async def limited(store: Store, cache: Cache) -> Engine:
    engine = engine_over(store, config=EngineConfig(rate_limit=LIMIT))
    engine.cache = cache
    await engine.remember(
        ANA, {"content": "green tea in the morning", "id": "tea", "tags": ["drink"], "theme": "habits"}
    )
    await engine.remember(ANA, {"content": "green tea after lunch", "id": "lunch", "type": "preference"})
    await engine.add_turns(ANA, "s", [{"role": "user", "content": "the green tea is finished", "id": "said"}])
    await engine.flush(ANA)
    return engine


def clock_of(engine: Engine) -> ManualClock:
    assert isinstance(engine.clock, ManualClock)
    return engine.clock


async def used_up(engine: Engine, query: Query = TEA, scope: Scope = ANA) -> list[str]:
    """Ask as often as is allowed; what was found last."""
    for _ in range(LIMIT):
        found = await recall_softly(engine, scope, query)
        assert not found.trace.rate_limited
    return [hit.target.id for hit in found]


async def ids(engine: Engine, query: Query = TEA, scope: Scope = ANA) -> list[str]:
    found = await recall_softly(engine, scope, query)
    assert found.trace.rate_limited
    return [hit.target.id for hit in found]


async def test_beyond_the_limit_the_same_question_gets_the_same_answer(limited: Engine) -> None:
    first = await recall_softly(limited, ANA, TEA)
    assert {"tea", "lunch", "said"} == {hit.target.id for hit in first}
    await used_up_rest(limited)
    again = await recall_softly(limited, ANA, TEA)
    assert again.trace.rate_limited
    assert [(hit.target, hit.relevance, hit.score, hit.signals, hit.content) for hit in again] == [
        (hit.target, hit.relevance, hit.score, hit.signals, hit.content) for hit in first
    ]
    assert again.trace.recipe == first.trace.recipe
    assert "total" in again.trace.timings_ms


async def used_up_rest(engine: Engine) -> None:
    for _ in range(LIMIT - 1):
        await recall_softly(engine, ANA, Query(text="something else"))


async def test_another_question_gets_none(limited: Engine) -> None:
    await used_up(limited)
    for other in (
        Query(text="green tea?"),
        replace(TEA, limit=1),
        replace(TEA, filter=Filter(tags=("drink",))),
        replace(TEA, recipe="longterm"),
        replace(TEA, history=("coffee",)),
    ):
        assert await ids(limited, other) == []


async def test_a_minute_later_all_is_well(limited: Engine, cache: Cache) -> None:
    await used_up(limited)
    assert await ids(limited)
    await cache.drop(counter_name(ANA))  # as its time to live does
    assert not (await recall_softly(limited, ANA, TEA)).trace.rate_limited


async def test_each_user_has_a_limit_of_their_own_over_all_spaces(limited: Engine) -> None:
    await used_up(limited)
    assert await ids(limited, scope=ANA.within("work")) == []
    for other in (Scope("acme", "bo"), Scope("other", "ana"), Scope("default", "ana"), Scope("default", "acme:ana")):
        assert await used_up(limited, scope=other) == []


def test_the_names_of_counters() -> None:
    assert counter_name(Scope("default", "ana")) == "rate_limit:ana"
    assert counter_name(Scope("default", "ana", "work")) == "rate_limit:ana"
    assert counter_name(Scope("acme", "ana")) == "rate_limit:acme:ana"
    assert counter_name(Scope("default", "acme:ana")) != counter_name(Scope("acme", "ana"))
    assert answer_name(ANA, TEA, b"") != answer_name(ANA.within("work"), TEA, b"")
    assert answer_name(ANA, TEA, b"") != answer_name(ANA, TEA, b"pepper")
    assert "tea" not in answer_name(ANA, TEA, b"")


async def test_what_was_forgotten_does_not_come_back(limited: Engine) -> None:
    assert "tea" in await used_up(limited)
    await limited.forget(ANA, ["tea"])
    assert set(await ids(limited)) == {"lunch", "said"}
    await limited.forget_conversation(ANA, "s")
    assert set(await ids(limited)) == {"lunch"}
    await limited.erase_user(ANA.tenant, ANA.user)
    assert await ids(limited) == []


async def test_what_was_changed_does_not_come_back(limited: Engine) -> None:
    await used_up(limited)
    clock_of(limited).advance(timedelta(seconds=1))
    await limited.revise(ANA, "tea", {"content": "the garage code was changed"})
    assert set(await ids(limited)) == {"lunch", "said"}


async def test_what_was_archived_does_not_come_back_and_what_is_new_waits_its_minute(limited: Engine) -> None:
    await used_up(limited)
    await limited.archive(ANA, ["tea"])
    await limited.remember(ANA, {"content": "green tea is sold out", "id": "new"})
    assert set(await ids(limited)) == {"lunch", "said"}, "an earlier answer, as far as it still holds, and no other"


async def test_what_has_expired_or_was_superseded_does_not_come_back(limited: Engine) -> None:
    clock = clock_of(limited)
    await limited.remember(
        ANA, {"content": "green tea for a guest", "id": "guest", "expires_at": clock.now() + timedelta(hours=1)}
    )
    await limited.remember(ANA, {"content": "green tea costs four", "id": "four", "key": "price"})
    assert {"guest", "four"} <= set(await used_up(limited))
    clock.advance(timedelta(hours=2))
    await limited.remember(ANA, {"content": "green tea costs five", "id": "five", "key": "price"})
    assert set(await ids(limited)) == {"tea", "lunch", "said"}


@pytest.mark.parametrize(
    ("filter", "kept"),
    [
        (Filter(tags=("drink",)), "tea"),
        (Filter(themes=("habits",)), "tea"),
        (Filter(types=(MemoryType.PREFERENCE,)), "lunch"),
        (Filter(sessions=("s",)), "said"),
        (Filter(kinds=("message",)), "said"),
    ],
)
@anywhere
async def test_filters_hold(limited: Engine, filter: Filter, kept: str) -> None:
    query = replace(TEA, filter=filter)
    assert await used_up(limited, query) == [kept]
    assert await ids(limited, query) == [kept]


async def test_a_filter_that_no_longer_fits_holds_too(limited: Engine) -> None:
    """Even where the record looks unchanged: the index knows what its tags are now."""
    query = replace(TEA, filter=Filter(tags=("drink",)))
    assert await used_up(limited, query) == ["tea"]
    await limited.revise(ANA, "tea", {"tags": ["hot"]})  # at the very same moment, by this clock
    assert await ids(limited, query) == []


async def test_budgets_hold(limited: Engine) -> None:
    query = replace(TEA, token_budget=7)
    first = await recall_softly(limited, ANA, query)
    await used_up_rest(limited)
    again = await recall_softly(limited, ANA, query)
    assert again.trace.rate_limited
    assert [hit.content for hit in again] == [hit.content for hit in first]
    assert again.trace.token_count == first.trace.token_count <= 7
    assert again.trace.truncated


async def test_mistakes_are_mistakes_and_are_not_counted(limited: Engine) -> None:
    for _ in range(2 * LIMIT):
        with pytest.raises(InvalidInput):
            await recall_softly(limited, ANA, Query(text=" "))
    await used_up(limited)
    with pytest.raises(InvalidInput):
        await recall_softly(limited, ANA, Query(text=" "))


async def test_where_memory_is_off_nothing_is_counted_noted_or_shown(limited: Engine, cache: Cache) -> None:
    await used_up(limited)
    await limited.change_settings(ANA, {"memory_enabled": False})
    found = await recall_softly(limited, ANA, TEA)
    assert (len(found), found.trace.degraded) == (0, ("memory_off",))
    await cache.drop(counter_name(ANA))
    await recall_softly(limited, ANA, Query(text="in the dark"))
    assert await cache.get(counter_name(ANA)) is None
    assert await cache.get(answer_name(ANA, Query(text="in the dark"), b"")) is None


async def test_an_incognito_session_leaves_no_trace_in_the_cache(limited: Engine, cache: Cache) -> None:
    session = await limited.start_incognito(ANA, "hush")
    secretly = limited.on(Occasion(session_id=session))
    found = await recall_softly(secretly, ANA, TEA)
    assert (len(found), found.trace.degraded) == (0, ("incognito",))
    assert await cache.get(counter_name(ANA)) is None
    await used_up(limited)
    assert await ids(limited)
    assert len(await recall_softly(secretly, ANA, TEA)) == 0


async def test_no_limit_and_no_cache_mean_no_limit(store: Store, cache: Cache) -> None:
    unlimited, without = engine_over(store, config=EngineConfig(rate_limit=0)), engine_over(store)
    unlimited.cache = cache
    for engine in (unlimited, without):
        for _ in range(12):
            assert not (await recall_softly(engine, ANA, TEA)).trace.rate_limited
    assert await cache.get(counter_name(ANA)) is None


@pytest.mark.parametrize(
    "harm", [b"", b"{", b"[]", b'{"hits": [[1]], "more": 0}', b'{"hits": [["x","y","z",0,0,{}]], "more": 0}']
)
@anywhere
async def test_a_note_that_came_to_harm_is_none(limited: Engine, cache: Cache, harm: bytes) -> None:
    await used_up(limited)
    name = answer_name(ANA, replace(TEA, filter=Filter(kinds=("memory", "message"))), b"")
    assert await cache.get(name) is not None
    await cache.set(name, harm, 60)
    assert await ids(limited) == []


async def test_what_is_noted_is_of_ids_and_scores_only(store: Store, valkey: ValkeyServer) -> None:
    engine = engine_over(store, config=EngineConfig(rate_limit=LIMIT))
    engine.cache = RedisCache(valkey.url, wait_s=5.0)
    await engine.remember(
        ANA, {"content": "the canary sings", "id": "one", "tags": ["bird"], "key": "pet", "value": "yellow"}
    )
    assert await used_up(engine, Query(text="canary sings")) == ["one"]
    with redis.Redis.from_url(valkey.url, decode_responses=True) as client:
        kept = {name: client.get(name) for name in client.keys("*")}
        assert sorted(name.split(":")[0] for name in kept) == ["rate_limit", "recall"]
        assert 0 < client.ttl("rate_limit:acme:ana") <= 60
    for word in ("canary", "sings", "bird", "pet", "yellow"):
        assert word not in str(kept)
    await engine.cache.close()


async def test_a_server_that_goes_away_limits_nobody(store: Store, private_valkey: ValkeyServer) -> None:
    engine = engine_over(store, config=EngineConfig(rate_limit=LIMIT))
    engine.cache = RedisCache(private_valkey.url, wait_s=5.0, breaker=Breaker(first_s=0.05, longest_s=0.1))
    await engine.remember(ANA, {"content": "green tea in the morning", "id": "tea"})
    await used_up(engine)
    assert await ids(engine) == ["tea"]
    private_valkey.kill()
    for _ in range(20):
        found = await recall_softly(engine, ANA, TEA)
        assert [hit.target.id for hit in found] == ["tea"]
        assert not found.trace.rate_limited
    private_valkey.start()
    for _ in range(5_000):
        if (await recall_softly(engine, ANA, TEA)).trace.rate_limited:
            break
        await asyncio.sleep(0.01)
    assert await ids(engine) == ["tea"]
    await engine.cache.close()
