"""embed: the background work. The database is the queue of record; whoever runs this may die at any point.

A batch is claimed under a lease, embedded, and settled only where the content is still what was embedded. What fails is tried
again later, longer apart each time. Texts of several scopes share a call to the model; each scope's rows are written in its own
transaction.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from random import Random
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recollect.errors import InvalidInput, RecollectError, Unavailable
from recollect.model import Backlog, EmbeddingJob, Generation, GenerationState, Scope
from recollect.policy.backoff import delay
from recollect.ports import Embedder, Tx, Vector

if TYPE_CHECKING:
    from recollect.engine import Engine

SCOPES_AT_ONCE = 16
ENQUEUE_AT_ONCE = 500
FLUSH_POLL_SECONDS = 0.02
PROBE = "a text that no model objects to"
_jitter = Random()
GoOn = Callable[[], bool]


def always() -> bool:
    return True


@dataclass
class Pass:
    """What one pass over the queue did."""

    embedded: int = 0
    failed: int = 0
    scopes: set[Scope] = field(default_factory=set)

    @property
    def worked(self) -> bool:
        return bool(self.embedded or self.failed)


async def warm(engine: Engine) -> None:
    """Load the local model before anybody asks; a model that lives elsewhere is sent nothing it wasn't asked."""
    with suppress(RecollectError):
        serving = await engine.generations.serving()
        embedder = await engine.generations.embedder(serving) if serving else None
        if embedder is not None and embedder.provider == "local":
            await embedder.embed(["Good morning"], query=True)


