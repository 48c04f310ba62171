"""How the server fared in the last day: a row for each minute of each run. Only what belongs to nobody is in it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from operator import attrgetter

from sqlalchemy import BigInteger, and_, bindparam, delete, func, or_, select

from recollect.model import Look
from recollect.stores.sql.expressions import adding
from recollect.stores.sql.session import Session
from recollect.stores.sql.tables import operations as table

_NAMES = ("run", "at", "began", "counts", "levels")
_VALUES = attrgetter(*_NAMES)
_ADD = adding(table)
_KEEP = _ADD.on_conflict_do_update(
    index_elements=["minute", "run"], set_={name: _ADD.excluded[name] for name in ("at", "began", "counts", "levels")}
)
_DROP = delete(table).where(table.c.minute < bindparam("minute"))
_ENDS = (
    select(table.c.run, func.min(table.c.minute).label("first"), func.max(table.c.minute).label("last"))
    .where(table.c.minute >= bindparam("minute"))
    .group_by(table.c.run, table.c.minute // bindparam("step", type_=BigInteger()))
    .subquery()
)
_LOOKS = (
    select(*(table.c[name] for name in _NAMES))
    .join(
        _ENDS,
        and_(table.c.run == _ENDS.c.run, or_(table.c.minute == _ENDS.c.first, table.c.minute == _ENDS.c.last)),
    )
    .order_by(table.c.minute.desc(), table.c.run.desc())
    .limit(bindparam("limit"))
)


class SqlLooks:
    """The part of `ports.System` that remembers how the server fared."""

    _session: Session

    def keep_look(self, look: Look, since: datetime) -> None:
        self._session.run(_DROP, {"minute": _minute(since)})
        row = dict(zip(_NAMES, _VALUES(look), strict=True))
        self._session.run(_KEEP, {**row, "minute": _minute(look.at)})

    def looks(self, since: datetime, step: int, limit: int) -> Sequence[Look]:
        rows = self._session.rows(_LOOKS, {"minute": _minute(since), "step": step, "limit": limit})
        return [Look(**dict(zip(_NAMES, row, strict=True))) for row in reversed(rows)]


def _minute(at: datetime) -> int:
    return int(at.astimezone(UTC).timestamp()) // 60
