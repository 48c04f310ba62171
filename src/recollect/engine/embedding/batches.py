"""A batch of texts on its way to vectors: claimed under a lease, embedded together, settled scope by scope.

Texts of several scopes share a call to the model. When a call fails and the model embeds something harmless all the same, one of
the texts is to blame: the batch is halved until that one is alone, and the others have their vectors. A text that is refused is
not tried again; one that keeps failing alone is given up after so many attempts, with the reason beside it. When the model
answers nothing, nobody is to blame and everything is tried again later.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from math import ceil
from random import Random
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recollect.engine.embedding import elsewhere
from recollect.errors import InvalidInput, RecollectError, Unavailable
from recollect.model import EmbeddingJob, Generation, Scope
from recollect.policy.backoff import LONGEST, delay
from recollect.ports import Embedder, Tx, Vector

if TYPE_CHECKING:
    from recollect.engine import Engine

PROBE = "a text that no model objects to"
OF_THE_LEASE = 0.8
"""How much of a lease may be spent on calls: the rest is for writing down what came of them."""
OUTAGE_LONGEST = timedelta(minutes=2)
"""The longest pause after a failure that is no text's fault."""
_jitter = Random()

Claimed = Sequence[tuple[Scope, EmbeddingJob]]


@dataclass
class Pass:
    """What one pass over the queue did."""

    embedded: int = 0
    failed: int = 0
    scopes: set[Scope] = field(default_factory=set)
    wait_s: float = 0.0
    """Work is due, but the provider may not be asked before so many seconds have passed."""
    outage: bool = False
    """The model answered nothing at all."""

    @property
    def worked(self) -> bool:
        return bool(self.embedded or self.failed)


