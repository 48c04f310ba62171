"""How values cross to Postgres and back.

Results come in binary, and vectors go in binary as well: pgvector's `halfvec` is a length, a spare word, then big-endian half
floats, a layout numpy reads and writes directly. So ten thousand vectors load in tens of milliseconds and none is parsed as text.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.adapt import AdaptersMap, Dumper
from psycopg.pq import Format
from psycopg.types.numeric import Int8BinaryDumper
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.types import TypeEngine

from recollect.stores.sql.session import Converter, Dialect
from recollect.stores.sql.types import Document, HalfVector, Names, to_json

_HEAD = struct.Struct(">HH")
_HALF = np.dtype(">f2")


class Halfvec(bytes):
    """A vector as pgvector sends and receives it."""

    __slots__ = ()


def halfvec(vector: Any) -> Halfvec:
    with np.errstate(over="ignore"):  # becomes infinity, which pgvector refuses with a proper error
        halves = np.asarray(vector).astype(_HALF)
    return Halfvec(_HEAD.pack(halves.size, 0) + halves.tobytes())


def vector(raw: bytes) -> NDArray[np.float32]:
    return np.frombuffer(raw, _HALF, offset=_HEAD.size).astype(np.float32)


class _HalfvecDumper(Dumper):
    # No type number: it differs from database to database, and the server infers it from the column or cast.
    format = Format.BINARY

    def dump(self, obj: Halfvec) -> bytes:
        return obj


def adapters() -> AdaptersMap:
    """The driver's conversions with ours added. Whole numbers always travel as int8: one prepared statement, not three."""
    known = AdaptersMap(psycopg.adapters)
    known.register_dumper(Halfvec, _HalfvecDumper)
    known.register_dumper(int, Int8BinaryDumper)
    return known


class PostgresDialect(Dialect):
    def __init__(self) -> None:
        super().__init__(PGDialect_psycopg())  # type: ignore[no-untyped-call]

    def encoder(self, type_: TypeEngine[Any]) -> Converter:
        match type_:
            case Names():
                return list
            case Document():
                return to_json
            case HalfVector():
                return halfvec
        return None

    def decoder(self, type_: TypeEngine[Any]) -> Converter:
        match type_:
            case Names():
                return tuple
            case HalfVector():
                return vector
        return None

    def vectors(self, raw: Sequence[Any]) -> list[NDArray[np.float32] | None]:
        """One conversion for the whole column where all lengths agree, as they do within a generation."""
        present = [value for value in raw if value is not None]
        if len({len(value) for value in present}) != 1:
            return super().vectors(raw)
        size = len(present[0])
        table = np.frombuffer(b"".join(present), np.uint8).reshape(len(present), size)[:, _HEAD.size :]
        rows = iter(np.ascontiguousarray(table).view(_HALF).astype(np.float32))
        return [None if value is None else next(rows) for value in raw]


DIALECT = PostgresDialect()
