"""A SQLite file that only its owner can read, opened so that what is deleted in it is overwritten."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from pathlib import Path

BUSY_SECONDS = 5.0
_FIRST_PAUSE = 0.005
_LAST_PAUSE = 0.1
_CREATING = threading.Lock()


def connect(path: Path, *, cached_statements: int = 128) -> sqlite3.Connection:
    """Open (or create) the file in autocommit, in WAL mode. Any thread may use the connection, one at a time."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _create(path)
    connection = sqlite3.connect(
        path,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=cached_statements,
    )
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA foreign_keys = ON")
    _use_wal(connection)
    return connection


def _create(path: Path) -> None:
    """SQLite gives its -wal and -shm files the mode of the database file, so this decides for all three.

    Only a file that isn't there is opened: closing one takes away the locks that this process holds on it through SQLite, and the
    next process to leave would then remove the log we are still writing to.
    """
    with _CREATING:
        if not path.exists():
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _use_wal(connection: sqlite3.Connection) -> None:
    # Changing the mode wants the file for itself and doesn't wait for it, so when several processes open a new
    # file at once all but one are told that it is busy.
    deadline = time.monotonic() + BUSY_SECONDS
    pause = _FIRST_PAUSE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(pause)
        pause = min(2 * pause, _LAST_PAUSE)
