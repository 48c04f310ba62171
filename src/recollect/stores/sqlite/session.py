"""How values cross to SQLite and back, and one transaction on one connection.

Moments are whole microseconds, so they sort and compare as numbers. Vectors are half-precision floats, little
endian.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Boolean
from sqlalchemy.dialects.sqlite.base import SQLiteDialect as SaSqlite
from sqlalchemy.sql.base import Executable
from sqlalchemy.types import TypeEngine

from recollect.stores.sql.session import Converter, Dialect, Params, Row, Session
from recollect.stores.sql.types import Document, HalfVector, Instant, Names, half, to_json
from recollect.stores.sqlite.errors import translating
from recollect.stores.sqlite.fulltext import FullText

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86_400
_SECOND = 1_000_000


def to_micros(moment: datetime) -> int:
    since = moment - _EPOCH
    return (since.days * _DAY + since.seconds) * _SECOND + since.microseconds


def from_micros(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


def _names_to_json(names: Sequence[str]) -> str:
    return to_json([*names]) if names else "[]"


@lru_cache(maxsize=4096)  # the same few tags come again and again
def _names_from_json(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(json.loads(text))


def _vector(blob: bytes) -> NDArray[np.float32]:
    return np.frombuffer(blob, dtype="<f2").astype(np.float32)


class SqliteDialect(Dialect):
    def __init__(self) -> None:
        spelling = SaSqlite(paramstyle="named")
        # Otherwise a condition is written as "(…) = 1", and behind that the planner doesn't see an index to use.
        spelling.supports_native_boolean = True
        super().__init__(spelling)

    def encoder(self, type_: TypeEngine[Any]) -> Converter:
        match type_:
            case Instant():
                return to_micros
            case Names():
                return _names_to_json
            case Document():
                return to_json
            case HalfVector():
                return half
        return None

    def decoder(self, type_: TypeEngine[Any]) -> Converter:
        match type_:
            case Instant():
                return from_micros
            case Names():
                return _names_from_json
            case Document():
                return json.loads
            case HalfVector():
                return _vector
            case Boolean():
                return bool
        return None

    def vectors(self, raw: Sequence[bytes | None]) -> list[NDArray[np.float32] | None]:
        blobs = [blob for blob in raw if blob is not None]
        if len({len(blob) for blob in blobs}) > 1:
            return super().vectors(raw)
        rows = iter(matrix(blobs))
        return [None if blob is None else next(rows) for blob in raw]


def matrix(blobs: Sequence[bytes]) -> NDArray[np.float32]:
    """Vectors of one length as the rows of one matrix."""
    width = len(blobs[0]) // 2 if blobs else 0
    return np.frombuffer(b"".join(blobs), dtype="<f2").astype(np.float32).reshape(len(blobs), width)


DIALECT = SqliteDialect()


class SqliteSession(Session):
    dialect = DIALECT

    def __init__(self, connection: sqlite3.Connection, full_text: FullText) -> None:
        self._connection = connection
        self.full_text = full_text

    def rows(self, statement: Executable, params: Params) -> list[Row]:
        prepared = DIALECT.prepare(statement)
        bound = DIALECT.bind(prepared, params)
        with translating:
            found = self._connection.execute(prepared.sql, bound).fetchall()
        return DIALECT.decode(prepared, found)

    def run(self, statement: Executable, params: Params) -> int:
        prepared = DIALECT.prepare(statement)
        bound = DIALECT.bind(prepared, params)
        with translating:
            return self._connection.execute(prepared.sql, bound).rowcount

    def run_many(self, statement: Executable, params: Sequence[Params]) -> None:
        prepared = DIALECT.prepare(statement)
        bound = [DIALECT.bind(prepared, each) for each in params]
        with translating:
            self._connection.executemany(prepared.sql, bound)

    def flush(self) -> None:
        """Everything is done when it is said."""

    def stream(self, statement: Executable, params: Params, size: int) -> Iterator[list[Row]]:
        """Rows as the driver gives them, `size` at a time: for scans that must not hold everything at once."""
        prepared = DIALECT.prepare(statement)
        bound = DIALECT.bind(prepared, params)
        with translating:
            cursor = self._connection.execute(prepared.sql, bound)
            while rows := cursor.fetchmany(size):
                yield rows
