"""The seam between shared statements and a driver: run a SQLAlchemy Core statement, get decoded rows.

A dialect compiles each statement object once and remembers its text and the decoders of its result columns. Statements are
module constants or come from cached builders, so compiling never happens on a warm path.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.engine import Dialect as SaDialect
from sqlalchemy.sql.base import Executable
from sqlalchemy.sql.expression import Select
from sqlalchemy.types import TypeEngine

Params = Mapping[str, Any]
Row = tuple[Any, ...]
Decoder = Callable[[Any], Any] | None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A compiled statement: its text, constants that were written into it, and a decoder per result column."""

    sql: str
    constants: Mapping[str, Any]
    decoders: tuple[Decoder, ...]


class Dialect(ABC):
    """How one database spells statements and values."""

    def __init__(self, sa_dialect: SaDialect) -> None:
        self._sa = sa_dialect
        self._prepared: dict[Executable, Prepared] = {}

    def prepare(self, statement: Executable) -> Prepared:
        ready = self._prepared.get(statement)
        if ready is None:
            compiled = statement.compile(dialect=self._sa)  # type: ignore[attr-defined]
            constants = {k: self.encode(v) for k, v in compiled.params.items() if v is not None}
            ready = Prepared(str(compiled), constants, self._decoders(statement))
            self._prepared[statement] = ready
        return ready

    def _decoders(self, statement: Executable) -> tuple[Decoder, ...]:
        columns = statement.selected_columns if isinstance(statement, Select) else getattr(statement, "_returning", ())
        return tuple(self.decoder(column.type) for column in columns)

    def bind(self, prepared: Prepared, params: Params) -> dict[str, Any]:
        return {**prepared.constants, **{name: self.encode(value) for name, value in params.items()}}

    @staticmethod
    def decode(prepared: Prepared, rows: Sequence[Row]) -> list[Row]:
        if not any(prepared.decoders):
            return list(rows)
        return [
            tuple(
                value if decoder is None or value is None else decoder(value)
                for decoder, value in zip(prepared.decoders, row, strict=True)
            )
            for row in rows
        ]

    @abstractmethod
    def encode(self, value: Any) -> Any:
        """A Python value as the driver wants it."""

    @abstractmethod
    def decoder(self, type_: TypeEngine[Any]) -> Decoder:
        """How to read a column of this type, or None when the driver's own value is right."""


class Session(ABC):
    """One open transaction of one scope on one connection."""

    dialect: Dialect

    @abstractmethod
    def rows(self, statement: Executable, params: Params | None = None) -> list[Row]:
        """Run a statement and fetch all its rows, decoded."""

    @abstractmethod
    def run(self, statement: Executable, params: Params | None = None) -> int:
        """Run a statement for its effect; how many rows it touched."""

    @abstractmethod
    def run_many(self, statement: Executable, params: Sequence[Params]) -> None:
        """Run one statement for each set of parameters."""
