"""One transaction on one connection: shared statements compiled for Postgres, and a few written for it.

The transaction opens together with its first statement, in one round trip: BEGIN, the settings row-level security reads, and the
statement travel in one pipeline. What is only sent waits for the next statement that is asked something, and travels with it: to
remember something takes a handful of round trips, however many tables it is written to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow
from sqlalchemy import Delete, Insert, Update
from sqlalchemy.sql.base import Executable

from recollect.model import Scope
from recollect.stores.postgres.patience import unhurried
from recollect.stores.postgres.wire import DIALECT
from recollect.stores.sql.session import Dialect, Params, Row, Session
from recollect.stores.sql.tables import spaces

Connection = psycopg.Connection[TupleRow]

SETTINGS = """
SELECT set_config('TimeZone', 'UTC', {local}), set_config('jit', 'off', {local}),
       set_config('statement_timeout', %(statement_ms)s, {local}),
       set_config('idle_in_transaction_session_timeout', '60s', {local})
"""
LOCAL_SETTINGS = SETTINGS.format(local="true").encode()

# How far this server's log has come, seen after the transaction's snapshot was taken: nothing it shows is later than that.
_LSN = (
    "CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END - '0/0'::pg_lsn"
)
_ENTER = "SELECT set_config('app.tenant_id', %(tenant)s, true), set_config('app.user_id', %(user)s, true)"
_ENTER_AT = f"{_ENTER}, ({_LSN})::bigint"
POSITION = f"SELECT ({_LSN})::bigint"


class Opening(NamedTuple):
    """How a transaction begins: as whom (nobody, for what belongs to no user), and whether it may write."""

    scope: Scope | None
    writes: bool
    settings: Mapping[str, str] | None = None
    """What holds for this transaction alone, where the connection under it may be another one each time."""
    spread: bool = False
    """Over the nodes of a Citus cluster: they are told only what comes as SET LOCAL, whose value can't be a parameter."""
    located: Callable[[int], None] | None = None
    """Is told how far the server has come."""

    def run(self, connection: Connection) -> psycopg.Cursor[TupleRow]:
        connection.execute("BEGIN" if self.writes else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        tenant, user = (self.scope.tenant, self.scope.user) if self.scope else ("", "")
        if self.settings is not None:
            connection.execute(LOCAL_SETTINGS, self.settings)
        if self.spread:
            for name, value in (("tenant_id", tenant), ("user_id", user)):
                connection.execute(sql.SQL("SET LOCAL app.{} = {}").format(sql.Identifier(name), sql.Literal(value)))
        return connection.execute((_ENTER_AT if self.located else _ENTER).encode(), {"tenant": tenant, "user": user})


class PostgresSession(Session):
    dialect = DIALECT
    at_once: ClassVar[bool] = False
    """Each statement by itself, for whoever listens to them."""

    def __init__(self, connection: Connection, opening: Opening, exact_below: int) -> None:
        self.exact_below = exact_below
        self._connection = connection
        self._cursor = connection.cursor(binary=True)
        self._opening: Opening | None = opening
        self._held: list[tuple[str, Sequence[Mapping[str, Any]]]] = []
        self.touched: set[str] = set()

    def rows(self, statement: Executable, params: Params) -> list[Row]:
        prepared = DIALECT.prepare(statement)
        self._execute(prepared.sql, Dialect.bind(prepared, params))
        self._touch(statement, prepared.sql, self._cursor.rowcount)
        return Dialect.decode(prepared, self._cursor.fetchall())

    def run(self, statement: Executable, params: Params) -> int:
        prepared = DIALECT.prepare(statement)
        self._execute(prepared.sql, Dialect.bind(prepared, params))
        self._touch(statement, prepared.sql, self._cursor.rowcount)
        return self._cursor.rowcount

    def run_many(self, statement: Executable, params: Sequence[Params]) -> None:
        prepared = DIALECT.prepare(statement)
        bound = [Dialect.bind(prepared, each) for each in params]
        if len(bound) == 1:
            self._execute(prepared.sql, bound[0])
        elif bound:
            self._execute_many(prepared.sql, bound)
        if bound:
            self._touch(statement, prepared.sql, self._cursor.rowcount)

    def send(self, statement: Executable, params: Sequence[Params]) -> None:
        if self.at_once or not params:
            self.run_many(statement, params)
            return
        prepared = DIALECT.prepare(statement)
        self._held.append((prepared.sql, [Dialect.bind(prepared, each) for each in params]))
        self._touch(statement, prepared.sql, len(params))

    def flush(self) -> None:
        if self._held:
            with self._connection.pipeline():
                self._open()

    def query(self, text: str, params: Params) -> list[Row]:
        """Run a statement in Postgres's own words. Its text is ours; everything of a caller's is a parameter."""
        self._execute(text, params)
        return self._cursor.fetchall()

    @contextmanager
    def unhurried(self) -> Iterator[None]:
        """The rest of the transaction may take as long as there are rows."""
        self.query("SELECT set_config('statement_timeout', '0', true)", {})
        with unhurried(self._connection):
            yield

    def _touch(self, statement: Executable, text: str, count: int) -> None:
        """A row that is deleted stays in its table until it is vacuumed, and so does the former self of one that is changed. A
        scope's own row changes with every write and holds no more than whose it is: there only its end counts."""
        if not isinstance(statement, Delete | Update | Insert) or count <= 0:
            return
        replaces = not isinstance(statement, Insert) or " DO UPDATE " in text
        if isinstance(statement, Delete) or (replaces and statement.table is not spaces):
            self.touched.add(str(statement.table))

    def _execute(self, text: str, params: Mapping[str, Any]) -> None:
        if self._opening is None and not self._held:
            self._cursor.execute(text.encode(), params)
            return
        located = self._opening.located if self._opening else None
        with self._connection.pipeline():
            entered = self._open()
            self._cursor.execute(text.encode(), params)
        if located is not None and entered is not None:
            located(entered.fetchall()[0][2])

    def _execute_many(self, text: str, params: Sequence[Mapping[str, Any]]) -> None:
        with self._connection.pipeline():
            self._open()
            self._cursor.executemany(text.encode(), params)

    def _open(self) -> psycopg.Cursor[TupleRow] | None:
        """Begin, if that is still to be done, and send what was held back; within a pipeline nobody waits for either."""
        entered = self._opening.run(self._connection) if self._opening else None
        self._opening = None
        held, self._held = self._held, []
        for text, params in held:
            self._connection.cursor().executemany(text.encode(), params)
        return entered
