"""Embedding work of one scope: a queue that is nothing but rows with a time at which they are due."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import blake2b

import numpy as np

from recollect.model import Backlog, EmbeddingJob, EmbeddingState, EmbeddingStatus, Scope, Target
from recollect.ports import Vector
from recollect.testing.reference.index import ReferenceIndex
from recollect.testing.reference.room import Embedding, Room

_ERROR_CHARS = 500
_OPEN = (EmbeddingState.PENDING, EmbeddingState.ERROR)


class ReferenceEmbeddings:
    def __init__(self, room: Room, scope: Scope, index: ReferenceIndex) -> None:
        self._room = room
        self._scope = scope
        self._index = index

    def queue(self, hashes: Mapping[Target, str], generation: str, at: datetime) -> None:
        for target, content_hash in hashes.items():
            row = self._room.embeddings.get((target, generation))
            if row is None or (row.state, row.content_hash) != (EmbeddingState.READY, content_hash):
                self._room.embeddings[target, generation] = Embedding(
                    state=EmbeddingState.PENDING,
                    content_hash=content_hash,
                    due_at=at,
                    queued_at=at,
                    updated_at=at,
                )

    def claim(
        self, generation: str, at: datetime, lease: timedelta, limit: int, *, ahead: datetime | None = None
    ) -> Sequence[EmbeddingJob]:
        waiting = (
            (row.due_at, target)
            for (target, its), row in self._room.embeddings.items()
            if its == generation and row.state in _OPEN and row.due_at is not None
        )
        due = sorted(each for each in waiting if each[0] <= at or (ahead is not None and each[0] > ahead))
        jobs = []
        for _, target in due[:limit]:
            content = self._room.content(target)
            if content is None:
                del self._room.embeddings[target, generation]
                continue
            row = self._room.embeddings[target, generation]
            self._room.embeddings[target, generation] = replace(row, due_at=at + lease)
            jobs.append(
                EmbeddingJob(
                    space=self._scope.space,
                    target=target,
                    generation=generation,
                    content=content,
                    content_hash=row.content_hash,
                    attempts=row.attempts,
                    queued_at=row.queued_at,
                )
            )
        return jobs

    def settle(self, done: Sequence[tuple[EmbeddingJob, Vector]], at: datetime) -> int:
        stored = []
        for job, vector in done:
            row = self._awaited(job)
            if row is not None:
                self._room.embeddings[job.target, job.generation] = replace(
                    row,
                    state=EmbeddingState.READY,
                    vector=np.array(vector, dtype=np.float32),
                    error=None,
                    due_at=None,
                    updated_at=at,
                )
                stored.append(job.target)
        self._index.renew(stored)
        return len(stored)

    def fail(self, jobs: Sequence[EmbeddingJob], error: str, retry_at: datetime | None, at: datetime) -> None:
        for job in jobs:
            row = self._awaited(job)
            if row is not None and row.state is not EmbeddingState.READY:
                self._room.embeddings[job.target, job.generation] = replace(
                    row,
                    state=EmbeddingState.ERROR,
                    attempts=row.attempts + 1,
                    error=error[:_ERROR_CHARS],
                    due_at=retry_at,
                    updated_at=at,
                )

    def status(self, targets: Iterable[Target], generation: str) -> dict[Target, EmbeddingStatus]:
        return {
            target: EmbeddingStatus(
                target=target,
                generation=generation,
                state=row.state,
                attempts=row.attempts,
                error=row.error,
                updated_at=row.updated_at,
            )
            for target in targets
            if (row := self._room.embeddings.get((target, generation))) is not None
        }

    def ready(self, targets: Iterable[Target], generation: str) -> dict[Target, Vector]:
        rows = {target: self._room.embeddings.get((target, generation)) for target in targets}
        return {target: row.vector for target, row in rows.items() if row is not None and row.vector is not None}

    def enqueue_missing(self, generation: str, at: datetime, limit: int) -> int:
        missing = sorted(target for target in self._room.entries if (target, generation) not in self._room.embeddings)[
            :limit
        ]
        self.queue({target: self._hash(target) for target in missing}, generation, at)
        return len(missing)

    def backlog(self, generation: str) -> Backlog:
        waiting = [row for (_, its), row in self._room.embeddings.items() if its == generation and row.state in _OPEN]
        failed = sum(row.state is EmbeddingState.ERROR for row in waiting)
        oldest = min((row.queued_at for row in waiting), default=None)
        retrying = sum(row.state is EmbeddingState.ERROR and row.due_at is not None for row in waiting)
        return Backlog(pending=len(waiting) - failed, error=failed, retrying=retrying, oldest=oldest)

    def drop(self, targets: Iterable[Target]) -> int:
        wanted = set(targets)
        doomed = [key for key in self._room.embeddings if key[0] in wanted]
        for key in doomed:
            del self._room.embeddings[key]
        return len(doomed)

    def _awaited(self, job: EmbeddingJob) -> Embedding | None:
        """The row a job was taken from, unless it is gone or its text has changed since."""
        row = self._room.embeddings.get((job.target, job.generation))
        return row if row is not None and row.content_hash == job.content_hash else None

    def _hash(self, target: Target) -> str:
        known = (row.content_hash for (its, _), row in self._room.embeddings.items() if its == target)
        text = self._room.content(target) or ""
        return next(known, blake2b(text.encode(), digest_size=32).hexdigest())
