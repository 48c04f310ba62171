"""Embedding work: queued with the text's hash, claimed under a lease, settled only while the text is the same."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from recollect.model import Backlog, EmbeddingJob, EmbeddingState, EmbeddingStatus, Target
from recollect.ports import Store, Tx, Vector
from tests.contract.samples import (
    ANA,
    LEASE,
    T0,
    at,
    converse,
    dense,
    digest,
    embed,
    entry,
    found_ids,
    memory,
    message,
    of,
    remember,
    shelve,
    unit,
)

A, B, SAID = Target("memory", "a"), Target("memory", "b"), Target("message", "said")
EAST = unit(1, 0, 0)


async def prepared(store: Store) -> Store:
    """Two memories and a message, indexed and queued in that order, a minute apart."""
    await remember(store, ANA, memory("a", "text of a"), memory("b", "text of b"))
    await converse(store, ANA, message("said"))
    await store.write(ANA, lambda tx: tx.index.put([entry("a"), entry("b"), entry("said", kind="message")]))
    for minute, target in enumerate((A, B, SAID)):
        await queue(store, target, f"hash of {target.id}", at(minute))
    return store


async def queue(store: Store, target: Target, hash: str, when: datetime, generation: str = "g1") -> None:
    await store.write(ANA, lambda tx: tx.embeddings.queue({target: hash}, generation, when))


async def claim(store: Store, when: datetime, limit: int = 10, generation: str = "g1") -> Sequence[EmbeddingJob]:
    return await store.write(ANA, lambda tx: tx.embeddings.claim(generation, when, LEASE, limit))


async def test_what_is_put_off_farther_than_anything_ever_is_can_be_claimed(vector_store: Store) -> None:
    """Not so what is due soon: somebody may be at it."""
    store = await prepared(vector_store)
    jobs = await store.write(ANA, lambda tx: tx.embeddings.claim("g1", at(0), LEASE, 9, ahead=at(1)))
    assert [job.target for job in jobs] == [A, SAID]
    assert await store.write(ANA, lambda tx: tx.embeddings.claim("g1", at(0), LEASE, 9, ahead=at(20))) == []


async def settle(store: Store, jobs: Sequence[EmbeddingJob], when: datetime = T0) -> int:
    return await store.write(ANA, lambda tx: tx.embeddings.settle([(job, EAST) for job in jobs], when))


async def fail(
    store: Store, jobs: Sequence[EmbeddingJob], retry_at: datetime | None, error: str = "it is down"
) -> None:
    await store.write(ANA, lambda tx: tx.embeddings.fail(jobs, error, retry_at, at(5)))


async def status(store: Store, target: Target = A, generation: str = "g1") -> EmbeddingStatus | None:
    return (await store.read(ANA, lambda tx: tx.embeddings.status([target], generation))).get(target)


async def state(store: Store, target: Target = A) -> EmbeddingState | None:
    found = await status(store, target)
    return None if found is None else found.state


async def test_what_is_queued_is_pending(vector_store: Store) -> None:
    store = await prepared(vector_store)
    expected = EmbeddingStatus(target=A, generation="g1", state=EmbeddingState.PENDING, updated_at=T0)
    assert await status(store) == expected
    assert await status(store, Target("message", "a")) is None
    assert await status(store, generation="g2") is None
    assert await store.read(ANA, lambda tx: tx.embeddings.status([], "g1")) == {}


async def test_a_job_carries_all_a_provider_needs(vector_store: Store) -> None:
    jobs = await claim(await prepared(vector_store), at(2))
    assert jobs[0] == EmbeddingJob(
        space=ANA.space,
        target=A,
        generation="g1",
        content="text of a",
        content_hash="hash of a",
        attempts=0,
        queued_at=at(0),
    )
    assert jobs[2].content == "text of said"


async def test_due_work_is_claimed_oldest_first_up_to_the_limit(vector_store: Store) -> None:
    store = await prepared(vector_store)
    assert [job.target for job in await claim(store, at(1))] == [A, B]
    assert [job.target for job in await claim(store, at(9), limit=1)] == [SAID]
    assert await claim(store, at(3), generation="g2") == []


async def test_what_is_claimed_is_not_claimed_again_before_its_lease_ends(vector_store: Store) -> None:
    store = await prepared(vector_store)
    first = await claim(store, at(2))
    assert len(first) == 3
    assert list(await claim(store, at(2))) == []
    assert list(await claim(store, at(2) + LEASE * 0.99)) == []
    assert list(await claim(store, at(2) + LEASE)) == list(first)


async def test_settled_vectors_are_ready_and_searchable(vector_store: Store) -> None:
    store = await prepared(vector_store)
    assert await settle(store, await claim(store, at(2)), at(4)) == 3
    expected = EmbeddingStatus(target=A, generation="g1", state=EmbeddingState.READY, updated_at=at(4))
    assert await status(store) == expected
    assert set(found_ids(await dense(store, ANA, EAST))) == {"a", "b", "said"}
    assert list(await claim(store, at(1000))) == []


async def test_vectors_that_are_made_can_be_taken_along(vector_store: Store) -> None:
    store = await prepared(vector_store)
    await settle(store, await claim(store, at(1)))
    made = await store.read(ANA, lambda tx: tx.embeddings.ready([A, B, SAID], "g1"))
    assert {target: vector.tolist() for target, vector in made.items()} == {A: EAST.tolist(), B: EAST.tolist()}
    assert await store.read(ANA, lambda tx: tx.embeddings.ready([A], "g2")) == {}


async def test_a_vector_of_text_that_changed_meanwhile_is_not_stored(vector_store: Store) -> None:
    store = await prepared(vector_store)
    stale = await claim(store, at(0))
    await queue(store, A, "new hash", at(1))
    assert await settle(store, stale) == 0
    assert await state(store) is EmbeddingState.PENDING
    assert list(await dense(store, ANA, EAST)) == []
    fresh = await claim(store, at(1), limit=9)
    assert "new hash" in [job.content_hash for job in fresh]
    assert await settle(store, fresh) == 2


async def test_a_settlement_that_stores_nothing_leaves_the_revision(vector_store: Store) -> None:
    store = await prepared(vector_store)
    stale = await claim(store, at(0))
    await queue(store, A, "new hash", at(1))
    before = await store.read(ANA, lambda tx: tx.index.changes(0, None, 0).revision)
    await settle(store, stale)
    await settle(store, [])
    assert await store.read(ANA, lambda tx: tx.index.changes(0, None, 0).revision) == before


async def test_a_vector_of_a_dropped_target_is_not_stored(vector_store: Store) -> None:
    store = await prepared(vector_store)
    jobs = await claim(store, at(0))
    await store.write(ANA, lambda tx: tx.embeddings.drop([A]))
    assert await settle(store, jobs) == 0
    assert await status(store) is None


async def test_work_whose_target_is_gone_is_given_up(vector_store: Store) -> None:
    store = await prepared(vector_store)
    await store.write(ANA, lambda tx: tx.memories.delete(["a"]))
    await store.write(ANA, lambda tx: tx.conversations.delete_messages(["said"]))
    assert [job.target for job in await claim(store, at(2))] == [B]
    assert await store.read(ANA, lambda tx: tx.embeddings.backlog("g1").pending) == 1


async def test_the_same_hash_queued_again_leaves_a_ready_vector(vector_store: Store) -> None:
    store = await prepared(vector_store)
    await settle(store, await claim(store, at(0)), at(3))
    before = await status(store)
    await queue(store, A, "hash of a", at(7))
    assert await status(store) == before
    assert A not in [job.target for job in await claim(store, at(9))]


async def test_another_hash_starts_over(vector_store: Store) -> None:
    store = await prepared(vector_store)
    await fail(store, await claim(store, at(0)), at(6))
    await queue(store, A, "new hash", at(7))
    expected = EmbeddingStatus(target=A, generation="g1", state=EmbeddingState.PENDING, updated_at=at(7))
    assert await status(store) == expected


async def test_the_same_hash_queued_again_revives_what_failed(vector_store: Store) -> None:
    store = await prepared(vector_store)
    await fail(store, await claim(store, at(0)), None)
    await queue(store, A, "hash of a", at(7))
    assert await state(store) is EmbeddingState.PENDING
    assert A in [job.target for job in await claim(store, at(7))]


async def test_a_failure_is_told_and_retried_when_due(vector_store: Store) -> None:
    store = await prepared(vector_store)
    await fail(store, await claim(store, at(0)), at(60), "x" * 2000)
    found = await status(store)
    assert found is not None
    assert (found.state, found.attempts, found.updated_at) == (EmbeddingState.ERROR, 1, at(5))
    assert found.error == "x" * 500
    assert A not in [job.target for job in await claim(store, at(59))]
    retry = [job for job in await claim(store, at(60)) if job.target == A]
    assert [job.attempts for job in retry] == [1]
    await fail(store, retry, at(61))
    found = await status(store)
    assert found is not None
    assert found.attempts == 2
    assert await settle(store, [job for job in await claim(store, at(99)) if job.target == A]) == 1
    found = await status(store)
    assert found is not None
    assert (found.state, found.error) == (EmbeddingState.READY, None)


async def test_a_failure_without_retry_is_final(vector_store: Store) -> None:
    store = await prepared(vector_store)
    await fail(store, await claim(store, at(2)), None)
    assert list(await claim(store, at(100_000))) == []
    assert await store.system(lambda system: system.next_due()) is None


async def test_a_late_failure_undoes_nothing(vector_store: Store) -> None:
    """The lease ran out, another worker was faster, or the text has changed: this failure is nobody's any more."""
    store = await prepared(vector_store)
    slow = await claim(store, at(0))
    quick = [job for job in await claim(store, at(0) + LEASE) if job.target == A]
    assert await settle(store, quick) == 1
    await fail(store, slow, None)
    assert await state(store) is EmbeddingState.READY
    assert "a" in found_ids(await dense(store, ANA, EAST))
    await queue(store, A, "new hash", at(20))
    await fail(store, slow, None)
    assert await state(store) is EmbeddingState.PENDING
    assert "new hash" in [job.content_hash for job in await claim(store, at(20))]


