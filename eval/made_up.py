"""Databases that fit a set's queries, where the set comes without its own: every table and column the queries name, every value
they compare with, and rows made up from those. Two queries that give the same rows here need not be the same; two that give
others are not.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

ROWS = 60
KEYS = 20
NUMERIC = (exp.Sum, exp.Avg, exp.Add, exp.Sub, exp.Mul, exp.Div)
ROW_MOST = 5000
STEPS_MOST = 20_000_000


def read_sql(text: str) -> exp.Expr | None:
    """Text in double quotes is text in these sets, as in MySQL."""
    try:
        return sqlglot.parse_one(text, read="mysql")
    except SqlglotError:
        return None


@dataclass
class Made:
    """Columns by table, all in small letters; what stands in each; which ones are joined."""

    columns: dict[str, dict[str, set[str | float]]] = field(default_factory=lambda: defaultdict(dict))
    numbers: set[tuple[str, str]] = field(default_factory=set)
    keys: set[tuple[str, str]] = field(default_factory=set)

    def add(self, query: exp.Expr) -> None:
        for select in query.find_all(exp.Select):
            names = {each.alias_or_name.lower(): each.name.lower() for each in _tables(select)}
            for name in names.values():
                self.columns[name]  # a table is known even if no column of it is
            if names:
                for column in select.find_all(exp.Column):
                    if column.find_ancestor(exp.Select) is select:
                        self._note(column, names)

    def _note(self, column: exp.Column, names: dict[str, str]) -> None:
        table, name = self._table_of(column, names), column.name.lower()
        if table is None or not name:
            return
        values = self.columns[table].setdefault(name, set())
        parent = column.parent
        if isinstance(parent, NUMERIC):
            self.numbers.add((table, name))
        if isinstance(parent, exp.EQ) and all(isinstance(side, exp.Column) for side in (parent.left, parent.right)):
            self.keys.add((table, name))
        for literal in parent.find_all(exp.Literal) if isinstance(parent, exp.Predicate) and parent else ():
            if literal.is_string:
                values.add(literal.this.strip("%"))
            else:
                values.add(float(literal.this))
                self.numbers.add((table, name))

    def _table_of(self, column: exp.Column, names: dict[str, str]) -> str | None:
        if column.table:
            return names.get(column.table.lower())
        holding = [table for table in names.values() if column.name.lower() in self.columns[table]]
        return (holding or list(names.values()))[0]

    def write(self, path: Path) -> None:
        chance = Random(path.stem)
        with sqlite3.connect(path) as db:
            for table, columns in self.columns.items():
                named = columns or {"id": set()}
                kinds = {name: self._kind(table, name) for name in named}
                db.execute(f'CREATE TABLE "{table}" ({", ".join(f"{_quoted(n)} {k}" for n, k in kinds.items())})')
                rows = [[self._value(table, name, held, chance) for name, held in named.items()] for _ in range(ROWS)]
                db.executemany(f'INSERT INTO "{table}" VALUES ({", ".join("?" * len(named))})', rows)
        db.close()

    def _kind(self, table: str, name: str) -> str:
        return "REAL" if {(table, name)} & (self.numbers | self.keys) else "TEXT"

    def _value(self, table: str, name: str, held: set[str | float], chance: Random) -> str | float:
        if self._kind(table, name) == "REAL":
            around = [value for value in held if isinstance(value, float)] or [chance.randint(1, KEYS)]
            return float(chance.choice(around)) + chance.choice((-1, 0, 0, 1, chance.randint(1, KEYS)))
        texts = sorted(str(value) for value in held)
        return chance.choice([*texts, *(f"{name} {number}" for number in range(1, 8))])


def _tables(select: exp.Select) -> Iterable[exp.Table]:
    sources = [select.args.get("from_") or select.args.get("from"), *(select.args.get("joins") or ())]
    return [each.this for each in sources if each is not None and isinstance(each.this, exp.Table)]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def made(path: Path, queries: Iterable[exp.Expr]) -> None:
    """A database file at `path` in which all of `queries` could run."""
    found = Made()
    for query in queries:
        found.add(query)
    found.write(path)


def rows_of(path: Path, sql: str) -> list[tuple[object, ...]] | None:
    """What a query gives; None when it can't be run."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        db.set_progress_handler(lambda: 1, STEPS_MOST)
        return db.execute(sql).fetchmany(ROW_MOST)
    except sqlite3.Error:
        return None
    finally:
        db.close()


def same_rows(one: Sequence[tuple[object, ...]], other: Sequence[tuple[object, ...]], *, ordered: bool) -> bool:
    """In whatever order the columns are."""
    left, right = ([sorted(map(repr, row)) for row in rows] for rows in (one, other))
    return left == right if ordered else sorted(left) == sorted(right)
