"""The queue of texts that wait for a vector: fair between users, patient with providers, unimpressed by one bad text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from recollect.engine import Engine, EngineConfig, browse
from recollect.engine.embedding import embed
from recollect.engine.embedding.fairness import Turns
from recollect.engine.embedding.generations import Generations
from recollect.engine.embedding.pacing import LOOK_AGAIN_SECONDS, Pace
from recollect.errors import RecollectError, Unavailable
from recollect.model import EmbeddingState, Generation, Scope, Target
from recollect.ports import Embedder
from recollect.providers.caches import MemoryCache
from recollect.testing import HashEmbedder, ReferenceStore
from recollect.testing.clock import ManualClock

ANA, BO, CY = (Scope("acme", user) for user in ("ana", "bo", "cy"))


class Watched(HashEmbedder):
    """Counts how often each text was asked for; fails as a whole on any batch with a poisonous text, or altogether."""

    def __init__(self) -> None:
        super().__init__(16)
        self.asked: Counter[str] = Counter()
        self.calls: list[int] = []
        self.trouble: RecollectError | None = None

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        self.calls.append(len(texts))
        self.asked.update(texts)
        if self.trouble is not None:
            raise self.trouble
        if any("poison" in text for text in texts):
            raise Unavailable("the model fell over")
        return await super().embed(texts, query=query)


async def _none(_: Generation) -> Embedder | None:
    return None


def engine_with(embedder: Embedder, **config: int) -> tuple[Engine, ManualClock]:
    store, clock = ReferenceStore(), ManualClock()
    return Engine(store, clock, EngineConfig(**config), Generations(store, clock, embedder, _none)), clock  # type: ignore[arg-type]


async def remembered(engine: Engine, scope: Scope, count: int, word: str = "note") -> list[str]:
    receipts = [
        await engine.remember(scope, {"content": f"{word} {number} of {scope.user}"}) for number in range(count)
    ]
    return [receipt.id or "" for receipt in receipts]


async def states(engine: Engine, scope: Scope, ids: Sequence[str]) -> list[EmbeddingState]:
    status = await browse.embedding_status(engine, scope, [Target("memory", id) for id in ids])
    return [status[Target("memory", id)].state for id in ids]


async def test_a_long_queue_does_not_keep_others_waiting() -> None:
    engine, clock = engine_with(HashEmbedder(16), embed_batch=16)
    many = await remembered(engine, ANA, 200)
    clock.advance(timedelta(seconds=1))
    few = await remembered(engine, BO, 3)
    await embed.run_once(engine)
    assert await states(engine, BO, few) == [EmbeddingState.READY] * 3
    assert (await states(engine, ANA, many)).count(EmbeddingState.READY) == 13, (
        "what others don't need is not left unused"
    )


async def test_everybody_gets_a_turn_even_when_there_are_more_than_fit_a_batch() -> None:
    engine, clock = engine_with(HashEmbedder(16), embed_batch=embed.SCOPES_AT_ONCE)
    crowd = [Scope("acme", f"user{number}") for number in range(3 * embed.SCOPES_AT_ONCE)]
    for scope in crowd:
        await remembered(engine, scope, 5)
        clock.advance(timedelta(seconds=1))
    for _ in range(3):
        await embed.run_once(engine)
    backlogs = [await engine.store.read(scope, lambda tx: tx.embeddings.backlog("hash:hash-16:16")) for scope in crowd]
    assert {backlog.pending for backlog in backlogs} == {4}, "three batches, one text of each"


def test_users_take_turns_and_then_their_spaces() -> None:
    turns = Turns()
    waiting = [ANA, ANA.within("work"), ANA.within("home"), BO, CY]
    assert turns.next(waiting, 4) == [ANA, BO, CY, ANA.within("work")]
    turns.served(ANA)
    turns.served(BO)
    assert turns.next(waiting, 2) == [CY, ANA]


async def test_a_text_that_fells_the_model_is_found_and_given_up() -> None:
    model = Watched()
    engine, clock = engine_with(model, embed_batch=32, embed_attempts=3)
    good = await remembered(engine, ANA, 30)
    (bad,) = await remembered(engine, ANA, 1, "poison")
    others = await remembered(engine, BO, 5)
    await embed.drain(engine)
    assert set(await states(engine, ANA, good) + await states(engine, BO, others)) == {EmbeddingState.READY}
    for attempt in (1, 2, 3):
        status = (await browse.embedding_status(engine, ANA, [Target("memory", bad)]))[Target("memory", bad)]
        assert (status.state, status.attempts, status.error) == (EmbeddingState.ERROR, attempt, "the model fell over")
        clock.advance(timedelta(hours=1))
        await embed.drain(engine)
    asked = model.asked["poison 0 of ana"]
    clock.advance(timedelta(days=30))
    assert not (await embed.run_once(engine)).worked
    assert model.asked["poison 0 of ana"] == asked, "given up for good"


async def test_an_outage_is_no_texts_fault() -> None:
    model = Watched()
    engine, clock = engine_with(model, embed_attempts=2)
    ids = await remembered(engine, ANA, 10)
    await engine.generations.alive()
    model.trouble = Unavailable("nobody there", retry_after_s=600.0)
    for _ in range(6):
        step = await embed.run_once(engine)
        assert (step.failed, step.outage, step.wait_s) == (10, True, 600.0)
        clock.advance(timedelta(seconds=599))
        assert not (await embed.run_once(engine)).worked, "not before the provider said"
        clock.advance(timedelta(seconds=2))
    model.trouble = None
    await embed.drain(engine)
    assert set(await states(engine, ANA, ids)) == {EmbeddingState.READY}


async def test_a_provider_is_asked_no_more_often_than_it_allows() -> None:
    model = Watched()
    engine, _ = engine_with(model, embed_batch=1)
    now = 0.0
    engine.pace = Pace(60, now=lambda: now)
    await remembered(engine, ANA, 20)
    while not (step := await embed.run_once(engine)).wait_s:
        assert step.embedded == 1
    assert len(model.calls) == 5, "five seconds' worth at once"
    assert step.wait_s == pytest.approx(1.0)
    now += 1.0
    assert (await embed.run_once(engine)).embedded == 1
    assert (await embed.run_once(engine)).wait_s == pytest.approx(1.0)


async def test_workers_that_share_a_cache_share_the_limit() -> None:
    shared = MemoryCache()
    paces = [Pace(12, shared) for _ in range(20)]
    allowed = [pace for pace in paces if await pace.wait("openai") == 0.0]
    assert len(allowed) == 12
    assert await Pace(12, shared).wait("openai") == LOOK_AGAIN_SECONDS
    assert await Pace(12, shared).wait("ollama") == 0.0, "another provider, another limit"


async def test_a_single_scope_can_be_asked_for() -> None:
    engine, _ = engine_with(HashEmbedder(16))
    anas, bos = await remembered(engine, ANA, 2), await remembered(engine, BO, 2)
    assert (await embed.run_once(engine, BO)).embedded == 2
    assert await states(engine, BO, bos) == [EmbeddingState.READY] * 2
    assert await states(engine, ANA, anas) == [EmbeddingState.PENDING] * 2
