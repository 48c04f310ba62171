"""What the driver's errors mean to a caller: one table, one context manager.

None of the driver's own words are passed on, because they can quote a query. An error says what happened in
our words and carries SQLite's name for it.
"""

from __future__ import annotations

import sqlite3
from types import TracebackType

from recollect.errors import Broken, Conflict, InvalidInput, RecollectError, TooLarge, Unavailable

_PRIMARY = 0xFF

_MEANINGS: dict[int, tuple[type[RecollectError], str]] = {
    sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY: (Conflict, "something with this id is already stored"),
    sqlite3.SQLITE_CONSTRAINT_UNIQUE: (Conflict, "something with this id is already stored"),
    sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY: (Conflict, "it refers to something that is not stored"),
    sqlite3.SQLITE_CONSTRAINT: (InvalidInput, "a required value is missing or not allowed"),
    sqlite3.SQLITE_MISMATCH: (InvalidInput, "a value has the wrong type"),
    sqlite3.SQLITE_TOOBIG: (TooLarge, "a value is larger than SQLite can store"),
    sqlite3.SQLITE_BUSY: (Unavailable, "the database is in use by another process; try again"),
    sqlite3.SQLITE_LOCKED: (Unavailable, "the database is locked; try again"),
    sqlite3.SQLITE_FULL: (Unavailable, "the disk is full; nothing was stored; free some space"),
    sqlite3.SQLITE_IOERR: (Unavailable, "the disk can't be read or written; nothing was stored"),
    sqlite3.SQLITE_READONLY: (Unavailable, "the database can't be written here; check the file's permissions"),
    sqlite3.SQLITE_CANTOPEN: (Unavailable, "the database file can't be opened; check its folder and permissions"),
    sqlite3.SQLITE_PERM: (Unavailable, "the database file can't be accessed; check its permissions"),
    sqlite3.SQLITE_NOMEM: (Unavailable, "there is not enough memory"),
    sqlite3.SQLITE_PROTOCOL: (Unavailable, "the database is in use by another process; try again"),
    sqlite3.SQLITE_INTERRUPT: (Unavailable, "the database is being closed"),
    sqlite3.SQLITE_CORRUPT: (Broken, "the database file is damaged; run `recollect doctor`"),
    sqlite3.SQLITE_NOTADB: (InvalidInput, "the file is not a SQLite database; name another one"),
}


def translated(error: Exception) -> RecollectError:
    """The error a caller sees for one of the driver's."""
    if isinstance(error, OSError):
        return Unavailable("the database file can't be created or opened; check its folder and permissions")
    if not isinstance(error, sqlite3.Error):
        return InvalidInput("a value can't be stored: numbers need 64 bits at most, text must be valid Unicode")
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    meaning = _MEANINGS.get(code) or _MEANINGS.get(code & _PRIMARY)
    if meaning is None:
        return Broken("the database refused a statement", sqlite=getattr(error, "sqlite_errorname", "unknown"))
    kind, words = meaning
    return kind(words, sqlite=getattr(error, "sqlite_errorname", "unknown"))


class _Translating:
    """A context in which the driver's errors become ours. It has no state, so there is one for everybody."""

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, (sqlite3.Error, OverflowError, UnicodeEncodeError, OSError)):
            raise translated(error) from None


translating = _Translating()
