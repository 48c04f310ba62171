"""What belongs to a scope beside its memories: settings, themes, tombstones, audit trail and working memory,
in SQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, bindparam, delete, func, or_, select, update

from recollect.model import AuditEvent, Declaration, Page, Scope, SpaceSettings, Status, Theme, Tombstone, WorkingMemory
from recollect.stores.sql.expressions import SCOPE, adding, fixed, member, own, owner, putting
from recollect.stores.sql.ledger import SWITCHES, Ledger
from recollect.stores.sql.session import Row, Session
from recollect.stores.sql.tables import audit_events, memories, sessions, spaces, themes, tombstones, working_memories
from recollect.stores.sql.types import Names

_NEIGHBOURS = (
    select(spaces.c.space, spaces.c.shared_tags)
    .where(
        spaces.c.tenant_id == bindparam("tenant_id"),
        spaces.c.user_id == bindparam("user_id"),
        spaces.c.space != bindparam("space"),
        spaces.c.memory_enabled,
        spaces.c.shared_tags != bindparam("none", type_=Names()),
    )
    .order_by(spaces.c.space)
)
_SAVE_SETTINGS = update(spaces).where(own(spaces)).values({name: bindparam(name) for name in SWITCHES})

_CARRIED = (
    select(memories.c.theme, func.count().label("count"))
    .where(own(memories), memories.c.status == fixed(Status.ACTIVE), memories.c.theme.is_not(None))
    .group_by(memories.c.theme)
    .subquery("carried")
)
_THEME = ("slug", "display_name", "description", "created_at", "updated_at")
_COUNT = func.coalesce(_CARRIED.c.count, 0)
_THEMES = (
    select(*(themes.c[name] for name in _THEME), _COUNT)
    .outerjoin_from(themes, _CARRIED, _CARRIED.c.theme == themes.c.slug)
    .where(own(themes))
    .order_by(_COUNT.desc(), themes.c.slug)
)
_SAVE_THEME = putting(themes)
_DROP_THEME = delete(themes).where(own(themes), themes.c.slug == bindparam("slug"))
_OPEN_THEME = adding(themes).on_conflict_do_nothing()

_NEW_GRAVE = adding(tombstones)
_BURY = _NEW_GRAVE.on_conflict_do_update(
    index_elements=[*SCOPE, "digest"],
    set_={name: _NEW_GRAVE.excluded[name] for name in ("created_at", "expires_at")},
    where=tombstones.c.expires_at < _NEW_GRAVE.excluded.expires_at,
)
_GRAVE = (tombstones.c.digest, tombstones.c.created_at, tombstones.c.expires_at)
_BURIED = select(*_GRAVE).where(
    own(tombstones), tombstones.c.digest == bindparam("digest"), tombstones.c.expires_at > bindparam("at")
)
_OVER = (own(tombstones), tombstones.c.expires_at < bindparam("before"))
_EXHUME = delete(tombstones).where(*_OVER)
_GRAVES = select(func.count()).select_from(tombstones).where(*_OVER)

_STONES = select(*_GRAVE).where(own(tombstones)).order_by(tombstones.c.digest).limit(bindparam("limit"))
_STONES_ON = _STONES.where(tombstones.c.digest > bindparam("after"))

_EVENT = tuple(c.name for c in audit_events.c if c.name not in SCOPE)
_RECORD = adding(audit_events)
_AUDIT = (
    select(*(audit_events.c[name] for name in _EVENT))
    .where(own(audit_events))
    .order_by(audit_events.c.at.desc(), audit_events.c.id.desc())
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_AUDITED = select(func.count()).select_from(audit_events).where(own(audit_events))

_THE_SESSION = and_(
    sessions.c.tenant_id == bindparam("tenant_id"),
    sessions.c.user_id == bindparam("user_id"),
    sessions.c.session == bindparam("session"),
)
_DECLARED = select(sessions.c.space, sessions.c.incognito).where(_THE_SESSION)
_DECLARE = putting(sessions)
_UNDECLARE = delete(sessions).where(_THE_SESSION, or_(sessions.c.space == bindparam("space"), sessions.c.incognito))
_LONG_AGO = (own(sessions), sessions.c.declared_at < bindparam("before"))
_DECLARED_LONG_AGO = select(func.count()).select_from(sessions).where(*_LONG_AGO)
_DROP_DECLARED = delete(sessions).where(*_LONG_AGO)

_SAID = ("session", "incognito", "declared_at")
_SAYINGS = (
    select(*(sessions.c[name] for name in _SAID))
    .where(own(sessions))
    .order_by(sessions.c.session)
    .limit(bindparam("limit"))
)
_SAYINGS_ON = _SAYINGS.where(sessions.c.session > bindparam("after"))
_KEEP_SAID = adding(sessions).on_conflict_do_nothing()

_WORKING = tuple(c.name for c in working_memories.c if c.name not in SCOPE)
_WORKING_COLUMNS = tuple(working_memories.c[name] for name in _WORKING)
_GET_WORKING = select(*_WORKING_COLUMNS).where(
    own(working_memories), working_memories.c.session_id == bindparam("session_id")
)
_SAVE_WORKING = putting(working_memories)
_DROP_WORKING = delete(working_memories).where(own(working_memories), member(working_memories.c.session_id, "ids"))
_WORKINGS = (
    select(*_WORKING_COLUMNS)
    .where(own(working_memories))
    .order_by(working_memories.c.session_id)
    .limit(bindparam("limit"))
)
_WORKINGS_ON = _WORKINGS.where(working_memories.c.session_id > bindparam("after"))
_IDLE = (
    select(*_WORKING_COLUMNS)
    .where(own(working_memories), working_memories.c.updated_at < bindparam("before"))
    .order_by(working_memories.c.updated_at, working_memories.c.session_id)
    .limit(bindparam("limit"))
)


class SqlSpace:
    """`ports.Space` over a SQL session."""

    def __init__(self, session: Session, scope: Scope, ledger: Ledger) -> None:
        self._session = session
        self._owner = owner(scope)
        self._ledger = ledger

    def settings(self) -> SpaceSettings:
        return self._ledger.settings

    def save_settings(self, settings: SpaceSettings) -> None:
        params = {**self._owner, **asdict(settings)}
        if not self._session.run(_SAVE_SETTINGS, params):  # the scope was erased earlier in this transaction
            self._ledger.hold()
            self._session.run(_SAVE_SETTINGS, params)
        self._ledger.set(settings)

    def themes(self) -> Sequence[Theme]:
        rows = self._session.rows(_THEMES, self._owner)
        return [Theme(**dict(zip((*_THEME, "count"), row, strict=True))) for row in rows]

    def save_theme(self, theme: Theme) -> None:
        self._session.run(_SAVE_THEME, self._theme_row(theme))

    def open_theme(self, theme: Theme) -> None:
        self._session.send(_OPEN_THEME, [self._theme_row(theme)])

    def drop_theme(self, slug: str) -> None:
        self._session.run(_DROP_THEME, {**self._owner, "slug": slug})

    def bury(self, tombstones: Sequence[Tombstone]) -> None:
        self._session.run_many(_BURY, [{**self._owner, **asdict(tombstone)} for tombstone in tombstones])

    def buried(self, digest: str, at: datetime) -> Tombstone | None:
        row = self._session.row(_BURIED, {**self._owner, "digest": digest, "at": at})
        return None if row is None else Tombstone(digest=row[0], created_at=row[1], expires_at=row[2])

    def exhume(self, before: datetime) -> int:
        return self._session.run(_EXHUME, {**self._owner, "before": before})

    def graves(self, before: datetime) -> int:
        return int(self._session.rows(_GRAVES, {**self._owner, "before": before})[0][0])

    def tombstones(self, after: str | None, limit: int) -> Sequence[Tombstone]:
        rows = self._page(_STONES, _STONES_ON, after, limit)
        return [Tombstone(digest=row[0], created_at=row[1], expires_at=row[2]) for row in rows]

    def record(self, event: AuditEvent) -> None:
        row: dict[str, Any] = {name: getattr(event, name) for name in _EVENT}
        self._session.send(_RECORD, [{**self._owner, **row, "facts": dict(event.facts)}])

    def audit(self, limit: int, offset: int) -> Page[AuditEvent]:
        total = self._session.rows(_AUDITED, self._owner)[0][0]
        rows = self._session.rows(_AUDIT, {**self._owner, "limit": limit, "offset": offset})
        items = tuple(AuditEvent(**dict(zip(_EVENT, row, strict=True))) for row in rows)
        return Page(items=items, total=total, limit=limit, offset=offset)

    def known(self) -> bool:
        return self._ledger.known

    def incognito(self, session: str) -> bool | None:
        said = {space: bool(yes) for space, yes in self._session.rows(_DECLARED, {**self._owner, "session": session})}
        return True if True in said.values() else said.get(self._owner["space"])

    def declare_incognito(self, session: str, incognito: bool | None, at: datetime) -> None:
        params = {**self._owner, "session": session}
        self._session.run(_UNDECLARE, params)
        if incognito is not None:
            self._session.run(_DECLARE, {**params, "incognito": incognito, "declared_at": at})

    def declared(self, before: datetime) -> int:
        return int(self._session.rows(_DECLARED_LONG_AGO, {**self._owner, "before": before})[0][0])

    def drop_declared(self, before: datetime) -> int:
        return self._session.run(_DROP_DECLARED, {**self._owner, "before": before})

    def declarations(self, after: str | None, limit: int) -> Sequence[Declaration]:
        rows = self._page(_SAYINGS, _SAYINGS_ON, after, limit)
        return [Declaration(session=row[0], incognito=bool(row[1]), declared_at=row[2]) for row in rows]

    def keep_declarations(self, declarations: Sequence[Declaration]) -> None:
        self._session.run_many(_KEEP_SAID, [{**self._owner, **asdict(each)} for each in declarations])

    def sharing(self) -> Mapping[str, tuple[str, ...]]:
        return dict(self._session.rows(_NEIGHBOURS, {**self._owner, "none": ()}))

    def working(self, session_id: str) -> WorkingMemory | None:
        row = self._session.row(_GET_WORKING, {**self._owner, "session_id": session_id})
        return None if row is None else _working(row)

    def save_working(self, working: WorkingMemory) -> None:
        row: dict[str, Any] = {name: getattr(working, name) for name in _WORKING}
        variables = dict(working.context_variables)
        self._session.run(_SAVE_WORKING, {**self._owner, **row, "context_variables": variables})

    def drop_working(self, session_ids: Iterable[str]) -> int:
        return self._session.run(_DROP_WORKING, {**self._owner, "ids": [*session_ids]})

    def workings(self, after: str | None, limit: int) -> Sequence[WorkingMemory]:
        return [_working(row) for row in self._page(_WORKINGS, _WORKINGS_ON, after, limit)]

    def idle_working(self, before: datetime, limit: int) -> Sequence[WorkingMemory]:
        rows = self._session.rows(_IDLE, {**self._owner, "before": before, "limit": limit})
        return [_working(row) for row in rows]

    def _page(self, first: Select[Any], further: Select[Any], after: str | None, limit: int) -> Sequence[Row]:
        params = {**self._owner, "limit": limit}
        if after is None:
            return self._session.rows(first, params)
        return self._session.rows(further, {**params, "after": after})

    def _theme_row(self, theme: Theme) -> dict[str, Any]:
        return {**self._owner, **{name: getattr(theme, name) for name in _THEME}}


def _working(row: Row) -> WorkingMemory:
    return WorkingMemory(**dict(zip(_WORKING, row, strict=True)))
