"""What ties memories to each other and to replies, in SQL: tellings, flags, the slots that memories fill, and uses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields

from sqlalchemy import bindparam, delete, func, or_, select, tuple_

from recollect.model import Flag, Repeat, Scope, Status, Use
from recollect.stores.sql.expressions import adding, fixed, member, own, owner, putting
from recollect.stores.sql.ledger import Ledger
from recollect.stores.sql.session import Row, Session
from recollect.stores.sql.tables import flags, memories, messages, repeats, slots, uses

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
    .subquery()
)
# One look-up by key for each: as a join, Postgres would rather read all that somebody with a thousand memories has.
_SINCE = (
    select(memories.c.created_at)
    .where(own(memories), memories.c.id == _FILLED.c.memory_id, memories.c.status == fixed(Status.ACTIVE))
    .scalar_subquery()
)
_STATING = select(_FILLED.c.memory_id, _SINCE)
_MOST_FILLED = 64

_USE = tuple(each.name for each in fields(Use))
_NOTE = adding(uses).on_conflict_do_nothing()
_USES = (
    select(*(uses.c[name] for name in _USE))
    .where(own(uses), uses.c.memory_id == bindparam("memory_id"))
    .order_by(uses.c.at.desc(), uses.c.message_id.desc())
    .limit(bindparam("limit"))
)
_USED_BY = (
    select(*(uses.c[name] for name in _USE))
    .where(own(uses), member(uses.c.message_id, "ids"))
    .order_by(uses.c.message_id, uses.c.reference)
)
_SCAN = (
    select(*(uses.c[name] for name in _USE))
    .where(own(uses))
    .order_by(uses.c.memory_id, uses.c.message_id)
    .limit(bindparam("limit"))
)
_SCAN_ON = _SCAN.where(
    tuple_(uses.c.memory_id, uses.c.message_id) > tuple_(bindparam("memory_id"), bindparam("message_id"))
)

OF_THE_DOOMED = (
    delete(repeats).where(own(repeats), member(repeats.c.memory_id, "ids")),
    delete(flags).where(own(flags), _EITHER),
    delete(slots).where(own(slots), member(slots.c.memory_id, "ids")),
    delete(uses).where(own(uses), member(uses.c.memory_id, "ids")),
)
"""What goes with memories that are deleted."""

OF_THE_UNSAID = delete(uses).where(own(uses), member(uses.c.message_id, "ids"))
"""What goes with messages that are deleted."""

OF_THE_ENDED = delete(uses).where(
    own(uses), uses.c.message_id.in_(select(messages.c.id).where(own(messages), member(messages.c.session_id, "ids")))
)
"""What goes with conversations that are deleted."""


class SqlLinks:
    """`ports.Links` over a SQL session."""

    def __init__(self, session: Session, scope: Scope, ledger: Ledger) -> None:
        self._session = session
        self._owner = owner(scope)
        self._ledger = ledger

    def keep(self, repeat: Repeat) -> None:
        row = {name: getattr(repeat, name) for name in _REPEAT}
        self._session.send(_KEEP, [{**self._owner, **row, "fields": dict(repeat.fields)}])

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
        self._session.send(_NEW_FLAG, [{**self._owner, **asdict(each)} for each in flags])

    def flagged(self, memory_ids: Iterable[str]) -> Sequence[Flag]:
        return [_flag(row) for row in self._session.rows(_FLAGGED, {**self._owner, "ids": [*memory_ids]})]

    def all_flags(self, limit: int) -> Sequence[Flag]:
        return [_flag(row) for row in self._session.rows(_ALL_FLAGS, {**self._owner, "limit": limit})]

    def unflag(self, flags: Iterable[Flag]) -> int:
        pairs = [{**self._owner, "memory_id": each.memory_id, "other_id": each.other_id} for each in flags]
        return sum(self._session.run(_UNFLAG, pair) for pair in pairs)

    def state(self, memory_id: str, slots: Iterable[str]) -> None:
        if memory_id in self._ledger.unfiled:
            self._ledger.unfiled.discard(memory_id)
        else:
            self._session.send(_EMPTY, [{**self._owner, "memory_id": memory_id}])
        rows = [{**self._owner, "slot": slot, "memory_id": memory_id} for slot in dict.fromkeys(slots)]
        if rows:
            self._session.send(_FILL, rows)

    def stating(self, slots: Iterable[str], limit: int) -> Sequence[str]:
        wanted = [*slots]
        params = {**self._owner, "slots": wanted, "most": max(limit, _MOST_FILLED)}
        rows = self._session.rows(_STATING, params) if wanted else ()
        newest = sorted({(at, id) for id, at in rows if at is not None}, reverse=True)
        return [id for _, id in newest[:limit]]

    def use(self, uses: Sequence[Use]) -> None:
        self._session.run_many(_NOTE, [{**self._owner, **asdict(each)} for each in uses])

    def uses(self, memory_id: str, limit: int) -> Sequence[Use]:
        return self._used(self._session.rows(_USES, {**self._owner, "memory_id": memory_id, "limit": limit}))

    def used_by(self, message_ids: Iterable[str]) -> Sequence[Use]:
        return self._used(self._session.rows(_USED_BY, {**self._owner, "ids": [*message_ids]}))

    def scan_uses(self, after: Use | None, limit: int) -> Sequence[Use]:
        if after is None:
            return self._used(self._session.rows(_SCAN, {**self._owner, "limit": limit}))
        place = {"memory_id": after.memory_id, "message_id": after.message_id}
        return self._used(self._session.rows(_SCAN_ON, {**self._owner, **place, "limit": limit}))

    @staticmethod
    def _used(rows: Sequence[Row]) -> Sequence[Use]:
        return [Use(**dict(zip(_USE, row, strict=True))) for row in rows]


def _repeat(row: Row) -> Repeat:
    return Repeat(**dict(zip(_REPEAT, row, strict=True)))


def _flag(row: Row) -> Flag:
    return Flag(**dict(zip(_FLAG, row, strict=True)))
