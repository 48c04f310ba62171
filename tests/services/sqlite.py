"""SQLite databases with the current schema and nothing in them: copying one is many times faster than migrating anew."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path

from recollect.stores import migrations
from recollect.stores.sqlite import SqliteStore, fulltext
from recollect.stores.sqlite.connection import connect_memory, connect_writer


def put_blank(path: Path) -> None:
    """Put an empty database there, as private as the store would have made it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_bytes(_blank())


def blank_in_memory() -> SqliteStore:
    """A store over an empty database in memory."""
    connection = connect_memory()
    _blank_connection().backup(connection)
    return SqliteStore(connection, None, fulltext.put_up(connection), readers=1)


@cache
def _blank() -> bytes:
    """A whole file as the store leaves it, full-text index included; its log is merged into it, so that it is all there is."""
    with tempfile.TemporaryDirectory(prefix="recollect-blank-") as folder:
        path = Path(folder) / "blank.db"
        migrations.upgrade(path)
        with closing(connect_writer(path, "normal")) as connection:
            fulltext.put_up(connection)
            connection.execute("PRAGMA journal_mode = DELETE")
        return path.read_bytes()


@cache
def _blank_connection() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.deserialize(_blank())
    return connection
