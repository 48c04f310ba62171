"""Column types that mean the same on both dialects, and how a Python value crosses to each driver and back.

Statements are written in SQLAlchemy Core, compiled once to text, and run by the bare driver: the language is
shared, the per-call cost of an ORM or engine layer is not paid. So conversions are done here, by column type,
not by SQLAlchemy.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sqlalchemy import BigInteger, LargeBinary, Text
from sqlalchemy.dialects import postgresql
from sqlalchemy.types import TypeDecorator, TypeEngine, UserDefinedType

from recollect.errors import InvalidInput

_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class Instant(TypeDecorator[Any]):
    """A moment, in UTC. `timestamptz` on Postgres; microseconds since 1970 as an integer on SQLite, so that
    it sorts.
    """

    impl = BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Any) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(postgresql.TIMESTAMP(timezone=True))  # type: ignore[no-any-return]
        return dialect.type_descriptor(BigInteger())  # type: ignore[no-any-return]


class Names(TypeDecorator[Any]):
    """A tuple of short texts. `text[]` on Postgres, a JSON array on SQLite."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Any) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(postgresql.ARRAY(Text()))  # type: ignore[no-any-return]
        return dialect.type_descriptor(Text())  # type: ignore[no-any-return]


class Document(TypeDecorator[Any]):
    """Any JSON value, kept as it was written: `json` on Postgres (`jsonb` would turn 1e23 into an integer), text on SQLite."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Any) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(postgresql.JSON())  # type: ignore[no-any-return]
        return dialect.type_descriptor(Text())  # type: ignore[no-any-return]


class HalfVector(TypeDecorator[Any]):
    """A vector in half precision, of whatever length its generation has. pgvector's `halfvec` on Postgres, a
    blob on SQLite.
    """

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Any) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(_PgHalfVector())  # type: ignore[no-any-return]
        return dialect.type_descriptor(LargeBinary())  # type: ignore[no-any-return]


class _PgHalfVector(UserDefinedType[Any]):
    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "halfvec"


def to_json(value: Any) -> str:
    """JSON text that reads back as the same value, on both dialects."""
    try:
        return _JSON.encode(value)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            "the value can't be written as JSON: use text, finite numbers, lists, dicts, booleans, None"
        ) from error


def half(vector: Any) -> bytes:
    """A vector as half-precision floats, little endian."""
    return np.asarray(vector, dtype="<f2").tobytes()