async def embedded(embedder: Embedder, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
    """The vectors of `texts`, trusted only as far as they are what was asked for."""
    vectors = await embedder.embed(texts, query=query)
    if vectors.shape != (len(texts), embedder.dimensions):
        raise Unavailable(f"the model gave vectors of shape {vectors.shape}, not {(len(texts), embedder.dimensions)}")
    if not np.isfinite(vectors).all():
        raise Unavailable("the model gave vectors that are not numbers")
    return vectors


async def claim(engine: Engine, generation: Generation, scopes: Sequence[Scope]) -> list[tuple[Scope, EmbeddingJob]]:
    """As much of what is due as makes a batch, in equal shares; what some don't need goes to the others."""
    claimed: list[tuple[Scope, EmbeddingJob]] = []
    sharing = list(scopes)
    while sharing and (room := engine.config.embed_batch - len(claimed)) > 0:
        share = ceil(room / len(sharing))
        wanting: list[Scope] = []
        for scope in sharing:
            count = min(share, engine.config.embed_batch - len(claimed))
            jobs = await engine.store.write(scope, partial(_claim, engine, generation.id, count)) if count else ()
            claimed += [(scope, job) for job in jobs]
            if jobs:
                engine.turns.served(scope)
            if count and len(jobs) == count:
                wanting.append(scope)
        sharing = wanting
    return claimed


def ahead_of(engine: Engine, now: datetime) -> datetime:
    """Nothing is ever put off for longer than until then. What seems to be was by a clock that has been put back since, and
    nobody should have to wait until it catches up."""
    return now + 2 * max(engine.config.lease, LONGEST)


def _claim(engine: Engine, generation: str, count: int, tx: Tx) -> Sequence[EmbeddingJob]:
    now = engine.clock.now()
    return tx.embeddings.claim(generation, now, engine.config.lease, count, ahead=ahead_of(engine, now))


class Batch:
    def __init__(self, engine: Engine, embedder: Embedder | None, done: Pass) -> None:
        self._engine = engine
        self._embedder = embedder
        self._done = done
        self._until = time.monotonic() + OF_THE_LEASE * engine.config.lease.total_seconds()

    async def run(self, claimed: Claimed) -> None:
        if self._embedder is None:
            await self._fail(claimed, Unavailable("the model of this generation is not available here"), outage=True)
            return
        try:
            vectors = await self._vectors(self._embedder, [job.content for _, job in claimed])
        except RecollectError as problem:
            await self._sort_out(self._embedder, claimed, problem)
        else:
            await self._settle(claimed, vectors)

    async def _vectors(self, embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
        """Within the lease: what comes later would be somebody else's work by then."""
        try:
            async with asyncio.timeout(max(0.0, self._until - time.monotonic())):
                return await embedded(embedder, texts)
        except TimeoutError:
            raise Unavailable("the model did not answer before the claim on this work ran out") from None

    async def _sort_out(self, embedder: Embedder, claimed: Claimed, problem: RecollectError) -> None:
        """Find out whose fault it is, where that makes a difference."""
        alone = claimed[0][1] if len(claimed) == 1 else None
        last = alone is not None and alone.attempts + 1 >= self._engine.config.embed_attempts
        refused = isinstance(problem, InvalidInput)
        if alone is not None and not (refused or last):
            await self._fail(claimed, problem)
        elif not await self._answers(embedder):
            await self._fail(claimed, problem, outage=True)
        elif alone is not None:
            await self._fail(claimed, problem, for_good=True)
        else:
            middle = len(claimed) // 2
            for half in (claimed[:middle], claimed[middle:]):
                await self.run(half)

    async def _answers(self, embedder: Embedder) -> bool:
        """Whether the model embeds something harmless: otherwise it is its name, address or state that is wrong, not a text."""
        try:
            await self._vectors(embedder, [PROBE])
        except RecollectError:
            return False
        return True

    async def _settle(self, claimed: Claimed, vectors: NDArray[np.float32]) -> None:
        pairs: dict[Scope, list[tuple[EmbeddingJob, Vector]]] = {}
        for (scope, job), vector in zip(claimed, vectors, strict=True):
            pairs.setdefault(scope, []).append((job, vector))
        for scope, its in pairs.items():
            await self._engine.store.write(scope, partial(_write_down, self._engine, its))
            await elsewhere.copy(self._engine, scope, its)
            self._done.embedded += len(its)
            self._done.scopes.add(scope)
        now = self._engine.clock.now()
        waited = [(now - job.queued_at).total_seconds() for _, job in claimed if job.queued_at is not None]
        self._engine.heard("embedded", {"count": len(claimed), "seconds": waited})

    async def _fail(
        self, claimed: Claimed, problem: RecollectError, *, outage: bool = False, for_good: bool = False
    ) -> None:
        """Write down why; due again later, or never when there is no hope for this very text."""
        engine, at = self._engine, self._engine.clock.now()
        asked = min(timedelta(seconds=float(problem.details.get("retry_after_s", 0.0))), LONGEST)
        jobs: dict[Scope, list[EmbeddingJob]] = {}
        for scope, job in claimed:
            jobs.setdefault(scope, []).append(job)
        for scope, its in jobs.items():
            pause = max(delay(job.attempts, _jitter) for job in its)
            again = None if for_good else at + max(min(pause, OUTAGE_LONGEST) if outage else pause, asked)
            await engine.store.write(scope, partial(_note_failure, its, problem.message, again, at))
            self._done.failed += len(its)
            self._done.scopes.add(scope)
        self._done.outage = self._done.outage or outage
        self._done.wait_s = max(self._done.wait_s, asked.total_seconds())
        engine.heard("embedding_failed", {"count": len(claimed), "for_good": for_good})


def _write_down(engine: Engine, pairs: list[tuple[EmbeddingJob, Vector]], tx: Tx) -> int:
    return tx.embeddings.settle(pairs, engine.clock.now())


def _note_failure(jobs: Sequence[EmbeddingJob], reason: str, again: datetime | None, at: datetime, tx: Tx) -> None:
    tx.embeddings.fail(jobs, reason, again, at)
