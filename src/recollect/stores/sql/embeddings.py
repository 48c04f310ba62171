"""The embedding queue of one scope: rows are the queue of record, `due_at` is at once schedule and lease."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any

import numpy as np
from sqlalchemy import and_, bindparam, case, delete, func, literal_column, null, or_, select, update

from recollect.model import Backlog, EmbeddingJob, EmbeddingState, EmbeddingStatus, Scope, Target
from recollect.ports import Vector
from recollect.stores.sql.expressions import SCOPE, adding, fixed, member, own, owner
from recollect.stores.sql.index import by_kind
from recollect.stores.sql.ledger import Ledger
from recollect.stores.sql.session import Row, Session
from recollect.stores.sql.tables import embeddings as table
from recollect.stores.sql.tables import entries, memories, messages

MAX_ERROR_CHARS = 500

_READY = fixed(EmbeddingState.READY)
_UNSETTLED = table.c.state != _READY
_GENERATION = table.c.generation == bindparam("generation")
_ROW = and_(own(table), table.c.kind == bindparam("kind"), table.c.target_id == bindparam("target_id"), _GENERATION)
_OF_KIND = and_(own(table), table.c.kind == bindparam("kind"), member(table.c.target_id, "ids"))

_NEW = adding(table)
_QUEUE = _NEW.on_conflict_do_update(
    index_elements=[*SCOPE, "kind", "target_id", "generation"],
    set_={
        name: _NEW.excluded[name]
        for name in (
            "state",
            "attempts",
            "error",
            "content_hash",
            "due_at",
            "vector",
            "created_at",
            "updated_at",
        )
    },
    where=or_(table.c.state != _READY, table.c.content_hash != _NEW.excluded.content_hash),
)
_WORK = (
    select(table.c.kind, table.c.target_id, table.c.content_hash, table.c.attempts, table.c.created_at)
    .where(own(table), _GENERATION, _UNSETTLED, table.c.due_at.is_not(None))
    .order_by(table.c.due_at, table.c.kind, table.c.target_id)
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True)
)
_DUE = _WORK.where(table.c.due_at <= bindparam("at"))
_AHEAD = _WORK.where(table.c.due_at > bindparam("ahead"))
_LEASE = update(table).where(_OF_KIND, _GENERATION).values(due_at=bindparam("until"))
_ABANDON = delete(table).where(_OF_KIND, _GENERATION)
_CONTENTS = {
    "memory": select(memories.c.id, memories.c.content).where(own(memories), member(memories.c.id, "ids")),
    "message": select(messages.c.id, func.coalesce(messages.c.searchable, messages.c.content)).where(
        own(messages), member(messages.c.id, "ids")
    ),
}
_SETTLE = (
    update(table)
    .where(_ROW, table.c.content_hash == bindparam("expected"))
    .values(state=_READY, error=null(), due_at=null(), vector=bindparam("vector"), updated_at=bindparam("at"))
)
_REVISE = (
    update(entries)
    .where(own(entries), entries.c.kind == bindparam("kind"), member(entries.c.target_id, "ids"))
    .values(revision=bindparam("revision"))
)
_FAIL = (
    update(table)
    .where(_ROW, table.c.content_hash == bindparam("expected"), table.c.state != _READY)
    .values(
        state=fixed(EmbeddingState.ERROR),
        attempts=table.c.attempts + 1,
        error=bindparam("error"),
        due_at=bindparam("retry_at"),
        updated_at=bindparam("at"),
    )
)
_STATUS = select(table.c.target_id, table.c.state, table.c.attempts, table.c.error, table.c.updated_at).where(
    _OF_KIND, _GENERATION
)
_MADE = select(table.c.target_id, table.c.vector).where(_OF_KIND, _GENERATION, table.c.state == _READY)
_SAME_TARGET = and_(own(table), *(table.c[name] == entries.c[name] for name in ("kind", "target_id")))
_MISSING = (
    select(entries.c.kind, entries.c.target_id)
    .where(own(entries), ~select(table.c.state).where(_SAME_TARGET, _GENERATION).offset(literal_column("0")).exists())
    .order_by(entries.c.kind, entries.c.target_id)
    .limit(bindparam("limit"))
)
_HASHES = select(table.c.target_id, table.c.content_hash).where(_OF_KIND, _GENERATION)
_KNOWN = select(table.c.target_id, table.c.content_hash).where(_OF_KIND)
BACKLOG_COLUMNS = (
    func.coalesce(func.sum(case((table.c.state == fixed(EmbeddingState.PENDING), 1), else_=0)), 0),
    func.coalesce(func.sum(case((table.c.state == fixed(EmbeddingState.ERROR), 1), else_=0)), 0),
    func.coalesce(
        func.sum(case((and_(table.c.state == fixed(EmbeddingState.ERROR), table.c.due_at.is_not(None)), 1), else_=0)), 0
    ),
    func.min(table.c.created_at),
)
_BACKLOG = select(*BACKLOG_COLUMNS).where(own(table), _GENERATION, _UNSETTLED)
_DROP = delete(table).where(_OF_KIND)


class SqlEmbeddings:
    """`ports.Embeddings` over a SQL session."""

    def __init__(self, session: Session, scope: Scope, ledger: Ledger) -> None:
        self._session = session
        self._scope = scope
        self._owner = owner(scope)
        self._ledger = ledger

    def queue(self, hashes: Mapping[Target, str], generation: str, at: datetime) -> None:
        if not hashes:
            return
        pending = {
            **self._owner,
            "generation": generation,
            "state": EmbeddingState.PENDING.value,
            "attempts": 0,
            "error": None,
            "due_at": at,
            "vector": None,
            "created_at": at,
            "updated_at": at,
        }
        rows = [
            {**pending, "kind": target.kind, "target_id": target.id, "content_hash": content_hash}
            for target, content_hash in hashes.items()
        ]
        self._session.send(_QUEUE, rows)
        self._ledger.rescheduled()

    def claim(
        self, generation: str, at: datetime, lease: timedelta, limit: int, *, ahead: datetime | None = None
    ) -> Sequence[EmbeddingJob]:
        params = {**self._owner, "generation": generation}
        due = self._session.rows(_DUE, {**params, "at": at, "limit": limit})
        if ahead is not None and len(due) < limit:
            due += self._session.rows(_AHEAD, {**params, "ahead": ahead, "limit": limit - len(due)})
        contents = self._contents(Target(kind, id) for kind, id, *_ in due)
        for kind, ids in by_kind(contents):
            self._session.run(_LEASE, {**params, "kind": kind, "ids": ids, "until": at + lease})
        for kind, ids in by_kind(gone for row in due if (gone := Target(row[0], row[1])) not in contents):
            self._session.run(_ABANDON, {**params, "kind": kind, "ids": ids})
        self._ledger.rescheduled()  # Also when nothing was due: then the scope was named in error, and this corrects it.
        return [
            EmbeddingJob(
                space=self._scope.space,
                target=target,
                generation=generation,
                content=contents[target],
                content_hash=content_hash,
                attempts=attempts,
                queued_at=queued_at,
            )
            for kind, id, content_hash, attempts, queued_at in due
            if (target := Target(kind, id)) in contents
        ]

    def settle(self, done: Sequence[tuple[EmbeddingJob, Vector]], at: datetime) -> int:
        current = self._hashes(job for job, _ in done)
        fresh = [(job, vector) for job, vector in done if current.get((job.target, job.generation)) == job.content_hash]
        self._session.run_many(
            _SETTLE, [{**self._about(job), "vector": _unit(vector), "at": at} for job, vector in fresh]
        )
        settled = [job.target for job, _ in fresh]
        if settled:
            revision = self._ledger.changed()
            for kind, ids in by_kind(settled):
                self._session.run(_REVISE, {**self._owner, "kind": kind, "ids": ids, "revision": revision})
        self._ledger.rescheduled()
        return len(settled)

    def fail(self, jobs: Sequence[EmbeddingJob], error: str, retry_at: datetime | None, at: datetime) -> None:
        outcome = {"error": error[:MAX_ERROR_CHARS], "retry_at": retry_at, "at": at}
        for job in jobs:
            self._session.run(_FAIL, self._about(job) | outcome)
        self._ledger.rescheduled()

    def status(self, targets: Iterable[Target], generation: str) -> dict[Target, EmbeddingStatus]:
        found: dict[Target, EmbeddingStatus] = {}
        for kind, ids in by_kind(targets):
            rows = self._session.rows(_STATUS, {**self._owner, "generation": generation, "kind": kind, "ids": ids})
            for id, state, attempts, error, updated_at in rows:
                found[Target(kind, id)] = EmbeddingStatus(
                    target=Target(kind, id),
                    generation=generation,
                    state=EmbeddingState(state),
                    attempts=attempts,
                    error=error,
                    updated_at=updated_at,
                )
        return found

    def ready(self, targets: Iterable[Target], generation: str) -> dict[Target, Vector]:
        return {
            Target(kind, id): vector
            for kind, ids in by_kind(targets)
            for id, vector in self._session.rows(
                _MADE, {**self._owner, "generation": generation, "kind": kind, "ids": ids}
            )
        }

    def enqueue_missing(self, generation: str, at: datetime, limit: int) -> int:
        rows = self._session.rows(_MISSING, {**self._owner, "generation": generation, "limit": limit})
        missing = [Target(kind, id) for kind, id in rows]
        known = self._known_hashes(missing)
        contents = self._contents(target for target in missing if target not in known)
        hashes = {target: known.get(target) or _hash(contents.get(target, "")) for target in missing}
        self.queue(hashes, generation, at)
        return len(missing)

    def backlog(self, generation: str) -> Backlog:
        return backlog_of(self._session.rows(_BACKLOG, {**self._owner, "generation": generation})[0])

    def drop(self, targets: Iterable[Target]) -> int:
        dropped = sum(
            self._session.run(_DROP, {**self._owner, "kind": kind, "ids": ids}) for kind, ids in by_kind(targets)
        )
        if dropped:
            self._ledger.rescheduled()
        return dropped

    def _contents(self, targets: Iterable[Target]) -> dict[Target, str]:
        return {
            Target(kind, id): content
            for kind, ids in by_kind(targets)
            for id, content in self._session.rows(_CONTENTS[kind], {**self._owner, "ids": ids})
        }

    def _hashes(self, jobs: Iterable[EmbeddingJob]) -> dict[tuple[Target, str], str]:
        """The contents that the queue holds now. The scope is locked, so they stay what they are until the commit."""
        generations: dict[str, list[Target]] = {}
        for job in jobs:
            generations.setdefault(job.generation, []).append(job.target)
        return {
            (Target(kind, id), generation): content_hash
            for generation, targets in generations.items()
            for kind, ids in by_kind(targets)
            for id, content_hash in self._session.rows(
                _HASHES, {**self._owner, "generation": generation, "kind": kind, "ids": ids}
            )
        }

    def _known_hashes(self, targets: Iterable[Target]) -> dict[Target, str]:
        """What the engine said of the same contents for another generation."""
        return {
            Target(kind, id): content_hash
            for kind, ids in by_kind(targets)
            for id, content_hash in self._session.rows(_KNOWN, {**self._owner, "kind": kind, "ids": ids})
        }

    def _about(self, job: EmbeddingJob) -> dict[str, Any]:
        """Parameters that name a job's row, as long as its content is the one that was claimed."""
        return {
            **self._owner,
            "kind": job.target.kind,
            "target_id": job.target.id,
            "generation": job.generation,
            "expected": job.content_hash,
        }


def backlog_of(row: Row) -> Backlog:
    """What `BACKLOG_COLUMNS` say."""
    pending, error, retrying, oldest = row
    return Backlog(pending=int(pending), error=int(error), retrying=int(retrying), oldest=oldest)


def _hash(content: str) -> str:
    """Stands for a content nobody has hashed yet. It need only differ when the content does."""
    return blake2b(content.encode(), digest_size=32).hexdigest()


def _unit(vector: Vector) -> Vector:
    """Length one, so that a product of two vectors is their cosine on every store."""
    length = float(np.linalg.norm(vector))
    return vector if length == 0.0 else (vector / length).astype(np.float32)
