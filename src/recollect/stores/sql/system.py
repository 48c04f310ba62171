"""What belongs to no user, in SQL: embedding generations, and which scopes have work waiting."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Select, and_, bindparam, delete, func, insert, or_, select, update

from recollect.errors import Conflict, NotFound
from recollect.model import Backlog, EmbeddingState, Generation, GenerationState, Scope
from recollect.stores.sql.access import SqlAccess
from recollect.stores.sql.embeddings import BACKLOG_COLUMNS, backlog_of
from recollect.stores.sql.expressions import SCOPE, fixed, owner
from recollect.stores.sql.looks import SqlLooks
from recollect.stores.sql.scrubs import SqlScrubs
from recollect.stores.sql.session import Session
from recollect.stores.sql.tables import embeddings, generations, spaces

_FIELDS = tuple(c.name for c in generations.c)
_ALL = select(*generations.c).order_by(generations.c.created_at, generations.c.id)
_ADD = insert(generations).values({name: bindparam(name) for name in _FIELDS})
_SET = update(generations).where(generations.c.id == bindparam("id")).values(state=bindparam("state"))
_RETIRE = (
    update(generations)
    .where(generations.c.state == fixed(GenerationState.SERVING), generations.c.id != bindparam("id"))
    .values(state=fixed(GenerationState.RETIRED))
)
_STATE = select(generations.c.state).where(generations.c.id == bindparam("id"))
_DROP = delete(generations).where(generations.c.id == bindparam("id"))
_DROP_VECTORS = delete(embeddings).where(embeddings.c.generation == bindparam("id"))
_SAME_SCOPE = and_(*(embeddings.c[name] == spaces.c[name] for name in SCOPE))
_RESCHEDULE = (
    update(spaces)
    .where(spaces.c.work_due.is_not(None))
    .values(
        work_due=select(func.min(embeddings.c.due_at))
        .where(_SAME_SCOPE, embeddings.c.due_at.is_not(None), embeddings.c.state != fixed(EmbeddingState.READY))
        .correlate(spaces)
        .scalar_subquery()
    )
)

_OWNER = tuple(spaces.c[name] for name in SCOPE)
_BEYOND = or_(
    spaces.c.tenant_id > bindparam("tenant_id"),
    and_(spaces.c.tenant_id == bindparam("tenant_id"), spaces.c.user_id > bindparam("user_id")),
    and_(
        spaces.c.tenant_id == bindparam("tenant_id"),
        spaces.c.user_id == bindparam("user_id"),
        spaces.c.space > bindparam("space"),
    ),
)
_WAITING = (
    select(*_OWNER)
    .where(spaces.c.work_due.is_not(None), spaces.c.work_due <= bindparam("at"), spaces.c.memory_enabled)
    .order_by(spaces.c.work_due, *_OWNER)
    .limit(bindparam("limit"))
)
_AHEAD = (
    select(*_OWNER)
    .where(spaces.c.work_due.is_not(None), spaces.c.work_due > bindparam("ahead"), spaces.c.memory_enabled)
    .order_by(spaces.c.work_due, *_OWNER)
    .limit(bindparam("limit"))
)
_NEXT_DUE = select(func.min(spaces.c.work_due)).where(spaces.c.work_due.is_not(None), spaces.c.memory_enabled)
_BACKLOG = select(*BACKLOG_COLUMNS).where(
    embeddings.c.generation == bindparam("generation"), embeddings.c.state != fixed(EmbeddingState.READY)
)


class SqlSystem(SqlAccess, SqlLooks, SqlScrubs):
    """`ports.System` over a SQL session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def generations(self) -> Sequence[Generation]:
        rows = (dict(zip(_FIELDS, row, strict=True)) for row in self._session.rows(_ALL, {}))
        return [Generation(**{**row, "state": GenerationState(row["state"])}) for row in rows]

    def add_generation(self, generation: Generation) -> None:
        row = {name: getattr(generation, name) for name in _FIELDS}
        self._session.run(_ADD, {**row, "state": generation.state.value})
        if generation.state is GenerationState.SERVING:
            self._session.run(_RETIRE, {"id": generation.id})

    def set_generation(self, id: str, state: GenerationState) -> None:
        if not self._session.run(_SET, {"id": id, "state": state.value}):
            raise NotFound("there is no embedding generation with this id")
        if state is GenerationState.SERVING:
            self._session.run(_RETIRE, {"id": id})

    def drop_generation(self, id: str) -> None:
        state = self._session.row(_STATE, {"id": id})
        if state is not None and state[0] == GenerationState.SERVING:
            raise Conflict("this embedding generation is serving; make another one serve before dropping it")
        self._session.run(_DROP_VECTORS, {"id": id})
        self._session.run(_DROP, {"id": id})
        self._session.run(_RESCHEDULE, {})

    def scopes(
        self, after: Scope | None, limit: int, tenant: str | None = None, user: str | None = None
    ) -> Sequence[Scope]:
        statement = _scopes(after is not None, tenant is not None, user is not None)
        position = {} if after is None else owner(after)
        rows = self._session.rows(statement, {**position, "limit": limit, "tenant": tenant, "user": user})
        return [Scope(*row) for row in rows]

    def waiting(self, at: datetime, limit: int, *, ahead: datetime | None = None) -> Sequence[Scope]:
        found = self._session.rows(_WAITING, {"at": at, "limit": limit})
        if ahead is not None and len(found) < limit:
            found += self._session.rows(_AHEAD, {"ahead": ahead, "limit": limit - len(found)})
        return [Scope(*row) for row in found]

    def next_due(self) -> datetime | None:
        due: datetime | None = self._session.rows(_NEXT_DUE, {})[0][0]
        return due

    def backlog(self, generation: str) -> Backlog:
        return backlog_of(self._session.rows(_BACKLOG, {"generation": generation})[0])


@lru_cache(maxsize=8)
def _scopes(beyond: bool, of_tenant: bool, of_user: bool) -> Select[Any]:
    statement: Select[Any] = select(*_OWNER).order_by(*_OWNER).limit(bindparam("limit"))
    if beyond:
        statement = statement.where(_BEYOND)
    if of_tenant:
        statement = statement.where(spaces.c.tenant_id == bindparam("tenant"))
    if of_user:
        statement = statement.where(spaces.c.user_id == bindparam("user"))
    return statement
