"""Which tables of a statement are not held to one user: an equality on `user_id`, stated or by way of another table, is what lets
Citus send it to one shard."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sqlglot import exp, parse_one

from recollect.stores.postgres.citus import COLUMN, DISTRIBUTED

PLACEHOLDER = re.compile(r"%\((\w+)\)s")


def strays(statement: str) -> list[str]:
    """Distributed tables that the statement reads or writes for more than one user."""
    parsed: Any = parse_one(PLACEHOLDER.sub(r"'\1'", statement), dialect="postgres")
    return list(_strays(parsed, {}))


def _strays(node: exp.Expression, outer: Mapping[str, bool]) -> Iterator[str]:
    if isinstance(node, exp.Insert):
        yield from _inserted(node)
        return
    tables = _held(node, outer)
    yield from (name for name, held in tables.values() if not held)
    visible = {**outer, **{alias: held for alias, (_, held) in tables.items()}}
    for below in _queries(node):
        yield from _strays(below, visible)


def _inserted(node: exp.Insert) -> Iterator[str]:
    into = node.this
    named = [column.name for column in into.expressions] if isinstance(into, exp.Schema) else []
    table = into.this.name if isinstance(into, exp.Schema) else into.name
    if table in DISTRIBUTED and not (COLUMN in named and isinstance(node.expression, exp.Values)):
        yield table


def _held(node: exp.Expression, outer: Mapping[str, bool]) -> dict[str, tuple[str, bool]]:
    """Every distributed table of this query, by the name it goes by, and whether its user is said."""
    tables = {each.alias_or_name: each.name for each in _tables(node) if each.name in DISTRIBUTED}
    held = {alias for alias, yes in outer.items() if yes and alias not in tables}
    pairs: list[tuple[str, str]] = []
    for equal in _conditions(node):
        sides = [_owner_of(side, tables) for side in (equal.this, equal.expression)]
        if sides[0] and sides[1]:
            pairs.append((sides[0], sides[1]))
        elif any(sides) and any(isinstance(_bare(side), exp.Literal) for side in (equal.this, equal.expression)):
            held.add(sides[0] or sides[1] or "")
    for _ in pairs:
        held |= {other for one, two in pairs for this, other in ((one, two), (two, one)) if this in held}
    return {alias: (name, alias in held) for alias, name in tables.items()}


def _owner_of(side: exp.Expression, tables: Mapping[str, str]) -> str | None:
    """The table whose `user_id` this is."""
    bare = _bare(side)
    if not isinstance(bare, exp.Column) or bare.name != COLUMN:
        return None
    return bare.table or (next(iter(tables)) if len(tables) == 1 else None)


def _bare(side: exp.Expression) -> exp.Expression:
    while isinstance(side, exp.Cast | exp.Paren):
        side = side.this
    return side


def _conditions(node: exp.Expression) -> Iterator[exp.EQ]:
    """Equalities that must hold, of WHERE and of inner joins."""
    joins = [join.args.get("on") for join in node.args.get("joins") or () if not join.side]
    where = node.args.get("where")
    for condition in (*joins, where.this if where else None):
        if condition is not None:
            parts = condition.flatten() if isinstance(condition, exp.And) else [condition]
            yield from (part for part in map(_bare, parts) if isinstance(part, exp.EQ))


def _tables(node: exp.Expression) -> Iterator[exp.Table]:
    return (each for each in _within(node) if isinstance(each, exp.Table))


def _queries(node: exp.Expression) -> Iterator[exp.Expression]:
    return (each for each in _within(node) if isinstance(each, exp.Select))


def _within(node: exp.Expression) -> Iterator[exp.Expression]:
    """Everything of this query itself; queries inside it are named but not entered."""
    for child in node.iter_expressions():
        yield child
        if not isinstance(child, exp.Select):
            yield from _within(child)
