"""The seam between shared statements and a driver: run a SQLAlchemy Core statement, get decoded rows.

A dialect compiles each statement object once and remembers its text, how to write each parameter and how to
read each result column. Statements are module constants or come from cached builders, so compiling never
happens on a warm path. What a builder has let go of would stay here for ever, so when there are too many all are
compiled anew. What a value becomes is decided by the column's type, never by looking at the value:
the text "[]" stored as a document is not a list.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.engine import Dialect as SaDialect
from sqlalchemy.sql.base import Executable
from sqlalchemy.sql.expression import SelectBase
from sqlalchemy.types import TypeEngine

from recollect.stores.sql.types import HalfVector

Params = Mapping[str, Any]
Row = tuple[Any, ...]
Converter = Callable[[Any], Any] | None
MOST_PREPARED = 1000


@dataclass(frozen=True, slots=True)
class Prepared:
    """A compiled statement: its text, constants that were written into it, and converters for parameters and
    columns.
    """

    sql: str
    constants: Mapping[str, Any]
    encoders: tuple[tuple[str, Callable[[Any], Any]], ...]
    decoders: tuple[Converter, ...]
    plain: bool
    """No result column needs decoding."""


class Dialect(ABC):
    """How one database spells statements and values."""

    def __init__(self, sa_dialect: SaDialect) -> None:
        self._sa = sa_dialect
        self._prepared: dict[Executable, Prepared] = {}

    def prepare(self, statement: Executable) -> Prepared:
        ready = self._prepared.get(statement)
        if ready is None:
            if len(self._prepared) >= MOST_PREPARED:
                self._prepared.clear()
            ready = self._prepared[statement] = self._compile(statement)
        return ready

    def _compile(self, statement: Executable) -> Prepared:
        compiled = statement.compile(dialect=self._sa)  # type: ignore[attr-defined]
        encoders = {name: self.encoder(bind.type) for bind, name in compiled.bind_names.items()}
        constants = {
            name: encode(value) if (encode := encoders[name]) else value
            for name, value in compiled.params.items()
            if value is not None
        }
        columns = (
            statement.selected_columns if isinstance(statement, SelectBase) else getattr(statement, "_returning", ())
        )
        decoders = tuple(self.decoder(column.type) for column in columns)
        return Prepared(
            sql=str(compiled),
            constants=constants,
            encoders=tuple((n, e) for n, e in encoders.items() if e is not None and n not in constants),
            decoders=decoders,
            plain=not any(decoders),
        )

    @staticmethod
    def bind(prepared: Prepared, params: Params) -> dict[str, Any]:
        bound = {**prepared.constants, **params}
        for name, encode in prepared.encoders:
            value = bound[name]
            if value is not None:
                bound[name] = encode(value)
        return bound

    @staticmethod
    def decode(prepared: Prepared, rows: Sequence[Row]) -> list[Row]:
        if prepared.plain or not rows:
            return list(rows)
        # Column by column: most columns need no decoding, and those that do are done without a look at the others.
        columns: list[Any] = list(zip(*rows, strict=True))
        for place, decoder in enumerate(prepared.decoders):
            if decoder is not None:
                columns[place] = [None if value is None else decoder(value) for value in columns[place]]
        return list(zip(*columns, strict=True))

    def vectors(self, raw: Sequence[Any]) -> list[NDArray[np.float32] | None]:
        """Decode a whole column of vectors as the driver gave it. Dialects that can do it in one go override
        this.
        """
        decode = self.decoder(HalfVector())
        assert decode is not None
        return [None if value is None else decode(value) for value in raw]

    @abstractmethod
    def encoder(self, type_: TypeEngine[Any]) -> Converter:
        """How to write a parameter of this type, or None when the driver takes the Python value as it is."""

    @abstractmethod
    def decoder(self, type_: TypeEngine[Any]) -> Converter:
        """How to read a column of this type, or None when the driver's own value is right."""


class Session(ABC):
    """One open transaction of one scope on one connection."""

    dialect: ClassVar[Dialect]
    touched: Collection[str] = ()
    """Tables in which this transaction changed or removed rows, where a store needs to know them."""

    @abstractmethod
    def rows(self, statement: Executable, params: Params) -> list[Row]:
        """Run a statement and fetch all its rows, decoded."""

    @abstractmethod
    def run(self, statement: Executable, params: Params) -> int:
        """Run a statement for its effect; how many rows it touched."""

    @abstractmethod
    def run_many(self, statement: Executable, params: Sequence[Params]) -> None:
        """Run one statement for each set of parameters."""

    def send(self, statement: Executable, params: Sequence[Params]) -> None:
        """The same for statements of whose outcome nobody asks anything: done before whatever comes next, and it may travel
        together with that. What is wrong with one is then told by the next.
        """
        self.run_many(statement, params)

    @abstractmethod
    def flush(self) -> None:
        """Let nothing be under way any longer."""

    def row(self, statement: Executable, params: Params) -> Row | None:
        """The first row, if there is one."""
        found = self.rows(statement, params)
        return found[0] if found else None