async def test_enqueue_missing_takes_entries_without_a_row(vector_store: Store) -> None:
    store = await prepared(vector_store)
    await shelve(store, ANA, entry("c"), entry("d"))

    async def enqueue(limit: int, generation: str = "g1") -> int:
        return await store.write(ANA, lambda tx: tx.embeddings.enqueue_missing(generation, at(3), limit))

    assert [await enqueue(1), await enqueue(10), await enqueue(10)] == [1, 1, 0]
    assert await enqueue(10, "g2") == 5
    jobs = await claim(store, at(3), generation="g2")
    assert {job.target.id for job in jobs} == {"a", "b", "c", "d", "said"}
    assert {job.content for job in jobs if job.target == A} == {"text of a"}
    assert await settle(store, jobs) == 5


async def test_what_was_enqueued_as_missing_goes_stale_like_anything_else(vector_store: Store) -> None:
    store = vector_store
    await shelve(store, ANA, entry("a"))
    await store.write(ANA, lambda tx: tx.embeddings.enqueue_missing("g1", T0, 9))
    stale = await claim(store, T0)
    await queue(store, A, digest("changed"), at(1))
    assert await settle(store, stale) == 0


async def test_the_backlog_counts_by_state(vector_store: Store) -> None:
    store = await prepared(vector_store)

    async def backlog() -> Backlog:
        return await store.read(ANA, lambda tx: tx.embeddings.backlog("g1"))

    assert await backlog() == Backlog(pending=3, error=0, oldest=T0)
    jobs = await claim(store, at(2))
    assert (await backlog()).pending == 3
    await fail(store, jobs[:1], at(60))
    await settle(store, jobs[1:2])
    found = await backlog()
    assert (found.pending, found.error) == (1, 1)
    assert found.oldest is not None
    await settle(store, jobs)
    assert await backlog() == Backlog()
    assert await store.read(ANA, lambda tx: tx.embeddings.backlog("g2")) == Backlog()


