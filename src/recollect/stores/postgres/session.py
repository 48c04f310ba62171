"""One transaction on one connection: shared statements compiled for Postgres, and a few written for it.

The transaction opens together with its first statement, in one round trip: BEGIN, the settings row-level security reads, and the
statement travel in one pipeline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import psycopg
from psycopg.rows import TupleRow
from sqlalchemy.sql.base import Executable

from recollect.model import Scope
from recollect.stores.postgres.wire import DIALECT
from recollect.stores.sql.session import Dialect, Params, Row, Session

Connection = psycopg.Connection[TupleRow]

_ENTER = "SELECT set_config('app.tenant_id', %(tenant)s, true), set_config('app.user_id', %(user)s, true)"


class Opening(NamedTuple):
    """How a transaction begins: as whom (nobody, for what belongs to no user), and whether it may write."""

    scope: Scope | None
    writes: bool

    def run(self, connection: Connection) -> None:
        connection.execute("BEGIN" if self.writes else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        tenant, user = (self.scope.tenant, self.scope.user) if self.scope else ("", "")
        connection.execute(_ENTER, {"tenant": tenant, "user": user})


class PostgresSession(Session):
    dialect = DIALECT

    def __init__(self, connection: Connection, opening: Opening, exact_below: int) -> None:
        self.exact_below = exact_below
        self._connection = connection
        self._cursor = connection.cursor(binary=True)
        self._opening: Opening | None = opening

    def rows(self, statement: Executable, params: Params) -> list[Row]:
        prepared = DIALECT.prepare(statement)
        self._execute(prepared.sql, Dialect.bind(prepared, params))
        return Dialect.decode(prepared, self._cursor.fetchall())

    def run(self, statement: Executable, params: Params) -> int:
        prepared = DIALECT.prepare(statement)
        self._execute(prepared.sql, Dialect.bind(prepared, params))
        return self._cursor.rowcount

    def run_many(self, statement: Executable, params: Sequence[Params]) -> None:
        prepared = DIALECT.prepare(statement)
        bound = [Dialect.bind(prepared, each) for each in params]
        if len(bound) == 1:
            self._execute(prepared.sql, bound[0])
        elif bound:
            self._execute_many(prepared.sql, bound)

    def query(self, text: str, params: Params) -> list[Row]:
        """Run a statement in Postgres's own words. Its text is ours; everything of a caller's is a parameter."""
        self._execute(text, params)
        return self._cursor.fetchall()

    def _execute(self, text: str, params: Mapping[str, Any]) -> None:
        if self._opening is None:
            self._cursor.execute(text.encode(), params)
        else:
            with self._connection.pipeline():
                self._open()
                self._cursor.execute(text.encode(), params)

    def _execute_many(self, text: str, params: Sequence[Mapping[str, Any]]) -> None:
        self._open()
        self._cursor.executemany(text.encode(), params)

    def _open(self) -> None:
        if self._opening is not None:
            self._opening.run(self._connection)
            self._opening = None
