"""Reads what a database has: its tables, their columns and links, and some of the words in them.

The words tell apart a region called South from a product called South, to rules and to models alike. They are read from the first
rows of a table only, and only of so many columns: a schema is looked at again every few minutes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, column, func, inspect, select, table, types
from sqlalchemy.engine import Inspector
from sqlalchemy.sql import TableClause

from recollect.providers.answerers.schema import Column, Kind, Link, Schema, Table, folded, singular

MOST_TABLES = 500
MOST_VALUES = 200
LOOKED_AT = 10_000
"""Rows of a table that are looked at for its words."""
SAMPLED_TABLES = 40
LONGEST_VALUE = 80
SYSTEM = re.compile(r"^(sqlite_|pg_)", re.IGNORECASE)
SYSTEM_SCHEMAS = frozenset({"information_schema", "pg_catalog", "pg_toast", "mysql", "sys", "performance_schema"})
_DAY = re.compile(r"^\d{4}-\d\d-\d\d([T ]|$)")


def read_schema(connection: Connection, wanted: Sequence[str], database: str) -> Schema:
    inspector = inspect(connection)
    found = [_table(inspector, name, schema, view) for name, schema, view in _names(inspector, wanted)]
    sampled = [_sampled(connection, each) if at < SAMPLED_TABLES else each for at, each in enumerate(found)]
    linked = [replace(each, links=(*each.links, *_likely(each, sampled))) for each in sampled]
    return Schema(tuple(map(_keyed, linked)), database, inspector.default_schema_name or "")


def _names(inspector: Inspector, wanted: Sequence[str]) -> Iterator[tuple[str, str | None, bool]]:
    """Tables and views of the schemas that are spoken of, and of those only what is wanted."""
    wishes = {folded(each.strip()) for each in wanted if each.strip()}
    schemas = {each.rpartition(".")[0] or None for each in wishes} or {None}
    count = 0
    for schema in sorted(schemas, key=lambda each: each or ""):
        if schema in SYSTEM_SCHEMAS:
            continue
        default = schema is None or schema == folded(inspector.default_schema_name or "")
        kept = None if default else schema
        views = set(inspector.get_view_names(schema=kept))
        for name in sorted({*inspector.get_table_names(schema=kept), *views}):
            asked = not wishes or folded(name if schema is None else f"{schema}.{name}") in wishes
            if asked and not SYSTEM.match(name) and count < MOST_TABLES:
                count += 1
                yield name, kept, name in views


def _table(inspector: Inspector, name: str, schema: str | None, view: bool) -> Table:
    keys = set() if view else set(inspector.get_pk_constraint(name, schema=schema).get("constrained_columns") or ())
    foreign = [] if view else inspector.get_foreign_keys(name, schema=schema)
    links = [
        Link(each["constrained_columns"][0], each["referred_table"], each["referred_columns"][0])
        for each in foreign
        if len(each["constrained_columns"]) == len(each["referred_columns"]) == 1
    ]
    keys |= {each.column for each in links}
    columns = [
        Column(each["name"], _kind(each["type"]), key=each["name"] in keys)
        for each in inspector.get_columns(name, schema=schema)
    ]
    return Table(name, tuple(columns), tuple(links), schema, view)


def _kind(type_: Any) -> Kind:
    kinds: tuple[tuple[Any, Kind], ...] = (
        (types.Boolean, "boolean"),
        ((types.Integer, types.Numeric, types.Float), "number"),
        ((types.Date, types.DateTime), "date"),
        (types.String, "text"),
    )
    return next((kind for classes, kind in kinds if isinstance(type_, classes)), "other")


def _sampled(connection: Connection, found: Table) -> Table:
    if not any(each.kind == "text" for each in found.columns):
        return found
    source = table(found.name, *(column(each.name) for each in found.columns), schema=found.schema)
    first = select(*source.c).limit(LOOKED_AT + 1).subquery()
    whole = (connection.scalar(select(func.count()).select_from(first)) or 0) <= LOOKED_AT
    return replace(found, columns=tuple(_worded(connection, source, each, whole) for each in found.columns))


def _worded(connection: Connection, source: TableClause, found: Column, whole: bool) -> Column:
    if found.kind != "text":
        return found
    first = select(source.c[found.name].label("value")).limit(LOOKED_AT).subquery()
    distinct = select(first.c.value).where(first.c.value.is_not(None)).distinct().limit(MOST_VALUES + 1)
    values = sorted(str(each) for each in connection.scalars(distinct) if len(str(each)) <= LONGEST_VALUE)
    if values and all(map(_DAY.match, values)):
        return replace(found, kind="date")
    return replace(found, values=tuple(values[:MOST_VALUES]), complete=whole and len(values) <= MOST_VALUES)


def _likely(found: Table, tables: Sequence[Table]) -> Iterator[Link]:
    """Links nobody declared: `region_id` where another table's key has that name, or is `id` of `regions`."""
    known = {folded(each.column) for each in found.links}
    for each in found.columns:
        name = folded(each.name)
        if name in known or not name.endswith("_id"):
            continue
        for other in tables:
            own = next((key for key in other.columns if key.key and folded(key.name) in {name, "id"}), None)
            declared = (
                other.links and own is not None and any(folded(own.name) == folded(x.column) for x in other.links)
            )
            meant = own is not None and not declared and singular(folded(other.name)) == name.removesuffix("_id")
            if other is not found and own is not None and meant:
                yield Link(each.name, other.name, own.name)
                break


def _keyed(found: Table) -> Table:
    keys = {folded(each.column) for each in found.links}
    return replace(
        found,
        columns=tuple(replace(each, key=each.key or folded(each.name) in keys) for each in found.columns),
    )
