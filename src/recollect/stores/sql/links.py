"""What ties memories to each other, in SQL: tellings, flags and the slots that memories fill."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields

from sqlalchemy import bindparam, delete, func, or_, select

from recollect.model import Flag, Repeat, Scope, Status
from recollect.stores.sql.expressions import adding, fixed, member, own, owner, putting
from recollect.stores.sql.session import Row, Session
from recollect.stores.sql.tables import flags, memories, repeats, slots

_REPEAT = tuple(each.name for each in fields(Repeat))
_REPEATS = (
    select(*(repeats.c[name] for name in _REPEAT))
    .where(own(repeats), member(repeats.c.memory_id, "ids"))
    .order_by(repeats.c.memory_id, repeats.c.place, repeats.c.id)
)
_FROM = (
    select(*(repeats.c[name] for name in _REPEAT))
    .where(own(repeats), member(repeats.c.source_message_id, "ids"))
    .order_by(repeats.c.memory_id, repeats.c.place, repeats.c.id)
)
_KEEP = putting(repeats)
_LAST = select(func.max(repeats.c.place)).where(own(repeats), repeats.c.memory_id == bindparam("memory_id"))
_DROP = delete(repeats).where(own(repeats), repeats.c.memory_id == bindparam("memory_id"), member(repeats.c.id, "ids"))

_FLAG = tuple(each.name for each in fields(Flag))
_NEW_FLAG = adding(flags).on_conflict_do_nothing()
_EITHER = or_(member(flags.c.memory_id, "ids"), member(flags.c.other_id, "ids"))
_FLAGGED = (
    select(*(flags.c[name] for name in _FLAG))
    .where(own(flags), _EITHER)
    .order_by(flags.c.at, flags.c.memory_id, flags.c.other_id)
)
_ALL_FLAGS = (
    select(*(flags.c[name] for name in _FLAG))
    .where(own(flags))
    .order_by(flags.c.at.desc(), flags.c.memory_id.desc(), flags.c.other_id.desc())
    .limit(bindparam("limit"))
)
_UNFLAG = delete(flags).where(
    own(flags), flags.c.memory_id == bindparam("memory_id"), flags.c.other_id == bindparam("other_id")
)

_FILL = adding(slots).on_conflict_do_nothing()
_EMPTY = delete(slots).where(own(slots), slots.c.memory_id == bindparam("memory_id"))
# Bounded before memories are looked at, and put in order afterwards: told to do both, a planner would walk all memories from the
# newest on and ask of each whether it is one of these. Ids grow with time, so the last of them are the newest but for imports.
_FILLED = (
    select(slots.c.memory_id)
    .where(own(slots), member(slots.c.slot, "slots"))
    .order_by(slots.c.memory_id.desc())
    .limit(bindparam("most"))
)
_STATING = select(memories.c.id, memories.c.created_at).where(
    own(memories), memories.c.id.in_(_FILLED), memories.c.status == fixed(Status.ACTIVE)
)
_MOST_FILLED = 64

OF_THE_DOOMED = (
    delete(repeats).where(own(repeats), member(repeats.c.memory_id, "ids")),
    delete(flags).where(own(flags), _EITHER),
    delete(slots).where(own(slots), member(slots.c.memory_id, "ids")),
)
"""What goes with memories that are deleted."""


class SqlLinks:
    """`ports.Links` over a SQL session."""

    def __init__(self, session: Session, scope: Scope) -> None:
        self._session = session
        self._owner = owner(scope)

    def keep(self, repeat: Repeat) -> None:
        row = {name: getattr(repeat, name) for name in _REPEAT}
        self._session.run(_KEEP, {**self._owner, **row, "fields": dict(repeat.fields)})

    def last_place(self, memory_id: str) -> int | None:
        found = self._session.row(_LAST, {**self._owner, "memory_id": memory_id})
        return found[0] if found else None

    def repeats(self, memory_ids: Iterable[str]) -> Sequence[Repeat]:
        return [_repeat(row) for row in self._session.rows(_REPEATS, {**self._owner, "ids": [*memory_ids]})]

    def repeats_from(self, message_ids: Iterable[str]) -> Sequence[Repeat]:
        return [_repeat(row) for row in self._session.rows(_FROM, {**self._owner, "ids": [*message_ids]})]

    def drop(self, memory_id: str, repeat_ids: Iterable[str]) -> int:
        return self._session.run(_DROP, {**self._owner, "memory_id": memory_id, "ids": [*repeat_ids]})

    def flag(self, flags: Sequence[Flag]) -> None:
        self._session.run_many(_NEW_FLAG, [{**self._owner, **asdict(each)} for each in flags])

    def flagged(self, memory_ids: Iterable[str]) -> Sequence[Flag]:
        return [_flag(row) for row in self._session.rows(_FLAGGED, {**self._owner, "ids": [*memory_ids]})]

    def all_flags(self, limit: int) -> Sequence[Flag]:
        return [_flag(row) for row in self._session.rows(_ALL_FLAGS, {**self._owner, "limit": limit})]

    def unflag(self, flags: Iterable[Flag]) -> int:
        pairs = [{**self._owner, "memory_id": each.memory_id, "other_id": each.other_id} for each in flags]
        return sum(self._session.run(_UNFLAG, pair) for pair in pairs)

    def state(self, memory_id: str, slots: Iterable[str]) -> None:
        self._session.run(_EMPTY, {**self._owner, "memory_id": memory_id})
        rows = [{**self._owner, "slot": slot, "memory_id": memory_id} for slot in dict.fromkeys(slots)]
        if rows:
            self._session.run_many(_FILL, rows)

    def stating(self, slots: Iterable[str], limit: int) -> Sequence[str]:
        wanted = [*slots]
        params = {**self._owner, "slots": wanted, "most": max(limit, _MOST_FILLED)}
        rows = self._session.rows(_STATING, params) if wanted else ()
        newest = sorted(((at, id) for id, at in rows), reverse=True)
        return [id for _, id in newest[:limit]]


def _repeat(row: Row) -> Repeat:
    return Repeat(**dict(zip(_REPEAT, row, strict=True)))


def _flag(row: Row) -> Flag:
    return Flag(**dict(zip(_FLAG, row, strict=True)))
