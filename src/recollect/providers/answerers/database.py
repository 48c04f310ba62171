"""The database that is asked: opened for reading only, each statement bounded in rows and time, and none on the event loop.

The guard decides what may run; this is the second lock, for the day the guard is wrong. On SQLite the file is opened read-only,
`query_only` is on, and SQLite itself asks us about every table and function a statement touches. On Postgres the transaction is
read-only, the statement is prepared (so that there can be only one), and the server ends it when its time is up. On MySQL the
transaction is read-only as well. Elsewhere the guard stands alone: give Recollect an account that may only read.
"""

from __future__ import annotations

import asyncio
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, datetime
from datetime import time as clock_time
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from recollect.errors import InvalidInput, NotAllowed, RecollectError, Unavailable, Unsupported
from recollect.providers.answerers.functions import allowed_functions
from recollect.providers.answerers.reading import read_schema
from recollect.providers.answerers.schema import Schema, folded

DIALECTS = {
    "sqlite": "sqlite",
    "postgresql": "postgres",
    "mysql": "mysql",
    "mariadb": "mysql",
    "mssql": "tsql",
    "oracle": "oracle",
    "duckdb": "duckdb",
}
DRIVERS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
SCHEMA_SECONDS = 300.0
"""How long what was read of the schema is believed."""
THREADS = 4
LONGEST_TEXT = 2_000
LARGEST_VALUE = 1_000_000
LARGEST_RESULT = 8_000_000
"""Characters; a result that goes beyond ends there, and is told as cut."""
PIECE = 25
MOST_DIGITS = 30
"""Beyond these a number is told as text: readers of JSON choke on the longest ones, and infinity has no spelling there."""
STEPS = 5_000
"""Instructions of SQLite between two looks at the clock: well under a millisecond."""

T = TypeVar("T")
Fetched = tuple[tuple[str, ...], list[Any], bool]
"""Columns, rows, and whether more were there than would fit."""


@dataclass(frozen=True)
class Rows:
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool
    seconds: float

    def as_result(self) -> dict[str, Any]:
        return {
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
            "row_count": len(self.rows),
            "truncated": self.truncated,
        }


class Database:
    """`tables` are the only ones it knows of; none named: those of the schema that unqualified names mean."""

    def __init__(self, url: str, tables: Sequence[str] = (), rows: int = 100, timeout_s: float = 10.0) -> None:
        self._url = _address(url)
        self.dialect = DIALECTS[self._url.get_backend_name()]
        self.rows = rows
        self._tables = tuple(tables)
        self._timeout_s = timeout_s
        self._engine = _engine(self._url)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="recollect-data")
        self._schema: Schema | None = None
        self._read_at = 0.0
        self._reading = threading.Lock()

    @property
    def name(self) -> str:
        """What grants call this database."""
        called = self._url.database or ""
        return Path(called).stem if self.dialect == "sqlite" else called

    async def schema(self) -> Schema:
        return await self._on_a_thread(self._current)

    async def run(self, bounded: str, allowed: Schema, rows: int | None = None) -> Rows:
        """What a statement gives that the guard let pass. `InvalidInput` when the database objects to it, in its words."""
        most = self.rows if rows is None else min(rows, self.rows)
        return await self._on_a_thread(lambda: self._read(bounded, allowed, most))

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._engine.dispose()

    async def _on_a_thread(self, work: Callable[[], T]) -> T:
        """Who waits for a thread as long as a statement may run is told to come back, and the statement never runs."""
        submitted = self._threads.submit(work)
        running = asyncio.wrap_future(submitted)
        try:
            await asyncio.wait([running], timeout=self._timeout_s)
            if not running.done() and submitted.cancel():
                raise Unavailable("too many questions wait for the data chat's database", retry_after_s=self._timeout_s)
            return await running
        except asyncio.CancelledError:
            running.cancel()
            raise

    def _current(self) -> Schema:
        with self._reading:
            if self._schema is None or time.monotonic() - self._read_at > SCHEMA_SECONDS:
                self._schema = self._look()
                self._read_at = time.monotonic()
            return self._schema

    def _look(self) -> Schema:
        try:
            with self._engine.connect() as connection:
                self._lock(connection)
                return read_schema(connection, self._tables, self.name)
        except SQLAlchemyError as problem:
            raise Unavailable(f"the database of the data chat can't be read ({type(problem).__name__})") from None

    def _read(self, bounded: str, allowed: Schema, most: int) -> Rows:
        began = time.monotonic()
        try:
            connection = self._engine.connect()
        except SQLAlchemyError as problem:
            raise Unavailable(f"the database of the data chat can't be reached ({type(problem).__name__})") from None
        with connection:
            try:
                self._lock(connection)
                columns, rows, cut = self._fetch(connection, bounded, allowed, most + 1)
                connection.rollback()
            except (DBAPIError, self._engine.dialect.loaded_dbapi.Error) as problem:
                # Whatever state it is in, nobody shall meet it again.
                connection.invalidate()
                raise self._objection(problem) from None
            except SQLAlchemyError as problem:
                connection.invalidate()
                raise Unavailable(f"the database of the data chat failed ({type(problem).__name__})") from None
        plain = tuple(tuple(map(_plain, row)) for row in rows[:most])
        return Rows(columns, plain, cut or len(rows) > most, time.monotonic() - began)

    def _lock(self, connection: Connection) -> None:
        """Whatever the database itself can do about writing and about time."""
        milliseconds = max(1, int(self._timeout_s * 1000))
        if self.dialect == "postgres":
            connection.exec_driver_sql("SET TRANSACTION READ ONLY")
            # Else a backslash could end a text for the server that goes on for the guard.
            connection.exec_driver_sql("SET LOCAL standard_conforming_strings = on")
            for bound in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
                connection.exec_driver_sql(f"SET LOCAL {bound} = {milliseconds}")
        elif self.dialect == "mysql":
            connection.exec_driver_sql("SET TRANSACTION READ ONLY")

    def _fetch(self, connection: Connection, sql: str, allowed: Schema, most: int) -> Fetched:
        driver: Any = connection.connection.driver_connection
        end = time.monotonic() + self._timeout_s
        if self.dialect == "sqlite":
            driver.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_VALUE)
            driver.set_authorizer(_authorizer(allowed))
            driver.set_progress_handler(lambda: time.monotonic() > end, STEPS)
            cursor = driver.execute(sql)
        elif self.dialect == "postgres":
            return self._in_pieces(driver, sql, most, end)
        else:
            cursor = connection.execution_options(no_parameters=True).exec_driver_sql(sql).cursor
        return _names(cursor), cursor.fetchmany(most), False

    def _in_pieces(self, driver: Any, sql: str, most: int, end: float) -> Fetched:
        """A few rows at a time, for as long as they are small: the server would send all of a result at once, however large.
        What a cursor is declared for can be one statement only, and none that writes."""
        rows: list[Any] = []
        room = LARGEST_RESULT
        with driver.cursor(name="recollect") as cursor:
            cursor.execute(sql)
            while len(rows) < most and (more := cursor.fetchmany(min(PIECE, most - len(rows)))):
                rows += more
                room -= sum(_size(value) for row in more for value in row)
                if room < 0:
                    return _names(cursor), rows, True
                if time.monotonic() > end:  # the server's own limit is for one piece
                    raise self._too_slow()
            return _names(cursor), rows, False

    def _too_slow(self) -> InvalidInput:
        return InvalidInput(f"the statement took longer than {self._timeout_s:g} s and was ended")

    def _objection(self, problem: Exception) -> RecollectError:
        original = getattr(problem, "orig", None) or problem
        code = getattr(original, "sqlstate", None) or ""
        lost = code.startswith(("08", "57P")) or getattr(problem, "connection_invalidated", False)
        words = " ".join(str(original).split())[:300]
        if code == "57014" or words == "interrupted":
            return self._too_slow()
        if words.endswith(("is prohibited", "not authorized")) or "not authorized to use function" in words:
            return NotAllowed("the statement touches something that is not allowed")
        if (
            lost
            or "server closed the connection" in words
            or "locked" in words
            or "unable to open" in words
            or "disk I/O" in words
        ):
            return Unavailable("the database of the data chat can't be reached")
        return InvalidInput(f"the database objects: {words}")


