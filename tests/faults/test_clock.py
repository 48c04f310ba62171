"""A clock that jumps back: hours repeat, nothing is lost, and nothing forgotten returns."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from recollect.engine import Engine, EngineConfig
from recollect.engine.embedding import embed
from recollect.engine.embedding.generations import Generations
from recollect.model import EmbeddingState, Generation, Listing, Query, Scope
from recollect.policy.backoff import LONGEST
from recollect.ports import Embedder, Tx
from recollect.testing import ReferenceStore
from recollect.testing.embedder import HashEmbedder
from recollect.worker import jobs
from recollect.worker.embedded import Round
from tests.api.homes import Home, engine_over, open_store
from tests.faults.soundness import assert_sound

ANA = Scope("acme", "ana")
DAY = timedelta(days=1)


class WildClock:
    """Goes where it is set, backwards too, as a machine's clock does when it is corrected."""

    def __init__(self) -> None:
        self.time = datetime(2025, 6, 1, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


async def _none(_: Generation) -> Embedder | None:
    return None


async def open_engine(home: Home, clock: WildClock) -> Engine:
    return engine_over(await open_store(home), clock)


async def test_a_clock_that_jumps_back_loses_nothing(home: Home) -> None:
    clock = WildClock()
    engine = await open_engine(home, clock)
    ids: list[str] = []
    for jump in (DAY, -30 * DAY, 60 * DAY, -3650 * DAY, timedelta(seconds=-1)):
        clock.time += jump
        receipt = await engine.remember(ANA, {"content": f"note{len(ids)} about the harbour"})
        assert receipt.outcome == "stored"
        assert receipt.id is not None
        ids.append(receipt.id)
        await engine.add_turns(ANA, "talk", [{"role": "user", "content": f"said{len(ids)} at the harbour"}])
        await engine.flush(ANA, 120)
        hits = await engine.recall(ANA, Query(text="harbour", limit=50))
        assert len(hits) == 2 * len(ids), "all that was stored so far, whatever the clock said then"
    page = await engine.list(ANA, Listing())
    assert {memory.id for memory in page} == set(ids)
    states = home.rows("SELECT DISTINCT state FROM embeddings")
    assert states == [(EmbeddingState.READY.value,)]
    history = await engine.store.read(ANA, lambda tx: tx.conversations.history("talk", 99))
    assert [message.content for message in history] == [f"said{number} at the harbour" for number in range(1, 6)]
    await engine.close()
    assert_sound(home)


async def test_forgetting_and_revising_hold_while_the_clock_jumps(home: Home) -> None:
    clock = WildClock()
    engine = await open_engine(home, clock)
    secret = await engine.remember(ANA, {"content": "the safe is behind the mirror"})
    keyed = await engine.remember(ANA, {"content": "the boat is blue", "key": "boat"})
    await engine.forget(ANA, [secret.id or ""])
    clock.time -= DAY
    again = await engine.remember(ANA, {"content": "The safe is  behind the mirror"})
    assert (again.outcome, again.reason) == ("refused", "tombstone")
    newer = await engine.remember(ANA, {"content": "the boat is green", "key": "boat"})
    assert (newer.outcome, newer.replaces) == ("superseded", keyed.id)
    revised = await engine.revise(ANA, newer.id or "", {"content": "the boat is dark green"})
    assert revised.created_at <= revised.updated_at
    (hit,) = await engine.recall(ANA, Query(text="boat", min_relevance=0.3))
    assert hit.content == "the boat is dark green"
    await engine.close()
    assert_sound(home)


async def test_nobody_waits_until_a_clock_that_was_put_back_catches_up(home: Home) -> None:
    """Texts were queued and claimed by a clock that ran ahead, and whoever claimed them died: they are due, not in a day."""
    clock = WildClock()
    engine = await open_engine(home, clock)
    for number in range(6):
        await engine.remember(ANA, {"content": f"note{number} about the red sky"})
    generation = (await engine.generations.to_fill())[0]
    lease = engine.config.lease
    await engine.store.write(ANA, lambda tx: tx.embeddings.claim(generation, clock.now(), lease, 2))
    clock.time -= DAY
    found = await engine.recall(ANA, Query(text="red sky"))
    assert len(found) == 6, "by their words"
    assert (await embed.drain(engine)).embedded == 6
    assert home.rows("SELECT DISTINCT state FROM embeddings") == [("ready",)]
    await engine.close()


async def test_nothing_is_embedded_twice_because_a_clock_was_put_back() -> None:
    clock, store = WildClock(), ReferenceStore()
    engine = Engine(store, clock, EngineConfig(), Generations(store, clock, HashEmbedder(), _none))
    for number in range(engine.config.embed_batch):
        await engine.remember(ANA, {"content": f"note{number} about the red sky"})
    await engine.remember(replace(ANA, user="bo"), {"content": "one note about the sea"})
    clock.time -= DAY
    assert (await embed.drain(engine)).embedded == engine.config.embed_batch + 1


async def test_one_text_that_is_tried_again_holds_up_nobody_whom_a_clock_put_off() -> None:
    """What a clock that ran ahead has put off is due, whatever else is to come; also where something new has come meanwhile."""
    clock, store = WildClock(), ReferenceStore()
    engine = Engine(store, clock, EngineConfig(), Generations(store, clock, HashEmbedder(), _none))
    for scope in (ANA, replace(ANA, user="bo")):
        for number in range(3):
            await engine.remember(scope, {"content": f"note{number} about the red sky"})
    clock.time -= DAY
    generation = (await engine.generations.to_fill())[0]
    await engine.remember(ANA, {"content": "something new"})
    troubled = replace(ANA, user="cy")
    await engine.remember(troubled, {"content": "one that fails"})
    now, retry_at = clock.now(), clock.now() + LONGEST

    def fail(tx: Tx) -> None:
        jobs = tx.embeddings.claim(generation, now, engine.config.lease, 9)
        assert [job.content for job in jobs] == ["one that fails"]
        tx.embeddings.fail(jobs, "away", retry_at, now)

    await store.write(troubled, fail)
    assert (await embed.drain(engine)).embedded == 7
    assert await store.system(lambda system: system.next_due()) == retry_at, "and it is left its time"


async def test_what_is_claimed_or_put_off_by_this_clock_is_left_alone(home: Home) -> None:
    clock = WildClock()
    engine = await open_engine(home, clock)
    await engine.remember(ANA, {"content": "the sky was red"})
    generation = (await engine.generations.to_fill())[0]
    longest = max(engine.config.lease, LONGEST)
    await engine.store.write(ANA, lambda tx: tx.embeddings.claim(generation, clock.now(), longest, 1))
    assert not (await embed.drain(engine)).worked
    clock.time -= longest
    assert not (await embed.drain(engine)).worked, "as much as a clock is put back by in good order"
    clock.time += 2 * longest
    assert (await embed.drain(engine)).embedded == 1
    await engine.close()


async def test_rounds_and_pauses_are_not_put_off_by_a_clock_that_is_put_back() -> None:
    clock = WildClock()
    engine = Engine(ReferenceStore(), clock, EngineConfig(), Generations(ReferenceStore(), clock, None, _none))
    round = Round("sessions", timedelta(minutes=5), jobs.look_after_sessions)
    assert await round.is_due(engine)
    assert not await round.is_due(engine)
    clock.time -= DAY
    assert await round.is_due(engine)
    assert not await round.is_due(engine)
