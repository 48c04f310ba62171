"""Embeddings: pending until done, tried again when they fail, replaced a generation at a time."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Literal

import pytest

from recollect.engine import Engine, browse
from recollect.engine.embedding import embed
from recollect.engine.embedding.generations import generation_of
from recollect.errors import InvalidInput, Unavailable
from recollect.model import EmbeddingState, GenerationState, Query, Scope, Target
from recollect.ports import Store
from recollect.testing.clock import ManualClock
from recollect.testing.embedder import FaultyEmbedder, HashEmbedder
from tests.engine.conftest import ANA, engine_over


async def state_of(engine: Engine, id: str | None) -> tuple[EmbeddingState, str | None, int]:
    target = Target("memory", id or "")
    status = (await browse.embedding_status(engine, ANA, [target]))[target]
    return status.state, status.error, status.attempts


async def test_pending_then_ready(engine: Engine) -> None:
    receipt = await engine.remember(ANA, {"content": "the sky was red"})
    assert (await state_of(engine, receipt.id))[0] is EmbeddingState.PENDING
    await engine.flush(ANA)
    assert (await state_of(engine, receipt.id))[0] is EmbeddingState.READY


async def test_without_an_embedder_words_still_find(store: Store) -> None:
    engine = engine_over(store)
    engine.generations._configured = None
    receipt = await engine.remember(ANA, {"content": "the sky was red"})
    assert receipt.embedding is EmbeddingState.OFF
    assert (await state_of(engine, receipt.id))[0] is EmbeddingState.OFF
    await engine.flush(ANA)
    found = await engine.recall(ANA, Query(text="red sky"))
    assert [hit.content for hit in found] == ["the sky was red"]
    assert found.trace.generation is None


async def test_a_provider_that_is_down_leaves_error_and_is_tried_again_later(store: Store) -> None:
    clock = ManualClock()
    faulty = FaultyEmbedder(HashEmbedder())
    engine = engine_over(store, faulty, clock=clock)
    receipt = await engine.remember(ANA, {"content": "the sky was red"})
    faulty.fail_with = Unavailable("the embedding server is down")
    await engine.flush(ANA)
    assert await state_of(engine, receipt.id) == (EmbeddingState.ERROR, "the embedding server is down", 1)
    found = await engine.recall(ANA, Query(text="red sky"))
    assert [hit.content for hit in found] == ["the sky was red"]
    assert found.trace.degraded == ("dense",)
    assert not (await embed.run_once(engine)).worked, "not before its time"
    clock.advance(timedelta(seconds=5))
    assert (await embed.run_once(engine)).failed == 1
    faulty.fail_with = None
    clock.advance(timedelta(minutes=1))
    assert (await embed.run_once(engine)).embedded == 1
    assert (await state_of(engine, receipt.id))[0] is EmbeddingState.READY


class Picky(HashEmbedder):
    """Refuses one word, and everything when `wrong`."""

    wrong = False

    async def embed(self, texts, *, query=False):  # type: ignore[no-untyped-def]
        if self.wrong or any("poison" in text for text in texts):
            raise InvalidInput("the model refuses this text")
        return await super().embed(texts, query=query)


async def test_a_model_that_refuses_everything_is_asked_again_later(store: Store) -> None:
    clock, picky = ManualClock(), Picky()
    engine = engine_over(store, picky, clock=clock)
    for number in range(3):
        await engine.remember(ANA, {"content": f"bread {number}"})
    picky.wrong = True
    assert (await embed.run_once(engine)).failed == 3
    picky.wrong = False
    clock.advance(timedelta(minutes=1))
    assert (await embed.run_once(engine)).embedded == 3


async def test_a_refused_text_does_not_hold_up_a_change_of_model(store: Store) -> None:
    engine = engine_over(store, HashEmbedder(64))
    for text in ("bread and butter", "poison"):
        await engine.remember(ANA, {"content": text})
    await engine.flush(ANA)
    generation, backlog = await embed.reembed(engine, Picky(96))
    assert (backlog.pending, backlog.error) == (0, 1)
    serving = await engine.generations.serving()
    assert serving is not None
    assert serving.id == generation.id
    assert [hit.content for hit in await engine.recall(ANA, Query(text="poison"))] == ["poison"]


async def test_one_poisonous_text_does_not_hold_up_the_others(store: Store) -> None:
    engine = engine_over(store, Picky())
    good = await engine.remember(ANA, {"content": "bread and butter"})
    bad = await engine.remember(ANA, {"content": "poison"})
    await engine.flush(ANA)
    assert (await state_of(engine, good.id))[0] is EmbeddingState.READY
    assert (await state_of(engine, bad.id))[:2] == (EmbeddingState.ERROR, "the model refuses this text")


async def test_text_changed_while_it_was_embedded_keeps_only_the_new_vector(store: Store) -> None:
    class Slow(HashEmbedder):
        def __init__(self) -> None:
            super().__init__()
            self.reached, self.go = asyncio.Event(), asyncio.Event()

        async def embed(self, texts, *, query=False):  # type: ignore[no-untyped-def]
            self.reached.set()
            await self.go.wait()
            return await super().embed(texts, query=query)

    slow = Slow()
    engine = engine_over(store, slow)
    receipt = await engine.remember(ANA, {"content": "old words entirely"})
    running = asyncio.create_task(embed.run_once(engine))
    await slow.reached.wait()
    await engine.revise(ANA, receipt.id or "", {"content": "fresh text instead"})
    slow.go.set()
    await running
    assert (await state_of(engine, receipt.id))[0] is EmbeddingState.PENDING
    await engine.flush(ANA)
    (hit,) = await engine.recall(ANA, Query(text="fresh text instead"))
    assert hit.relevance > 0.9


async def test_changing_the_model_builds_beside_the_old_and_switches_at_once(store: Store) -> None:
    old = engine_over(store, HashEmbedder(64))
    scopes = (ANA, Scope("acme", "bo"), ANA.within("work"))
    for scope in scopes:
        for number in range(30):
            await old.remember(scope, {"content": f"note {number} about the harbour"})
        await old.flush(scope)
    wide = HashEmbedder(96)
    steps: list[int] = []
    generation, backlog = await embed.reembed(old, wide, lambda step: steps.append(step.embedded))
    assert (generation.id, backlog.pending, backlog.error) == (generation_of(wide), 0, 0)
    assert sum(steps) == 90
    serving = await old.generations.serving()
    assert serving is not None
    assert serving.id == generation_of(wide)
    for scope in scopes:
        found = await old.recall(scope, Query(text="the harbour", limit=50))
        assert len(found) == 30
        assert found.trace.generation == generation_of(wide)
    states = {each.id: each.state for each in await store.system(lambda system: system.generations())}
    assert states == {
        generation_of(HashEmbedder(64)): GenerationState.RETIRED,
        generation_of(wide): GenerationState.SERVING,
    }, "the old one stays until everybody has noticed"


async def test_an_interrupted_change_of_model_goes_on_where_it_stopped(store: Store) -> None:
    engine = engine_over(store, HashEmbedder(64))
    for number in range(150):
        await engine.remember(ANA, {"content": f"note {number} about the harbour"})
    await engine.flush(ANA)

    class Killed(Exception):
        pass

    def stop(step: embed.Pass) -> None:
        raise Killed

    with pytest.raises(Killed):
        await embed.reembed(engine, HashEmbedder(96), stop)
    assert (await engine.recall(ANA, Query(text="harbour"))).trace.generation == generation_of(HashEmbedder(64))
    steps: list[int] = []
    await embed.reembed(engine, HashEmbedder(96), lambda step: steps.append(step.embedded))
    assert 0 < sum(steps) < 150, "what was done before is not done again"
    assert (await engine.recall(ANA, Query(text="harbour"))).trace.generation == generation_of(HashEmbedder(96))


async def test_text_stored_while_a_generation_builds_is_in_both(store: Store) -> None:
    engine = engine_over(store, HashEmbedder(64))
    await engine.remember(ANA, {"content": "stored first"})
    await engine.generations.start(HashEmbedder(96))
    await engine.remember(ANA, {"content": "stored meanwhile"})
    assert len(await engine.generations.to_fill()) == 2
    await embed.drain(engine)
    _, backlog = await embed.reembed(engine, HashEmbedder(96))
    assert backlog.pending == 0
    assert len(await engine.recall(ANA, Query(text="stored"))) == 2


@pytest.mark.parametrize("fault", ["nan", "count", "dimension"])
async def test_a_provider_that_returns_rubbish_stores_nothing(
    store: Store, fault: Literal["nan", "count", "dimension"]
) -> None:
    engine = engine_over(store, FaultyEmbedder(HashEmbedder(), fault=fault))
    receipt = await engine.remember(ANA, {"content": "the sky was red"})
    await engine.flush(ANA)
    assert (await state_of(engine, receipt.id))[0] is EmbeddingState.ERROR
    assert [hit.content for hit in await engine.recall(ANA, Query(text="red sky"))] == ["the sky was red"]
