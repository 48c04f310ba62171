"""What the driver's errors mean to a caller: one table, one context manager.

Driver messages quote parameters and rows, so none of their words are passed on: an error says what happened in our words and
carries the SQLSTATE, which is enough to look the rest up in the server's own log.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors as pg

from recollect.errors import Broken, Conflict, InvalidInput, NotAllowed, RecollectError, TooLarge, Unavailable

Meaning = tuple[type[Exception], type[RecollectError], str]

# The first row that fits decides, so narrow classes stand above the wide ones they belong to.
MEANINGS: tuple[Meaning, ...] = (
    (pg.UniqueViolation, Conflict, "that id is already in use"),
    (pg.ForeignKeyViolation, Conflict, "what this row refers to is not stored"),
    (pg.IntegrityError, Broken, "the database refused a row as inconsistent"),
    (
        pg.InsufficientPrivilege,
        NotAllowed,
        "the database role may not do that; `recollect doctor` checks its rights",
    ),
    (pg.ProgramLimitExceeded, TooLarge, "a value is larger than the database can index"),
    (pg.DataError, InvalidInput, "a value cannot be stored: it has NUL characters or is out of range"),
    (UnicodeDecodeError, Unavailable, "the database answered what is no text"),
    (UnicodeError, InvalidInput, "a text is not valid Unicode"),
    (pg.QueryCanceled, Unavailable, "the database took longer than the statement timeout"),
    (pg.LockNotAvailable, Unavailable, "the database could not take a lock in time"),
    (pg.ReadOnlySqlTransaction, Unavailable, "the database does not accept writes here"),
    (pg.DiskFull, Unavailable, "the database's disk is full"),
    (pg.UndefinedTable, Unavailable, "the database has no Recollect tables; run `recollect db upgrade`"),
    (pg.UndefinedColumn, Unavailable, "the database's schema is older than this version; run `recollect db upgrade`"),
    (pg.UndefinedFunction, Unavailable, "the database's schema is older than this version; run `recollect db upgrade`"),
    (pg.OperationalError, Unavailable, "the database cannot be reached or gave up"),
    (pg.InterfaceError, Unavailable, "the connection to the database was lost"),
    (pg.ProgrammingError, Broken, "the database refused a statement"),
    (pg.NotSupportedError, Broken, "the database refused a statement"),
    (psycopg.Error, Broken, "the database refused a statement"),
)
GARBLED: Meaning = (psycopg.Error, Unavailable, "the database answered what is no answer")
"""Of the last row, where no server's code came along: then it is the driver that could make nothing of what it read."""

AGAIN_S = 1.0
"""Whoever is told that the database is away may ask again so soon: it is most often back by then, or says so quickly."""

RETRIED = (pg.SerializationFailure, pg.DeadlockDetected)
"""Lost races: the transaction left no trace and may simply run again."""


def meaning(error: Exception) -> RecollectError:
    """The typed error a driver error stands for."""
    state = getattr(error, "sqlstate", None)
    for row in MEANINGS:
        driver_class, ours, sentence = GARBLED if state is None and row is MEANINGS[-1] else row
        if isinstance(error, driver_class):
            later = {"retry_after_s": AGAIN_S} if ours is Unavailable else {}
            return ours(f"{sentence} (SQLSTATE {state})" if state else sentence, sqlstate=state, **later)
    raise error


@contextmanager
def translated() -> Iterator[None]:
    """Raise driver errors as typed ones, without the driver's words."""
    try:
        yield
    except (psycopg.Error, UnicodeError) as error:
        raise meaning(error) from None
