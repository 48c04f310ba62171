"""The Postgres store: many processes and machines, row-level security under a plain role, exact and approximate vector search."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from typing import TypeVar

import psycopg
from sqlalchemy.exc import DBAPIError

from recollect.model import Scope
from recollect.ports import Capability, System, Tx
from recollect.stores import migrations
from recollect.stores.migrations.postgres_ddl import DEFAULT_APP_ROLE, grants
from recollect.stores.postgres import citus, doctor, scrubbing
from recollect.stores.postgres.embeddings import PostgresEmbeddings
from recollect.stores.postgres.errors import meaning, translated
from recollect.stores.postgres.index import PostgresIndex
from recollect.stores.postgres.pool import Pool, user_of
from recollect.stores.postgres.replica import Located, NotThere, Replica
from recollect.stores.postgres.session import Connection, Opening, PostgresSession
from recollect.stores.postgres.system import PostgresSystem
from recollect.stores.sql.tx import SqlTx

T = TypeVar("T")
Sessions = Callable[[Connection, Opening, int], PostgresSession]
CANCEL_S = 5.0
REPLICA_PATIENCE = 2  # seconds: whoever waits longer than that for a replica had better ask the server that has it all
EXACT_BELOW = 200_000
"""As many entries as the engine holds in memory: whoever is searched there need not be in the vector index."""


class PostgresStore:
    """`ports.Store` on a Postgres server with pgvector. Made by `open`; safe to share between threads and event loops."""

    def __init__(
        self,
        pool: Pool,
        exact_below: int,
        *,
        scrubs: bool,
        scrubbed_at_once: int = scrubbing.AT_ONCE_BYTES,
        spread: bool = False,
        replica: Replica | None = None,
        sessions: Sessions = PostgresSession,
    ) -> None:
        self._pool = pool
        self._replica = replica
        self._spread = spread
        self._exact_below = exact_below
        self._sessions = sessions
        self._capabilities = frozenset(Capability) if scrubs else frozenset(Capability) - {Capability.SCRUBS}
        self._scrubbing = scrubbing.Scrubbing(scrubbed_at_once, spread, pool.settings is not None)
        self._scrubs: set[Connection] = set()
        """At work, for as long as that takes."""

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        read_url: str | None = None,
        pool_size: int = 10,
        prepare: bool = True,
        statement_timeout_ms: int = 10_000,
        connect_timeout: int = 5,
        wait_timeout: float = 10.0,
        exact_below: int = EXACT_BELOW,
        scrubbed_at_once: int = scrubbing.AT_ONCE_BYTES,
        migrate_url: str | None = None,
        allow_privileged: bool = False,
        sessions: Sessions = PostgresSession,
    ) -> PostgresStore:
        """Connect as the application's role; with the owner's `migrate_url`, bring the schema up to date first.

        With a `read_url`, a streaming replica's, reads go there as far as it has seen what this process has (see `replica`).
        `prepare=False` is for a pooler that hands out connections per transaction.
        `scrubbed_at_once`: how many bytes of tables are cleaned while whoever forgot something waits (see `scrubbing`).
        `sessions` makes the session of each transaction: whoever wants to see the statements brings one that tells.

        A role that row-level security does not bind (superuser, BYPASSRLS, the tables' owner) is refused with `NotAllowed`,
        unless `allow_privileged` says that somebody means it.
        """
        if migrate_url is not None:
            await asyncio.to_thread(_migrate, migrate_url, user_of(url) or DEFAULT_APP_ROLE)
        pool = Pool(url, pool_size, statement_timeout_ms, connect_timeout, wait_timeout, prepare=prepare)
        async with AsyncExitStack() as undo:
            undo.push_async_callback(pool.close)
            await pool.open()
            if not allow_privileged:
                await pool.outside(doctor.refuse_privileged)
            await pool.outside(doctor.refuse_unready)
            scrubs = await pool.outside(scrubbing.possible)
            spread = await pool.outside(citus.installed)
            replica = None
            if read_url is not None:
                elsewhere = Pool(
                    read_url, pool_size, statement_timeout_ms, REPLICA_PATIENCE, REPLICA_PATIENCE, prepare=prepare
                )
                replica = Replica(elsewhere)
            undo.pop_all()
        return cls(
            pool,
            exact_below,
            scrubs=scrubs,
            scrubbed_at_once=scrubbed_at_once,
            spread=spread,
            replica=replica,
            sessions=sessions,
        )

    @property
    def capabilities(self) -> frozenset[Capability]:
        return self._capabilities

    async def read(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        replica = self._replica
        if replica is not None:
            try:
                return await replica.read(scope, lambda connection, at: work(self._tx(connection, scope, located=at)))
            except NotThere:
                pass
        located = None if replica is None else replica.seen(scope)
        return await self._pool.transaction(
            lambda connection: work(self._tx(connection, scope, located=located)), writes=False
        )

    async def write(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        def run(connection: Connection) -> T:
            return self._written(connection, scope, work)

        if self._replica is None:
            return await self._pool.transaction(run, writes=True)
        return await self._pool.transaction(run, writes=True, after=self._replica.seen(scope))

    async def rehearse(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        """As `write`, down to the last statement, and then everything is taken back."""
        return await self._pool.transaction(lambda connection: self._written(connection, scope, work), writes=False)

    async def system(self, work: Callable[[System], T]) -> T:
        def run(connection: Connection) -> T:
            opening = Opening(None, True, self._pool.settings, self._spread)
            return work(PostgresSystem(self._sessions(connection, opening, self._exact_below)))

        # Of no scope, so all of them wait for it: a new generation must not be missing where it is asked for.
        after = None if self._replica is None else self._replica.seen(None)
        return await self._pool.transaction(run, writes=True, after=after)

    async def scrub(self, *, however_long: bool = False) -> bool:
        def run(connection: Connection) -> bool:
            self._scrubs.add(connection)
            try:
                return not self._scrubbing.end.is_set() and self._scrubbing.scrub(connection, however_long)
            finally:
                self._scrubs.discard(connection)

        return Capability.SCRUBS in self._capabilities and await self._pool.outside(run)

    async def checkup(self) -> list[doctor.Finding]:
        """What `recollect doctor` shows: one finding per thing that must be right."""
        return [*await self._pool.outside(doctor.checkup), doctor.pool_state(self._pool.stats())]

    async def close(self) -> None:
        """A scrub that is under way is broken off and stays owed: it may take hours."""
        self._scrubbing.end.set()
        await asyncio.to_thread(self._break_off)
        if self._replica is not None:
            await self._replica.close()
        await self._pool.close()

    def _break_off(self) -> None:
        """Again and again for a while: between two statements there is nothing to cancel."""
        deadline = time.monotonic() + CANCEL_S
        while (at_work := list(self._scrubs)) and time.monotonic() < deadline:
            for connection in at_work:
                with suppress(psycopg.Error):
                    connection.cancel_safe(timeout=CANCEL_S)
            time.sleep(0.01)

    def _written(self, connection: Connection, scope: Scope, work: Callable[[Tx], T]) -> T:
        tx = self._tx(connection, scope, writes=True)
        tx.owes = Capability.SCRUBS in self._capabilities
        tx.begin()
        result = work(tx)
        tx.finish()
        return result

    def _tx(
        self, connection: Connection, scope: Scope, *, writes: bool = False, located: Located | None = None
    ) -> SqlTx:
        opening = Opening(scope, writes, self._pool.settings, self._spread, located)
        session = self._sessions(connection, opening, self._exact_below)
        return SqlTx(session, scope, PostgresIndex, PostgresEmbeddings)


def _migrate(owner_url: str, app_role: str) -> None:
    """Bring the schema up to date, and give this application's role its rights even if another one came first."""
    try:
        migrations.upgrade(owner_url, app_role=app_role)
    except DBAPIError as problem:
        if isinstance(problem.orig, psycopg.Error):
            raise meaning(problem.orig) from None
        raise
    with translated(), psycopg.connect(owner_url, autocommit=True) as connection:
        connection.execute(grants(app_role).encode())
