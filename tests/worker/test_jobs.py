"""The jobs themselves: what one process leaves, another finds; what is down is left alone; what is owed is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pytest

from recollect.doors.http.measuring import Metrics
from recollect.engine import Engine, EngineConfig
from recollect.engine.conversations.converse import keep_turns
from recollect.engine.embedding import embed
from recollect.engine.embedding.generations import Generations
from recollect.errors import Broken, Unavailable
from recollect.model import Backlog, Generation, Listing, Query, Scope
from recollect.ports import Embedder, Store, Tx
from recollect.providers.caches import MemoryCache
from recollect.testing import FaultyEmbedder, HashEmbedder, ReferenceStore
from recollect.testing.clock import ManualClock
from recollect.worker import jobs
from recollect.worker.embedded import Round
from recollect.worker.waking import BACKFILL, EXTRACT, Waker

T = TypeVar("T")
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
ANA, BO = Scope("acme", "ana"), Scope("acme", "bo")


async def _none(_: Generation) -> Embedder | None:
    return None


def engine_at(store: Store, clock: ManualClock, embedder: Embedder | None = None) -> Engine:
    generations = Generations(store, clock, embedder or HashEmbedder(16), _none)
    return Engine(store, clock, EngineConfig(embed_batch=4), generations, MemoryCache())


async def test_a_provider_that_answers_nothing_is_left_alone_for_a_while() -> None:
    clock, faulty = ManualClock(), FaultyEmbedder(HashEmbedder(16))
    engine = engine_at(ReferenceStore(), clock, faulty)
    for number in range(12):
        await engine.remember(ANA, {"content": f"note {number}"})
    backfill = jobs.Backfill(engine)
    faulty.fail_with = Unavailable("nobody there")
    assert await backfill.run() == 0
    asked = faulty.calls
    assert await backfill.run() == 0
    assert faulty.calls == asked, "not even asked"
    assert backfill.resume_at is not None
    assert clock.now() < backfill.resume_at <= clock.now() + jobs.LONGEST_OUTAGE_PAUSE
    faulty.fail_with = None
    clock.advance(timedelta(minutes=3))
    assert await backfill.run() == 12


@pytest.mark.parametrize(
    ("backlog", "since"),
    [
        (Backlog(), None),
        (Backlog(pending=3, oldest=LONG_AGO), LONG_AGO),
        (Backlog(error=2, retrying=2, oldest=LONG_AGO), LONG_AGO),
        (Backlog(error=1, oldest=LONG_AGO), None),
        (Backlog(pending=3, error=1, oldest=LONG_AGO), LONG_AGO + HOUR),
    ],
    ids=["nothing", "pending", "tried again", "given up", "given up, and others pending"],
)
def test_what_was_given_up_waits_for_nobody(backlog: Backlog, since: datetime | None) -> None:
    metrics = Metrics()
    before = datetime.now(UTC)
    metrics.waits(backlog, LONG_AGO + HOUR if backlog.pending else None)
    after = datetime.now(UTC)
    (shown,) = re.findall(r"^recollect_embedding_backlog_age_seconds (\S+)$", metrics.text().decode(), re.MULTILINE)
    least, most = ((at - since).total_seconds() if since else 0.0 for at in (before, after))
    assert least - 1 <= float(shown) <= most + 1


def _value(metrics: Metrics, name: str) -> float:
    return next(float(line.split()[-1]) for line in metrics.text().decode().splitlines() if line.startswith(name + " "))


@pytest.mark.parametrize("recipe", ["native", "recall"])
@pytest.mark.parametrize("exact_below", [0, 1000], ids=["the store's indexes", "the copy at hand"])
async def test_each_leg_of_a_recall_has_its_time(recipe: str, exact_below: int) -> None:
    store, clock, metrics = ReferenceStore(), ManualClock(), Metrics()
    generations = Generations(store, clock, HashEmbedder(16), _none)
    engine = Engine(store, clock, EngineConfig(exact_below=exact_below), generations)
    engine.heard = metrics.heard
    await engine.remember(ANA, {"content": "the ferry is late"})
    await embed.drain(engine)
    found = await engine.recall(ANA, Query(text="ferry", recipe=recipe))
    assert {"embed", "lexical", "dense", "store", "total"} <= set(found.trace.timings_ms)
    for stage in ("lexical", "dense"):
        assert _value(metrics, f'recollect_recall_stage_seconds_count{{stage="{stage}"}}') == 1


def test_a_cache_that_is_away_and_upkeep_that_fails_are_shown() -> None:
    metrics = Metrics()
    metrics.heard("shared_cache", {"answers": False})
    metrics.heard("upkeep_failed", {"outcome": "failed", "count": 1})
    assert _value(metrics, "recollect_redis_away") == 1
    assert _value(metrics, "recollect_upkeep_failures_total") == 1
    metrics.heard("shared_cache", {"answers": True})
    assert _value(metrics, "recollect_redis_away") == 0


async def test_retention_reaches_everybody() -> None:
    clock = ManualClock()
    engine = engine_at(ReferenceStore(), clock)
    soon = clock.now() + timedelta(hours=1)
    for scope in (ANA, BO):
        await engine.remember(scope, {"content": "this week only", "expires_at": soon})
        await engine.remember(scope, {"content": "for good"})
    clock.advance(timedelta(hours=2))
    assert await jobs.tidy_up(engine) == 2
    for scope in (ANA, BO):
        assert [memory.content for memory in await engine.list(scope, Listing())] == ["for good"]
    assert await jobs.tidy_up(engine) == 0


class OneRefused(ReferenceStore):
    """Once it is damaged it reads nothing of BO's."""

    damaged = False

    async def read(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        if self.damaged and scope == BO:
            raise Broken("an entry can't be read")
        return await super().read(scope, work)


async def test_one_who_cannot_be_looked_after_is_counted_and_keeps_nobody_waiting() -> None:
    clock, metrics = ManualClock(), Metrics()
    store = OneRefused()
    engine = engine_at(store, clock)
    engine.heard = metrics.heard
    for scope in (BO, ANA):
        await engine.remember(scope, {"content": "this week only", "expires_at": clock.now() + HOUR})
    store.damaged = True
    clock.advance(2 * HOUR)
    assert await jobs.tidy_up(engine) == 1
    assert _value(metrics, "recollect_upkeep_failures_total") == 1


async def test_turns_another_process_left_unread_are_read() -> None:
    store, clock = ReferenceStore(), ManualClock()
    server, worker = engine_at(store, clock), engine_at(store, clock)
    assert await jobs.look_after_sessions(worker) == 0
    await keep_turns(server, ANA, "s1", [{"role": "user", "content": "I live in Lyon."}], to_read=True)
    assert await jobs.look_after_sessions(worker) == 1
    assert [memory.content for memory in await worker.list(ANA, Listing())] == ["I live in Lyon"]
    assert await jobs.look_after_sessions(worker) == 0


async def test_a_process_that_leaves_the_work_to_others_writes_what_it_noted() -> None:
    clock = ManualClock()
    engine = engine_at(ReferenceStore(), clock)
    receipt = await engine.remember(ANA, {"content": "the ferry is late"})
    await embed.drain(engine)
    await engine.recall(ANA, Query(text="ferry"))

    async def counted() -> int:
        """By the store itself: whoever asks the engine is told of what it has noted, too."""
        found = await engine.store.read(ANA, lambda tx: tx.memories.get([receipt.id or ""]))
        return found[receipt.id or ""].access_count

    assert await counted() == 0
    await jobs.settle_own(engine)
    assert await counted() == 1


async def test_workers_that_share_a_cache_go_one_round_for_all() -> None:
    clock, shared = ManualClock(), MemoryCache()
    engines = [engine_at(ReferenceStore(), clock) for _ in range(3)]
    for engine in engines:
        engine.cache = shared
    rounds = [Round("sessions", timedelta(minutes=5), jobs.look_after_sessions) for _ in engines]
    gone = [await each.is_due(engine) for each, engine in zip(rounds, engines, strict=True)]
    assert gone == [True, False, False]
    assert not await rounds[0].is_due(engines[0]), "not again before it is time"


async def test_a_round_that_was_asked_for_is_left_to_whoever_asks() -> None:
    clock, shared = ManualClock(), MemoryCache()
    asked, other = (engine_at(ReferenceStore(), clock) for _ in range(2))
    asked.cache = other.cache = shared
    here, there = (Round("tidy_up", timedelta(hours=24), jobs.tidy_up) for _ in range(2))
    await here.begun(asked)
    assert not await here.is_due(asked)
    assert not await there.is_due(other)


async def test_a_round_that_broke_off_goes_again_soon() -> None:
    clock = ManualClock()
    engine = engine_at(ReferenceStore(), clock)
    round = Round("tidy_up", timedelta(hours=24), jobs.tidy_up)
    assert await round.is_due(engine)
    await round.broke_off(engine)
    assert not await round.is_due(engine), "whoever is away is given a moment"
    clock.advance(timedelta(minutes=2))
    assert await round.is_due(engine)


async def _woken(send: Callable[..., None]) -> Engine:
    engine = engine_at(ReferenceStore(), ManualClock())
    waker = Waker(send, engine)
    waker.start()
    for number in range(50):
        await engine.remember(ANA, {"content": f"note {number}"})
    engine.sessions.call(ANA, "s1")
    waker.close()
    return engine


async def test_many_writes_are_few_messages_that_hold_no_text() -> None:
    sent: list[tuple[str, dict[str, str]]] = []
    await _woken(lambda name, about: sent.append((name, dict(about))))
    assert 1 <= sum(name == BACKFILL for name, _ in sent) < 50
    assert [about for name, about in sent if name == EXTRACT] == [
        {"tenant": "acme", "user": "ana", "space": "default", "session_id": "s1"}
    ]


async def test_a_broker_that_is_away_costs_a_write_nothing() -> None:
    def send(name: str, about: object) -> None:
        raise ConnectionError("away")

    engine = await _woken(send)
    assert (await engine.list(ANA, Listing())).total == 50
