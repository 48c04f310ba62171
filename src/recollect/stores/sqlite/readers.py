"""Parallel readers: a few threads, a connection each, every read in one snapshot that no writer waits for."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, LifoQueue
from typing import TypeVar

from recollect.errors import Unavailable
from recollect.stores.sqlite.errors import translating

T = TypeVar("T")


class Readers:
    """Runs work on connections that can't write."""

    def __init__(self, connect: Callable[[], sqlite3.Connection], count: int) -> None:
        self._connect = connect
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="recollect-sqlite-reader")
        self._idle: LifoQueue[sqlite3.Connection] = LifoQueue()

    def submit(self, work: Callable[[sqlite3.Connection], T]) -> Future[T]:
        try:
            return self._threads.submit(self._read, work)
        except RuntimeError:
            raise Unavailable("the store is closed") from None

    def close(self) -> None:
        """Finish what is queued, then close every connection."""
        self._threads.shutdown()
        while not self._idle.empty():
            self._idle.get_nowait().close()

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with translating:
            connection = self._take()
            try:
                connection.execute("BEGIN")
                try:
                    return work(connection)
                finally:
                    connection.execute("ROLLBACK")
            finally:
                self._idle.put(connection)

    def _take(self) -> sqlite3.Connection:
        # There are never more at work than threads, so at most that many are ever opened.
        try:
            return self._idle.get_nowait()
        except Empty:
            return self._connect()
