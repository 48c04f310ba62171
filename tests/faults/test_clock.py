"""A clock that jumps back: hours repeat, nothing is lost, and nothing forgotten returns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from recollect.engine import Engine
from recollect.model import EmbeddingState, Listing, Query, Scope
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
        await engine.flush(ANA, 10)
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


async def test_work_claimed_in_the_future_is_not_lost(home: Home) -> None:
    """A worker died holding a lease, and then the clock went back: the work waits, and is done when its time comes."""
    clock = WildClock()
    engine = await open_engine(home, clock)
    receipt = await engine.remember(ANA, {"content": "the sky was red"})
    generation = (await engine.generations.to_fill())[0]
    lease = engine.config.lease
    await engine.store.write(ANA, lambda tx: tx.embeddings.claim(generation, clock.now(), lease, 9))
    clock.time -= DAY
    (hit,) = await engine.recall(ANA, Query(text="red sky"))
    assert hit.target.id == receipt.id
    clock.time += DAY + 2 * lease
    await engine.flush(ANA, 10)
    assert home.rows("SELECT state FROM embeddings") == [("ready",)]
    await engine.close()
