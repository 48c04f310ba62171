"""What is owed to the files: what was removed from tables, and whose bytes are still to leave what the tables are kept in.

A row is written by the transaction that removes something, and goes when a scrub that began afterwards has done its work. So a
debt is as durable as the removal itself: whoever dies between the two leaves it to the next. Rows are only ever added and
deleted: those who forget at once do not wait for each other. They say when and in which tables, never whose or what.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import uuid4

from sqlalchemy import delete, func, select

from recollect.stores.sql.expressions import adding, member
from recollect.stores.sql.session import Session
from recollect.stores.sql.tables import scrubs as table

_OWE = adding(table)
_SINCE = select(func.min(table.c.at))
ALL = select(table.c.id, table.c.tables)
PAY = delete(table).where(member(table.c.id, "ids"))


def owe(session: Session, at: datetime, tables: Collection[str]) -> None:
    session.run(_OWE, {"id": str(uuid4()), "at": at, "tables": tuple(sorted(tables))})


class SqlScrubs:
    """The part of `ports.System` that tells of it."""

    _session: Session

    def scrub_owed(self) -> datetime | None:
        since: datetime | None = self._session.rows(_SINCE, {})[0][0]
        return since