def _size(value: Any) -> int:
    """About as many characters as it takes to write it."""
    return len(value) if isinstance(value, str | bytes) else len(str(value)) if isinstance(value, list | dict) else 8


def _names(cursor: Any) -> tuple[str, ...]:
    return tuple(each[0] for each in cursor.description or ())


def _address(url: str) -> URL:
    try:
        parsed = make_url(url.strip())
    except ArgumentError:
        raise InvalidInput("RECOLLECT_DATA_URL is no database address; sqlite:///sales.db is one") from None
    parsed = parsed.set(drivername=DRIVERS.get(parsed.drivername, parsed.drivername))
    if parsed.get_backend_name() not in DIALECTS:
        raise Unsupported(
            f"the data chat knows no SQL of {parsed.get_backend_name()!r}; it knows {', '.join(DIALECTS)}"
        )
    if parsed.get_backend_name() == "sqlite" and (not parsed.database or parsed.database.startswith((":", "file:"))):
        raise InvalidInput("RECOLLECT_DATA_URL must name a SQLite file: sqlite:///folder/sales.db")
    return parsed


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "sqlite":
        return create_engine("sqlite://", creator=lambda: _read_only(url.database or ""), poolclass=NullPool)
    try:
        return create_engine(url, pool_size=THREADS, max_overflow=0, pool_pre_ping=True, pool_recycle=600)
    except (ImportError, NoSuchModuleError) as problem:
        raise Unsupported(f"the driver of {url.drivername!r} is not installed ({problem})") from None


def _read_only(path: str) -> sqlite3.Connection:
    uri = Path(path).expanduser().resolve().as_uri()
    connection = sqlite3.connect(f"{uri}?mode=ro", uri=True, check_same_thread=False, isolation_level=None)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _authorizer(allowed: Schema) -> Callable[..., int]:
    """SQLite asks this about everything a statement would do. Views may read what they were made of."""
    tables = {folded(each.name) for each in allowed.tables}
    views = {folded(each.name) for each in allowed.tables if each.view}
    functions = allowed_functions("sqlite")

    def judge(action: int, one: str | None, two: str | None, _where: str | None, through: str | None) -> int:
        if action == sqlite3.SQLITE_SELECT:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION and folded(two or "") in functions:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ and (folded(one or "") in tables or folded(through or "") in views):
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    return judge


def _plain(value: Any) -> Any:
    """As JSON knows it."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Decimal):
        if not value.is_finite() or abs(value.adjusted()) > MOST_DIGITS:
            return str(value)[:LONGEST_TEXT]
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, date | datetime | clock_time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray | memoryview):
        return f"({len(bytes(value))} bytes)"
    return str(value)[:LONGEST_TEXT]