async def embedded(embedder: Embedder, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
    """The vectors of `texts`, trusted only as far as they are what was asked for."""
    vectors = await embedder.embed(texts, query=query)
    if vectors.shape != (len(texts), embedder.dimensions):
        raise Unavailable(f"the model gave vectors of shape {vectors.shape}, not {(len(texts), embedder.dimensions)}")
    if not np.isfinite(vectors).all():
        raise Unavailable("the model gave vectors that are not numbers")
    return vectors


async def run_once(engine: Engine) -> Pass:
    """Claim what is due for up to a batch of scopes, embed it and write it down."""
    done = Pass()
    at = engine.clock.now()
    scopes = await engine.store.system(lambda system: system.waiting(at, SCOPES_AT_ONCE))
    if not scopes:
        return done
    for generation in await engine.generations.alive():
        claimed = await _claim(engine, generation, scopes)
        if claimed:
            await _embed(engine, await engine.generations.embedder(generation), claimed, done)
    return done


async def drain(engine: Engine, progress: Callable[[Pass], None] | None = None, go_on: GoOn = always) -> Pass:
    """Work until nothing is due, or until `go_on` says no."""
    total = Pass()
    while go_on():
        step = await run_once(engine)
        total.embedded += step.embedded
        total.failed += step.failed
        if progress:
            progress(step)
        if not step.worked:
            break
    return total


async def fill(
    engine: Engine, generation: Generation, progress: Callable[[Pass], None] | None = None, go_on: GoOn = always
) -> Backlog:
    """Queue everything a generation still lacks, in every scope, and embed it. Safe to repeat after any interruption."""
    after: Scope | None = None
    while go_on():
        start = after
        scopes = await engine.store.system(lambda system, start=start: system.scopes(start, SCOPES_AT_ONCE))  # type: ignore[misc]
        for scope in scopes:
            while go_on():
                queued = await engine.store.write(scope, partial(_enqueue, engine, generation))
                if not queued:
                    break
                await drain(engine, progress, go_on)
        if len(scopes) < SCOPES_AT_ONCE:
            break
        after = scopes[-1]
    await drain(engine, progress, go_on)
    return await engine.store.system(lambda system: system.backlog(generation.id))


async def reembed(
    engine: Engine,
    embedder: Embedder,
    progress: Callable[[Pass], None] | None = None,
    go_on: GoOn = always,
) -> tuple[Generation, Backlog]:
    """Build a generation with `embedder` while the old one serves, then switch."""
    generation = await engine.generations.start(embedder)
    return generation, await complete(engine, generation, progress, go_on)


async def complete(
    engine: Engine, generation: Generation, progress: Callable[[Pass], None] | None = None, go_on: GoOn = always
) -> Backlog:
    """Fill a generation that was begun, then switch to it; one that was given up meanwhile is left alone.

    Not switched while anything is still to come. A text that the new model refuses for good doesn't hold up the others: it is
    found by its words, and its state says why.
    """
    await engine.generations.refresh()
    if generation.id not in {each.id for each in await engine.generations.alive()}:
        return Backlog()
    backlog = await fill(engine, generation, progress, go_on)
    whole = go_on() and not backlog.pending and not backlog.retrying
    if whole and generation.state is not GenerationState.SERVING:
        await engine.generations.switch(generation.id)
    return backlog


async def clear_away(engine: Engine, go_on: GoOn = always) -> None:
    """Remove generations that no longer serve.

    Not before every process has noticed the switch: until then they write for the old one. What they wrote meanwhile is queued
    for the one that serves.
    """
    if await engine.generations.forgettable():
        serving = await engine.generations.serving()
        if serving is not None:
            await fill(engine, serving, go_on=go_on)
        if go_on():
            await engine.generations.drop_retired()


def _enqueue(engine: Engine, generation: Generation, tx: Tx) -> int:
    return tx.embeddings.enqueue_missing(generation.id, engine.clock.now(), ENQUEUE_AT_ONCE)


async def _claim(
    engine: Engine, generation: Generation, scopes: Sequence[Scope]
) -> dict[Scope, Sequence[EmbeddingJob]]:
    claimed: dict[Scope, Sequence[EmbeddingJob]] = {}
    room = engine.config.embed_batch
    for scope in scopes:
        if room <= 0:
            break
        jobs = await engine.store.write(
            scope,
            lambda tx, room=room: tx.embeddings.claim(  # type: ignore[misc]
                generation.id, engine.clock.now(), engine.config.lease, room
            ),
        )
        if jobs:
            claimed[scope] = jobs
            room -= len(jobs)
    return claimed


async def _embed(
    engine: Engine, embedder: Embedder | None, claimed: dict[Scope, Sequence[EmbeddingJob]], done: Pass
) -> None:
    texts = [job.content for jobs in claimed.values() for job in jobs]
    if embedder is None:
        await _fail(engine, claimed, "the model of this generation is not available here", done)
        return
    try:
        vectors = iter(await embedded(embedder, texts))
    except InvalidInput as problem:
        if not await _answers(embedder):  # Then it is the model's name or address that is wrong, not a text.
            await _fail(engine, claimed, problem.message, done)
        elif len(texts) == 1:
            await _fail(engine, claimed, problem.message, done, for_good=True)
        else:
            # One text the model refuses must not hold up the others: find it by trying each alone.
            for scope, jobs in claimed.items():
                for job in jobs:
                    await _embed(engine, embedder, {scope: [job]}, done)
        return
    except RecollectError as problem:
        await _fail(engine, claimed, problem.message, done)
        return
    for scope, jobs in claimed.items():
        pairs = [(job, next(vectors)) for job in jobs]
        await engine.store.write(scope, partial(_settle, engine, pairs))
        done.embedded += len(pairs)
        done.scopes.add(scope)


def _settle(engine: Engine, pairs: list[tuple[EmbeddingJob, Vector]], tx: Tx) -> int:
    return tx.embeddings.settle(pairs, engine.clock.now())


async def _answers(embedder: Embedder) -> bool:
    """Whether the model embeds something harmless."""
    try:
        await embedded(embedder, [PROBE])
    except RecollectError:
        return False
    return True


async def _fail(
    engine: Engine,
    claimed: dict[Scope, Sequence[EmbeddingJob]],
    reason: str,
    done: Pass,
    *,
    for_good: bool = False,
) -> None:
    """Write down why; due again later, or never when the model refuses this very text."""
    at = engine.clock.now()
    for scope, jobs in claimed.items():
        again = None if for_good else at + max(delay(job.attempts, _jitter) for job in jobs)
        await engine.store.write(scope, partial(_note_failure, jobs, reason, again, at))
        done.failed += len(jobs)
        done.scopes.add(scope)


def _note_failure(jobs: Sequence[EmbeddingJob], reason: str, again: datetime | None, at: datetime, tx: Tx) -> None:
    tx.embeddings.fail(jobs, reason, again, at)


async def flush(engine: Engine, scope: Scope, timeout: float | None = None) -> None:
    """Wait until nothing of this scope is pending in the serving generation, doing the work here if nobody else does.

    What failed and is to be tried again later is not waited for: it would make a caller hang on someone else's outage.
    """
    serving = await engine.generations.serving()
    if serving is None:
        return
    deadline = asyncio.get_running_loop().time() + timeout if timeout is not None else None
    if await engine.generations.embedder(serving) is not None:
        # What was stored while no model was configured has no place in the queue yet.
        while await engine.store.write(scope, partial(_enqueue, engine, serving)):
            pass
    while True:
        step = await run_once(engine)
        backlog = await engine.store.read(scope, lambda tx: tx.embeddings.backlog(serving.id))
        if not backlog.pending:
            return
        if deadline is not None and asyncio.get_running_loop().time() >= deadline:
            raise Unavailable(f"{backlog.pending} embeddings are still pending after {timeout} seconds")
        if not step.worked:
            await asyncio.sleep(FLUSH_POLL_SECONDS)
