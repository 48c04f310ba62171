"""The SQLite store: one writer, parallel readers, and the whole of it in one file that only its owner can
read.

A database in memory is one connection, so there its reads take their turn with the writes; everything else is
the same code.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TypeVar

from recollect.errors import Unavailable
from recollect.model import Scope
from recollect.ports import Capability, System, Tx
from recollect.stores.sql.system import SqlSystem
from recollect.stores.sql.tx import SqlTx
from recollect.stores.sqlite import fulltext, upkeep
from recollect.stores.sqlite.connection import (
    MEMORY,
    Synchronous,
    connect_memory,
    connect_reader,
    connect_writer,
)
from recollect.stores.sqlite.errors import translating
from recollect.stores.sqlite.fulltext import FullText
from recollect.stores.sqlite.readers import Readers
from recollect.stores.sqlite.schema import bring_up
from recollect.stores.sqlite.search import SqliteIndex
from recollect.stores.sqlite.session import SqliteSession
from recollect.stores.sqlite.writer import Work, Writer

T = TypeVar("T")


class SqliteStore:
    """`ports.Store` on SQLite. Safe to use from any number of threads and event loops at once."""

    def __init__(self, connection: sqlite3.Connection, path: Path | None, full_text: FullText, readers: int) -> None:
        self.path = path
        self._pid = os.getpid()
        self._full_text = full_text
        self._connection = connection
        self._writer = Writer(connection)
        self._scrub: Future[bool] | None = None
        self._scrub_lock = threading.Lock()
        self._readers = None if path is None else Readers(partial(connect_reader, path), readers)

    @classmethod
    async def open(
        cls,
        path: str | Path,
        *,
        migrate: bool = True,
        synchronous: Synchronous = "full",
        readers: int = 4,
        full_text: bool | None = None,
    ) -> SqliteStore:
        """Open a file, or `":memory:"`, creating or upgrading it when needed.

        `full_text` False does without FTS5 as if this SQLite had none; None uses it where there is one.
        """
        return await asyncio.to_thread(cls._open, path, migrate, synchronous, readers, full_text)

    @classmethod
    def _open(
        cls, path: str | Path, migrate: bool, synchronous: Synchronous, readers: int, full_text: bool | None
    ) -> SqliteStore:
        file = None if str(path) == MEMORY else Path(path).expanduser().absolute()
        with translating:
            connection = connect_memory() if file is None else connect_writer(file, synchronous)
            with ExitStack() as undo:
                undo.callback(connection.close)
                bring_up(connection, migrate)
                index = fulltext.put_up(connection, full_text)
                undo.pop_all()
        return cls(connection, file, index, readers)

    @property
    def capabilities(self) -> frozenset[Capability]:
        able = {Capability.SCRUBS}
        if self._full_text.works:
            able.add(Capability.FULL_TEXT)
        if self.path is not None:
            able |= {Capability.DURABLE, Capability.MANY_PROCESSES}
        return frozenset(able)

    async def read(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        def run(connection: sqlite3.Connection) -> T:
            return work(SqlTx(self._session(connection), scope, SqliteIndex))

        return await asyncio.wrap_future(self._reading(run))

    async def write(self, scope: Scope, work: Callable[[Tx], T]) -> T:
        def run(connection: sqlite3.Connection) -> T:
            tx = SqlTx(self._session(connection), scope, SqliteIndex)
            tx.begin()
            result = work(tx)
            tx.finish()
            return result

        return await asyncio.wrap_future(self._writing(run))

    async def system(self, work: Callable[[System], T]) -> T:
        def run(connection: sqlite3.Connection) -> T:
            return work(SqlSystem(self._session(connection)))

        try:
            # Most of it only looks, often: that must not take turns with the writes. What turns out to write is refused
            # by the reader before it has changed anything, and starts over where it may.
            return await asyncio.wrap_future(self._reading(run))
        except Unavailable as refusal:
            if refusal.details.get("sqlite") != "SQLITE_READONLY":
                raise
        return await asyncio.wrap_future(self._writing(run))

    async def scrub(self, *, however_long: bool = False) -> bool:
        """Clean the index and empty the log; False when a reader elsewhere kept the log in use. Whoever asks waits, always.

        It takes as long as the file is large, so those who ask while one is waiting to begin share it.
        """
        with self._scrub_lock:
            if self._scrub is None:
                self._scrub = self._writing(self._begin_scrub, alone=True)
            scrub = self._scrub
        return await asyncio.wrap_future(scrub)

    def _begin_scrub(self, connection: sqlite3.Connection) -> bool:
        with self._scrub_lock:
            self._scrub = None  # What is deleted from now on needs another one.
        return upkeep.scrub(connection)

    async def checkup(self) -> list[upkeep.Finding]:
        """How the file is, for the doctor."""
        look = partial(upkeep.examine, path=self.path, full_text=self._full_text.works)
        return await asyncio.wrap_future(self._writing(look, alone=True))

    async def reindex(self) -> bool:
        """Build the full-text index anew, for the doctor's remedy; False when this SQLite has no FTS5."""
        self._full_text.works = await asyncio.wrap_future(self._writing(fulltext.rebuild, alone=True))
        return self._full_text.works

    async def close(self) -> None:
        """Finish what is queued, then let go of the file. Closing twice is fine."""
        if os.getpid() == self._pid:
            await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writer.close()
        if self._readers is not None:
            self._readers.close()
        self._connection.close()

    def _session(self, connection: sqlite3.Connection) -> SqliteSession:
        return SqliteSession(connection, self._full_text)

    def _writing(self, work: Work[T], *, alone: bool = False) -> Future[T]:
        self._same_process()
        return self._writer.submit(work, alone=alone)

    def _reading(self, work: Work[T]) -> Future[T]:
        self._same_process()
        if self._readers is not None:
            return self._readers.submit(work)
        return self._writer.submit(partial(_only_reading, work))

    def _same_process(self) -> None:
        if os.getpid() != self._pid:
            raise Unavailable("the store was opened before this process was forked; open it again in the child")


def _only_reading(work: Work[T], connection: sqlite3.Connection) -> T:
    connection.execute("PRAGMA query_only = ON")
    try:
        return work(connection)
    finally:
        connection.execute("PRAGMA query_only = OFF")
