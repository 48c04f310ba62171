"""The one writer: a thread, a queue, and commits that are shared by those who wait together.

Work that is waiting when the writer becomes free runs in one transaction, each piece in a savepoint of its
own, and is made durable by one COMMIT; only then is anyone told that it is done. A piece that fails undoes
itself alone. A piece that finds nobody else waiting is committed at once, without a savepoint: nobody waits for company.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from itertools import groupby
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from types import TracebackType
from typing import Any, TypeVar

from recollect.errors import Unavailable
from recollect.stores.sqlite.errors import translating

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

_MOST_TOGETHER = 256


class Attempt:
    """What became of something: its result, or the error it ended with. Errors travel to whoever waits for
    them.
    """

    result: Any = None
    error: BaseException | None = None

    def __enter__(self) -> Attempt:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self.error = error
        return True

    def tell(self, future: Future[Any]) -> None:
        if self.error is None:
            future.set_result(self.result)
        else:
            future.set_exception(self.error)


class Job:
    __slots__ = ("alone", "future", "work")

    def __init__(self, work: Work[Any], alone: bool) -> None:
        self.work = work
        self.alone = alone
        self.future: Future[Any] = Future()


class Writer:
    """Runs work on the one connection that writes."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._closing = Lock()
        self._closed = False
        self._thread = Thread(target=self._run, name="recollect-sqlite-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Work[T], *, alone: bool = False) -> Future[T]:
        """Queue work for a transaction, or with `alone` for a turn outside of any."""
        job = Job(work, alone)
        with self._closing:
            if self._closed:
                raise Unavailable("the store is closed")
            self._queue.put(job)
        return job.future

    def close(self) -> None:
        """Finish what is queued, then stop."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._queue.get()) is not None:
            for alone, jobs in groupby([first, *self._waiting()], key=lambda job: job.alone):
                self._turn([job for job in jobs if job.future.set_running_or_notify_cancel()], alone)

    def _waiting(self) -> list[Job]:
        jobs: list[Job] = []
        try:
            while len(jobs) < _MOST_TOGETHER:
                job = self._queue.get_nowait()
                if job is None:
                    self._queue.put(None)  # closing: these first, then the end comes round again
                    break
                jobs.append(job)
        except Empty:
            pass
        return jobs

    def _turn(self, jobs: Sequence[Job], alone: bool) -> None:
        if alone:
            for job in jobs:
                with Attempt() as attempt, translating:
                    attempt.result = job.work(self._connection)
                attempt.tell(job.future)
        elif jobs:
            self._commit_together(jobs)

    def _commit_together(self, jobs: Sequence[Job]) -> None:
        with Attempt() as whole, translating:
            whole.result = self._transact(jobs)
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        if whole.error is None and whole.result is None and len(jobs) > 1:
            # A full disk, for one, makes SQLite give up the whole transaction. None of it was stored, and who caused
            # it is not to be everybody's misfortune, so each tries again by itself.
            for job in jobs:
                self._commit_together([job])
            return
        for job, attempt in zip(jobs, whole.result or [whole] * len(jobs), strict=True):
            attempt.tell(job.future)

    def _transact(self, jobs: Sequence[Job]) -> list[Attempt] | None:
        """What became of each, once all is durable; None when SQLite gave up the transaction."""
        run = self._connection.execute
        run("BEGIN IMMEDIATE")
        attempts = self._side_by_side(jobs) if len(jobs) > 1 else [self._attempted(jobs[0])]
        if attempts is None or all(attempt.error is not None for attempt in attempts):
            return attempts  # nothing to keep
        try:
            run("COMMIT")
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", "unknown")
            raise Unavailable("the database could not be written; nothing was stored", sqlite=name) from None
        return attempts

    def _side_by_side(self, jobs: Sequence[Job]) -> list[Attempt] | None:
        run = self._connection.execute
        attempts: list[Attempt] = []
        for job in jobs:
            run("SAVEPOINT piece")
            attempts.append(attempt := self._attempted(job))
            if not self._connection.in_transaction:
                return None
            if attempt.error is not None:
                run("ROLLBACK TO piece")
            run("RELEASE piece")
        return attempts

    def _attempted(self, job: Job) -> Attempt:
        with Attempt() as attempt:
            attempt.result = job.work(self._connection)
        return attempt
