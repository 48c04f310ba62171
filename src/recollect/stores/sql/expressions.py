"""The few expressions SQLAlchemy has no portable word for, and the scope that every statement is bound to.

Sets of ids and tags travel as one parameter (a JSON array on SQLite, a text array on Postgres), so a
statement's text doesn't depend on how many there are and is compiled once.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from sqlalchemy import Boolean, ColumnElement, FromClause, Table, bindparam, literal_column
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from recollect.model import Scope
from recollect.stores.sql.tables import KEYS
from recollect.stores.sql.types import Names

SCOPE = ("tenant_id", "user_id", "space")


def owner(scope: Scope) -> dict[str, str]:
    """The parameters that bind a statement to a scope."""
    return {"tenant_id": scope.tenant, "user_id": scope.user, "space": scope.space}


def own(table: FromClause) -> ColumnElement[bool]:
    """The rows of the scope a statement is bound to."""
    first, *others = (table.c[name] == bindparam(name) for name in SCOPE)
    condition: ColumnElement[bool] = first
    for other in others:
        condition = condition & other
    return condition


def fixed(value: StrEnum | str) -> ColumnElement[Any]:
    """A constant of ours written into the statement itself, so that partial indexes can be seen to apply."""
    assert value.isidentifier()
    return literal_column(f"'{value}'")


def adding(table: Table) -> Insert:
    """Insert a row of `table`; every column is a parameter of its own name. Both dialects spell its ON
    CONFLICT alike.
    """
    return insert(table).values({column.name: bindparam(column.name) for column in table.c})


def changing(table: Table, *, but: Iterable[str] = ()) -> dict[str, Any]:
    """The SET part that writes every column beside the table's key."""
    kept = {*SCOPE, *KEYS[table.name], *but}
    return {column.name: bindparam(column.name) for column in table.c if column.name not in kept}


def putting(table: Table, *, but: Iterable[str] = ()) -> Insert:
    """Insert a row, or write every column beside the key (and `but`) of the one that is there."""
    statement = adding(table)
    names = changing(table, but=but)
    return statement.on_conflict_do_update(
        index_elements=[*SCOPE, *KEYS[table.name]], set_={name: statement.excluded[name] for name in names}
    )


class member(FunctionElement[bool]):
    """`member(column, "ids")`: the column's value is one of those in the parameter."""

    type = Boolean()
    inherit_cache = True

    def __init__(self, column: ColumnElement[Any], parameter: str) -> None:
        super().__init__(column, bindparam(parameter, type_=Names()))


class overlap(FunctionElement[bool]):
    """`overlap(column, "tags")`: the column, a tuple of names, has one in common with the parameter."""

    type = Boolean()
    inherit_cache = True

    def __init__(self, column: ColumnElement[Any], parameter: str) -> None:
        super().__init__(column, bindparam(parameter, type_=Names()))


def _sides(element: FunctionElement[Any], compiler: Any, **kw: Any) -> tuple[str, str]:
    column, parameter = element.clauses
    return compiler.process(column, **kw), compiler.process(parameter, **kw)


@compiles(member, "sqlite")
def _member_sqlite(element: member, compiler: Any, **kw: Any) -> str:
    column, parameter = _sides(element, compiler, **kw)
    return f"{column} IN (SELECT value FROM json_each({parameter}))"


@compiles(member, "postgresql")
def _member_postgresql(element: member, compiler: Any, **kw: Any) -> str:
    column, parameter = _sides(element, compiler, **kw)
    return f"{column} = ANY ({parameter})"


@compiles(overlap, "sqlite")
def _overlap_sqlite(element: overlap, compiler: Any, **kw: Any) -> str:
    column, parameter = _sides(element, compiler, **kw)
    wanted = f"SELECT value FROM json_each({parameter})"
    return f"EXISTS (SELECT 1 FROM json_each({column}) AS one WHERE one.value IN ({wanted}))"


@compiles(overlap, "postgresql")
def _overlap_postgresql(element: overlap, compiler: Any, **kw: Any) -> str:
    column, parameter = _sides(element, compiler, **kw)
    return f"{column} && {parameter}"
