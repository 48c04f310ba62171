"""Connections as the store uses them: one that writes, some that only read, or a single one to a database in
memory.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Literal

from recollect.stores.migrations.files import connect

MEMORY = ":memory:"
Synchronous = Literal["full", "normal"]

_STATEMENTS = 256
_WRITER_CACHE_KIB = 16 * 1024
_READER_CACHE_KIB = 8 * 1024
_WAL_KEPT_BYTES = 16 * 1024 * 1024


def connect_writer(path: Path, synchronous: Synchronous) -> sqlite3.Connection:
    """`full` keeps every acknowledged write through a power cut; `normal` may lose the last ones then, not
    the file.
    """
    connection = connect(path, cached_statements=_STATEMENTS)
    _tune(
        connection,
        synchronous="FULL" if synchronous == "full" else "NORMAL",
        cache_size=-_WRITER_CACHE_KIB,
        journal_size_limit=_WAL_KEPT_BYTES,
    )
    return connection


def connect_reader(path: Path) -> sqlite3.Connection:
    connection = connect(path, cached_statements=_STATEMENTS)
    _tune(connection, cache_size=-_READER_CACHE_KIB, query_only="ON")
    return connection


def connect_memory() -> sqlite3.Connection:
    connection = sqlite3.connect(MEMORY, isolation_level=None, check_same_thread=False, cached_statements=_STATEMENTS)
    _tune(connection, secure_delete="ON", foreign_keys="ON")
    return connection


def _tune(connection: sqlite3.Connection, **pragmas: str | int) -> None:
    # Sorting may spill, and what spills into a temporary file stays on the disk: it stays in memory instead.
    for name, value in {"temp_store": "MEMORY", **pragmas}.items():
        connection.execute(f"PRAGMA {name} = {value}")