async def test_drop_removes_every_generation_of_a_target(vector_store: Store) -> None:
    store = await prepared(vector_store)
    await queue(store, A, "hash of a", T0, "g2")
    await settle(store, await claim(store, T0))
    assert await store.write(ANA, lambda tx: tx.embeddings.drop([A, *of("message", "a")])) == 2
    assert [await status(store, A, each) for each in ("g1", "g2")] == [None, None]
    assert await state(store, B) is EmbeddingState.PENDING
    assert await store.write(ANA, lambda tx: tx.embeddings.drop([])) == 0
    assert list(await dense(store, ANA, EAST)) == []


async def test_any_finite_vector_comes_back_within_half_precision(vector_store: Store) -> None:
    store = vector_store
    await shelve(store, ANA, entry("a"))
    for vector in (unit(1, -1e-3, 0.3), unit(-0.57, 0.57, 0.59), unit(0, 0, -1)):

        def work(tx: Tx, vector: Vector = vector) -> int:
            tx.embeddings.drop([A])
            return embed(tx, {A: vector})

        assert await store.write(ANA, work) == 1
        found = await store.read(ANA, lambda tx: tx.index.changes(0, "g1", 9).items[0].vector)
        np.testing.assert_allclose(np.asarray(found, np.float32), vector, atol=1e-3)


async def test_a_message_is_embedded_by_what_it_is_found_by(store: Store) -> None:
    await converse(store, ANA, message("said", content="In 2024: 12.", searchable="Question: how many?"))
    await store.write(ANA, lambda tx: tx.index.put([entry("said", kind="message")]))
    await queue(store, SAID, "hash of said", T0)
    (job,) = await claim(store, at(1))
    assert job.content == "Question: how many?"
