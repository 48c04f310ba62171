"""Connections, and the transactions that run on them.

Work is plain synchronous code, so each transaction has a thread and a connection of its own for as long as it lasts; there are as
many threads as connections. Callers on any number of event loops wait for the thread's result. A caller that stops waiting
changes nothing: work that has begun runs to its end and commits.

Losing the connection before the COMMIT was sent means that nothing was stored, so the work runs again on a fresh one: a server
that restarts is noticed by nobody who can wait a moment. Losing it during the COMMIT means that nobody can know: that is
`Unavailable`, never a silent second run.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool

from recollect.errors import InvalidInput, Unavailable
from recollect.stores.connecting import advised
from recollect.stores.postgres.errors import RETRIED, translated
from recollect.stores.postgres.patience import GRACE_S, Patient, Silent
from recollect.stores.postgres.session import POSITION, SETTINGS, Connection
from recollect.stores.postgres.wire import adapters

T = TypeVar("T")
ATTEMPTS = 6
END = 2**63 - 1

# Dead peers are noticed within half a minute instead of the system's two hours.
KEEPALIVE = {
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


class Pool:
    def __init__(
        self,
        url: str,
        size: int,
        statement_timeout_ms: int,
        connect_timeout: int,
        wait_timeout: float,
        *,
        prepare: bool = True,
    ) -> None:
        """`prepare=False` is for a pooler in between that gives each transaction another connection. What was prepared or set on
        the last one isn't there then, so nothing is prepared and every transaction brings its `settings`."""
        self._wait_timeout = wait_timeout
        self._settings = {"statement_ms": str(statement_timeout_ms)}
        self._prepare = prepare
        self._where = make_conninfo("", **KEEPALIVE | {"connect_timeout": connect_timeout} | parts_of(url))
        self._patience_s = statement_timeout_ms / 1000 + GRACE_S
        self._connections: ConnectionPool[Patient] = ConnectionPool(
            self._where,
            connection_class=Patient,
            kwargs={"autocommit": True, "context": adapters(), "prepare_threshold": 1 if prepare else None},
            configure=self._configure,
            min_size=1,
            max_size=size,
            timeout=wait_timeout,
            reconnect_timeout=wait_timeout,  # then give up; the next caller starts a fresh attempt at once
            open=False,
        )
        self._closed = False
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="recollect-postgres")

    async def open(self) -> None:
        """Connect once, so that a wrong address or password is said now and not at the first use."""
        await self._in_thread(self._open)

    async def close(self) -> None:
        """Let running work end, then disconnect. Closing twice does no harm."""
        self._closed = True
        await asyncio.to_thread(self._threads.shutdown, True)
        await asyncio.to_thread(self._connections.close)

    async def transaction(
        self, work: Callable[[Connection], T], *, writes: bool, after: Callable[[int], None] | None = None
    ) -> T:
        """Run `work`, which opens a transaction with its first statement, and commit what it wrote. `after` is then told how far
        the server's log has come."""

        def attempt(connection: Connection, work: Callable[[Connection], T]) -> T:
            result = (_write if writes else _read)(connection, work)
            if after is not None:
                after(_position(connection))
            return result

        submitted = time.monotonic()
        return await self._in_thread(lambda: self._transaction(lambda it: attempt(it, work), submitted))

    async def outside(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on a connection without a transaction, for the few statements that allow none."""

        def run() -> T:
            with translated(), self._connections.connection() as connection:
                return work(connection)

        return await self._in_thread(run)

    @property
    def settings(self) -> Mapping[str, str] | None:
        """What a transaction has to say for itself; None when its connection has said it."""
        return None if self._prepare else self._settings

    def stats(self) -> dict[str, int]:
        return self._connections.get_stats()

    async def _in_thread(self, run: Callable[[], T]) -> T:
        if self._closed:
            raise Unavailable("the store is closed")
        return await asyncio.wrap_future(self._threads.submit(run))

    def _configure(self, connection: Patient) -> None:
        connection.patience_s = self._patience_s
        connection.prepared_max = 500
        if self._prepare:
            connection.execute(SETTINGS.format(local="false").encode(), self._settings)

    def _open(self) -> None:
        try:
            with psycopg.connect(self._where):
                pass
        except psycopg.OperationalError as error:
            raise Unavailable(f"cannot connect to Postgres: {advised(_reason(error))}") from None
        with translated():
            self._connections.open()

    def _transaction(self, run: Callable[[Connection], T], submitted: float) -> T:
        if time.monotonic() - submitted > self._wait_timeout:
            raise Unavailable("the database is overloaded: no connection became free in time")
        with translated():
            for attempt in range(1, ATTEMPTS):
                connection = self._connections.getconn()
                try:
                    return run(connection)
                except Silent:
                    raise  # the caller has waited long enough
                except RETRIED:
                    time.sleep(random.uniform(0, 0.01 * 2**attempt))
                except psycopg.Error:
                    # A statement that failed on a live connection would fail again; a dead one says nothing about it.
                    if not connection.closed:
                        raise
                finally:
                    self._connections.putconn(connection)
                if connection.closed:
                    self._connections.check()
            with self._connections.connection() as connection:
                return run(connection)


def _read(connection: Connection, work: Callable[[Connection], T]) -> T:
    try:
        return work(connection)
    finally:
        _roll_back(connection)


def _write(connection: Connection, work: Callable[[Connection], T]) -> T:
    with ExitStack() as undo:
        undo.callback(_roll_back, connection)
        result = work(connection)
        undo.pop_all()
    try:
        connection.commit()
    except psycopg.Error as error:
        if error.sqlstate is not None and not connection.closed:
            raise
        connection.close()  # what was read is no answer: nothing more is made of what comes after it
        raise Unavailable(
            "the connection was lost during the commit: whether it was stored is unknown", outcome="unknown"
        ) from None
    return result


def _position(connection: Connection) -> int:
    """The end of the log; without an answer the farthest there is. What was committed stays so, whoever is asked about it."""
    try:
        row = connection.execute(POSITION.encode()).fetchone()
    except psycopg.Error:
        return END
    return END if row is None else int(row[0])


def _roll_back(connection: Connection) -> None:
    if not connection.closed:
        connection.rollback()


def _reason(error: psycopg.OperationalError) -> str:
    """The driver's first line: it names hosts, ports and roles, never content or passwords."""
    return str(error).strip().splitlines()[0] if str(error).strip() else "no reason given"


def user_of(url: str) -> str | None:
    user: str | None = parts_of(url).get("user")
    return user


def parts_of(url: str) -> dict[str, Any]:
    """What an address says, by the driver's names. Its own words for one that can't be read repeat the password."""
    try:
        return conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise InvalidInput(
            "the Postgres address can't be read: in a user's name or password write % as %25, @ as %40, : as %3A, / as %2F"
        ) from None
