"""The writer: commits are shared by those who wait together, failures by nobody."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from recollect.errors import Unavailable
from recollect.stores.sqlite.connection import connect_writer
from recollect.stores.sqlite.writer import Writer


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = connect_writer(tmp_path / "w.db", "full")
    connection.execute("CREATE TABLE kept(n INTEGER UNIQUE, pad BLOB)")
    yield connection
    connection.close()


@pytest.fixture
def writer(connection: sqlite3.Connection) -> Iterator[Writer]:
    writer = Writer(connection)
    yield writer
    writer.close()


def keep(number: int, size: int = 0) -> Callable[[sqlite3.Connection], int]:
    def work(connection: sqlite3.Connection) -> int:
        connection.execute("INSERT INTO kept(n, pad) VALUES (?, zeroblob(?))", (number, size))
        return number

    return work


def refuse(connection: sqlite3.Connection) -> None:
    keep(1000)(connection)
    raise LookupError("on purpose")


def hold_up(writer: Writer) -> Event:
    """Keep the writer busy until the event is set."""
    begun, go = Event(), Event()

    def wait(_: sqlite3.Connection) -> None:
        begun.set()
        go.wait(60)

    writer.submit(wait)
    begun.wait(60)
    return go


def while_busy(writer: Writer, *works: Callable[[sqlite3.Connection], Any]) -> list[Future[Any]]:
    """Submit works while the writer is held up, so that they are found waiting together."""
    go = hold_up(writer)
    futures = [writer.submit(work) for work in works]
    go.set()
    return futures


def kept(connection: sqlite3.Connection) -> list[int]:
    return [n for (n,) in connection.execute("SELECT n FROM kept ORDER BY n")]


def test_those_who_wait_together_share_one_commit(writer: Writer, connection: sqlite3.Connection) -> None:
    commits: list[str] = []
    connection.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None)
    futures = while_busy(writer, *(keep(n) for n in range(50)))
    assert [future.result(60) for future in futures] == list(range(50))
    assert len(commits) == 2  # the one that held the writer up, and all the others
    assert kept(connection) == list(range(50))


def test_one_that_comes_alone_is_committed_alone(writer: Writer, connection: sqlite3.Connection) -> None:
    commits: list[str] = []
    connection.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None)
    for n in range(3):
        assert writer.submit(keep(n)).result(60) == n
    assert len(commits) == 3


def test_a_failure_undoes_itself_alone(writer: Writer, connection: sqlite3.Connection) -> None:
    before, failing, twice, after = while_busy(writer, keep(1), refuse, keep(1), keep(2))
    assert (before.result(60), after.result(60)) == (1, 2)
    with pytest.raises(LookupError, match="on purpose"):
        failing.result(60)
    with pytest.raises(sqlite3.IntegrityError):
        twice.result(60)
    assert kept(connection) == [1, 2]


def test_one_that_fills_the_disk_fails_alone(writer: Writer, connection: sqlite3.Connection) -> None:
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages + 20}")
    before, huge, after = while_busy(writer, keep(1), keep(2, size=10_000_000), keep(3))
    assert (before.result(60), after.result(60)) == (1, 3)
    with pytest.raises(sqlite3.OperationalError):
        huge.result(60)
    assert kept(connection) == [1, 3]


def test_when_the_commit_fails_nobody_is_told_that_it_worked(writer: Writer, connection: sqlite3.Connection) -> None:
    def break_a_promise(connection: sqlite3.Connection) -> None:
        # A deferred foreign key is only looked at by COMMIT.
        connection.execute("CREATE TABLE parent(id INTEGER PRIMARY KEY)")
        connection.execute("CREATE TABLE child(p REFERENCES parent(id) DEFERRABLE INITIALLY DEFERRED)")
        connection.execute("INSERT INTO child VALUES (1)")

    innocent, guilty = while_busy(writer, keep(1), break_a_promise)
    for future in (innocent, guilty):
        with pytest.raises(Unavailable, match="nothing was stored"):
            future.result(60)
    assert kept(connection) == []
    assert writer.submit(keep(2)).result(60) == 2


def test_what_is_cancelled_in_time_never_runs(writer: Writer, connection: sqlite3.Connection) -> None:
    go = hold_up(writer)
    cancelled, other = writer.submit(keep(1)), writer.submit(keep(2))
    assert cancelled.cancel()
    go.set()
    assert other.result(60) == 2
    assert kept(connection) == [2]


def test_closing_finishes_what_is_queued(writer: Writer, connection: sqlite3.Connection) -> None:
    futures = while_busy(writer, *(keep(n) for n in range(600)))
    writer.close()
    assert [future.result(0) for future in futures] == list(range(600))
    with pytest.raises(Unavailable, match="closed"):
        writer.submit(keep(1000))


def test_work_outside_of_transactions_has_a_turn_of_its_own(writer: Writer, connection: sqlite3.Connection) -> None:
    go = hold_up(writer)
    first = writer.submit(keep(1))
    alone = writer.submit(lambda connection: connection.in_transaction, alone=True)
    second = writer.submit(keep(2))
    go.set()
    assert (first.result(60), alone.result(60), second.result(60)) == (1, False, 2)
