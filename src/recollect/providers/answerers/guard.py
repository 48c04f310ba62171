"""Lets one statement through that only reads, only what is allowed, and only with functions that compute.

Nothing is looked for and forbidden: what a statement is made of is compared with what is known to be harmless, and the rest is
refused. Three things make that hold against statements that a database reads differently from us:

- what runs is not the text that came but one written anew from what was understood of it, without comments;
- that new text is looked at once more, word by word, for calls that are not on the list;
- a name is a table unless it certainly is the name of a WITH query, and then no such query may be named like a table.

The database has its own second lock (`database.py`).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import sqlglot
from sqlglot import ErrorLevel, exp
from sqlglot.errors import SqlglotError

from recollect.errors import InvalidInput, NotAllowed
from recollect.providers.answerers.functions import SYNTAX, TYPES, allowed_functions
from recollect.providers.answerers.schema import Schema, Table, folded
from recollect.providers.answerers.scoping import Scoping

# Its warnings quote statements, and statements are people's content.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)

MOST_CHARS = 8_000
MOST_TABLES = 16
MOST_JOINS = 16
MOST_QUERIES = 24
CASELESS = frozenset({"sqlite", "tsql", "duckdb"})
"""Dialects in which quoting a name doesn't make its case count."""
PARENLESS = frozenset("user current_role current_catalog current_schema session_user system_user localtime".split())
"""Functions that some databases call by their bare name."""

# What the parser trips over when a statement is broken or deliberately strange.
UNREADABLE = (SqlglotError, RecursionError, ValueError, TypeError, AttributeError, KeyError, IndexError)

_SHAPES: tuple[type[exp.Expr], ...] = (
    *(exp.Select, exp.Union, exp.Intersect, exp.Except, exp.Subquery, exp.Values, exp.Tuple, exp.With, exp.CTE),
    *(exp.From, exp.Join, exp.Table, exp.TableAlias, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered),
    *(exp.Limit, exp.Offset, exp.Fetch, exp.Distinct, exp.Rollup, exp.Cube, exp.GroupingSets),
    *(exp.Alias, exp.Identifier, exp.Column, exp.Star, exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.Var),
    *(exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.Between, exp.In, exp.Is, exp.Like, exp.ILike, exp.SimilarTo, exp.RegexpLike, exp.RegexpILike, exp.Escape),
    *(exp.Glob, exp.Exists, exp.Any, exp.All),
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.DPipe, exp.Case, exp.If),
    *(exp.Cast, exp.TryCast, exp.DataType, exp.DataTypeParam, exp.Interval, exp.AtTimeZone, exp.Collate),
    *(exp.Window, exp.WindowSpec, exp.Filter, exp.WithinGroup),
    # What the parser makes of date functions; how they are written in the end is looked at in the new text.
    *(exp.TimeToStr, exp.StrToTime, exp.StrToDate, exp.TsOrDsToTimestamp, exp.TsOrDsToDate, exp.TimestampTrunc),
    *(exp.Extract, exp.CurrentDate, exp.CurrentTimestamp, exp.StrPosition, exp.Date, exp.Concat, exp.ConcatWs),
    *(exp.Year, exp.Quarter, exp.Month, exp.Day, exp.GroupConcat, exp.LimitOptions),
)
_SHAPE_SET = frozenset(_SHAPES)
_UNSENDABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True)
class Passed:
    """A statement that may run: as it is shown, as it runs (with the row limit), and the tables it reads."""

    sql: str
    bounded: str
    tables: tuple[Table, ...]


class Guard:
    """`schema` holds the allowed tables and no others."""

    def __init__(self, dialect: str, schema: Schema, rows: int) -> None:
        self._dialect = dialect
        self._schema = schema
        self._rows = rows
        self._functions = allowed_functions(dialect)

    def check(self, sql: str) -> Passed:
        """`NotAllowed` says which rule stands against it, `InvalidInput` what can't be understood in it."""
        statement = self._parsed(sql)
        try:
            self._inspect(statement)
            tables = self._tables(statement)
            self._names(statement, tables)
            bounded = self._written(self._limited(statement))
            text = self._written(statement)
        except UNREADABLE as problem:
            raise InvalidInput(f"the statement can't be read as {self._dialect}: {type(problem).__name__}") from None
        return Passed(text, bounded, tuple(tables))

    def _parsed(self, sql: str) -> exp.Query:
        if len(sql) > MOST_CHARS:
            raise NotAllowed(f"a statement may have {MOST_CHARS} characters at most")
        if _UNSENDABLE.search(sql):
            raise NotAllowed("a statement may hold no control characters")
        try:
            statements = [each for each in sqlglot.parse(sql.strip().rstrip(";"), read=self._dialect) if each]
        except UNREADABLE:
            raise InvalidInput(f"the statement can't be read as {self._dialect}") from None
        if len(statements) != 1:
            raise NotAllowed(f"exactly one statement may be run, not {len(statements)}")
        if not isinstance(statements[0], exp.Select | exp.SetOperation):
            raise NotAllowed("only a SELECT may be run")
        statement: exp.Query = statements[0]
        if self._dialect == "sqlite":
            spelt = statement.transform(_spelt_for_sqlite)
            assert isinstance(spelt, exp.Query)
            return spelt
        return statement

    def _inspect(self, statement: exp.Query) -> None:
        queries = 0
        for node in statement.walk():
            if type(node) not in _SHAPE_SET and not self._computes(node):
                raise NotAllowed(f"{_named(node)} is not allowed in a statement that only reads")
            if isinstance(node, exp.DataType) and not _plain_type(node):
                raise NotAllowed("only plain numbers, texts, dates and booleans may be converted to")
            if isinstance(node, exp.With) and node.args.get("recursive"):
                raise NotAllowed("WITH RECURSIVE is not allowed")
            if isinstance(node, exp.Limit | exp.Offset | exp.Fetch):
                _counted(node)
            if isinstance(node, exp.Select) and not node.expressions:
                raise NotAllowed("a SELECT must say what it selects")
            if isinstance(node, exp.Replace | exp.RegexpReplace) and not _shortens(node):
                raise NotAllowed("what is put in the place of a text may not be longer than what it replaces")
            queries += isinstance(node, exp.Query)
        _joins_little(statement)
        if queries > MOST_QUERIES:
            raise NotAllowed(f"a statement may hold {MOST_QUERIES} queries at most")

    def _computes(self, node: exp.Expr) -> bool:
        if isinstance(node, exp.Anonymous):
            return isinstance(node.this, str) and folded(node.this) in self._functions
        return isinstance(node, exp.Func) and any(folded(name) in self._functions for name in node.sql_names())

    def _tables(self, statement: exp.Query) -> list[Table]:
        found: dict[str, Table] = {}
        nodes = list(statement.find_all(exp.Table))
        if len(nodes) > MOST_TABLES:
            raise NotAllowed(f"a statement may read {MOST_TABLES} tables at most")
        for cte in statement.find_all(exp.CTE):
            if any(folded(cte.alias) == folded(table.name) for table in self._schema.tables):
                raise NotAllowed(f"a WITH query may not be named like the table {cte.alias!r}")
        for node in nodes:
            if not isinstance(node.this, exp.Identifier) or set(_given(node)) - {"this", "db", "alias"}:
                raise NotAllowed("rows may come from tables only, not from functions")
            if isinstance(meant := self._meant(node), Table):
                found[meant.full] = meant
        return list(found.values())

    def _table(self, node: exp.Table) -> Table:
        schema = node.args.get("db")
        if schema is not None and self._same(schema, self._schema.default):
            schema = None
        for table in self._schema.tables:
            fits = (
                self._same(schema, table.schema)
                if schema is not None and table.schema
                else not (schema or table.schema)
            )
            if fits and self._same(node.this, table.name):
                return table
        raise NotAllowed(f"there is no table {node.name!r}, or it is not yours to read")

    def _meant(self, node: exp.Table) -> Table | exp.CTE:
        """A table, unless this name means a WITH query for sure: one of an enclosing query, complete before this place."""
        child: exp.Expr = node
        parent = None if node.args.get("db") is not None else node.parent
        while parent is not None:
            with_ = parent.args.get("with_")
            visible: list[exp.CTE] = []
            if isinstance(parent, exp.With):
                visible = parent.expressions[: next(i for i, each in enumerate(parent.expressions) if each is child)]
            elif isinstance(with_, exp.With) and with_ is not child:
                visible = with_.expressions
            for each in visible:
                if self._same_names(node.this, each.args["alias"].this):
                    return each
            child, parent = parent, parent.parent
        return self._table(node)

    def _names(self, statement: exp.Query, tables: list[Table]) -> None:
        """Every name must be one we know: databases call functions by bare names as well (`user`, `t.function`)."""
        known = {folded(column.name) for table in tables for column in table.columns}
        scoping = Scoping(self._meant, self._effective)
        known |= {folded(node.alias) for node in statement.find_all(exp.Alias)}
        for alias in statement.find_all(exp.TableAlias):
            known |= {folded(each.name) for each in alias.args.get("columns") or ()}
        for column in statement.find_all(exp.Column):
            there = scoping.columns(column) if column.table else known
            if set(_given(column)) - {"this", "table"} or there is None:
                raise InvalidInput(f"nothing here is called {column.sql(self._dialect)!r}")
            if not column.table and not column.this.args.get("quoted") and folded(column.name) in PARENLESS:
                raise NotAllowed(f"the function {column.name!r} is not allowed")
            if not isinstance(column.this, exp.Star) and folded(column.name) not in there:
                raise InvalidInput(f"there is no column {column.name!r} in the tables of this statement")
        for join in statement.find_all(exp.Join):
            for each in join.args.get("using") or ():
                if folded(each.name) not in known:
                    raise InvalidInput(f"there is no column {each.name!r} in the tables of this statement")

    def _limited(self, statement: exp.Query) -> exp.Query:
        """One row more than is shown, to know whether there are more."""
        wanted = self._rows + 1
        limit = statement.args.get("limit")
        asked = _counted(limit) if limit is not None else None
        return statement.copy() if asked is not None and asked <= wanted else statement.limit(wanted)

    def _written(self, statement: exp.Query) -> str:
        columned = {folded(each.name) for each in statement.find_all(exp.TableAlias) if each.args.get("columns")}
        # Without a copy of its own: what is written is not looked at again.
        text = statement.sql(self._dialect, comments=False, unsupported_level=ErrorLevel.RAISE, copy=False)
        for call in _calls(text, self._dialect):
            if call not in self._functions and call not in SYNTAX and call not in columned:
                raise NotAllowed(f"the function {call!r} is not allowed")
        return text

    def _same_names(self, one: exp.Identifier, other: exp.Identifier) -> bool:
        return self._effective(one) == self._effective(other)

    def _same(self, identifier: exp.Identifier, name: str | None) -> bool:
        real = name or ""
        return self._effective(identifier) == (folded(real) if self._dialect in CASELESS else real)

    def _effective(self, identifier: exp.Identifier) -> str:
        name = identifier.name
        exact = self._dialect not in CASELESS and (identifier.quoted or self._dialect == "mysql")
        return name if exact else folded(name)


def _spelt_for_sqlite(node: exp.Expr) -> exp.Expr:
    """`YEAR(x)` and its like, which people and models write everywhere and SQLite doesn't know."""
    parts: dict[type[exp.Expr], str] = {exp.Year: "%Y", exp.Month: "%m", exp.Day: "%d"}
    part = parts.get(type(node))
    if part is None:
        return node
    # The parser wraps the argument of some of them in a conversion that SQLite has no need of.
    of = node.this.this if isinstance(node.this, exp.TsOrDsToDate) else node.this
    written = exp.Anonymous(this="STRFTIME", expressions=[exp.Literal.string(part), of])
    return exp.Cast(this=written, to=exp.DataType.build("INTEGER"))


def _named(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return f"the function {node.name!r}"
    return f"the function {node.sql_names()[0]!r}" if isinstance(node, exp.Func) else type(node).__name__.upper()


def _given(node: exp.Expr) -> Iterator[str]:
    return (name for name, value in node.args.items() if value not in (None, False, []))


def _shortens(node: exp.Replace | exp.RegexpReplace) -> bool:
    """Whether a replacement can't make a text longer. One that can makes gigabytes of a few letters when it is nested."""
    before, after = node.args.get("expression"), node.args.get("replacement")
    if after is None:
        return True
    if not isinstance(after, exp.Literal) or not isinstance(before, exp.Literal):
        return False
    if isinstance(node, exp.RegexpReplace):
        return len(after.name) <= 1 and after.name != "&"
    return len(after.name) <= len(before.name)


def _joins_little(statement: exp.Query) -> None:
    """Every join may double a text that an inner query has doubled before."""
    joins = sum(1 for _ in statement.find_all(exp.DPipe, exp.GroupConcat))
    joins += sum(len(node.expressions) for node in statement.find_all(exp.Concat, exp.ConcatWs))
    if joins > MOST_JOINS:
        raise NotAllowed(f"a statement may put {MOST_JOINS} texts together at most")


def _plain_type(node: exp.DataType) -> bool:
    written = folded(node.sql("postgres")).split("(")[0].split()
    return not node.args.get("nested") and all(word in TYPES or word in SYNTAX for word in written)


def _counted(node: exp.Expr) -> int:
    if isinstance(node, exp.Fetch):
        options = node.args.get("limit_options")
        if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
            raise NotAllowed("LIMIT must be a plain number")
        count = node.args.get("count")
    else:
        count = node.expression
    if not isinstance(count, exp.Literal) or not count.name.isdecimal() or len(count.name) > 9:
        raise NotAllowed("LIMIT and OFFSET must be plain numbers")
    return int(count.name)


def _calls(text: str, dialect: str) -> Iterator[str]:
    """Every word that is followed by a parenthesis, folded."""
    tokens = sqlglot.tokenize(text, read=dialect)
    for token, following in pairwise(tokens):
        named = token.text[:1].isalpha() or token.text[:1] in {"_", '"'}
        if named and following.token_type is sqlglot.TokenType.L_PAREN:
            # Keywords of two words are one token: what stands before the parenthesis of `GROUP BY (a)` is BY.
            whole = token.token_type is sqlglot.TokenType.IDENTIFIER
            yield folded(token.text if whole else token.text.split()[-1])


def tables_in(sql: str, dialect: str | None = None) -> tuple[str, ...]:
    """The tables that some SQL names, qualified as it qualifies them, WITH queries aside; none if it can't be read."""
    try:
        statements = [each for each in sqlglot.parse(sql, read=dialect) if each]
    except UNREADABLE:
        return ()
    found: dict[str, None] = {}
    for statement in statements:
        queries = {folded(each.alias) for each in statement.find_all(exp.CTE)}
        for node in statement.find_all(exp.Table):
            name = ".".join(each.name for each in node.parts if isinstance(each, exp.Identifier))
            if name and (node.args.get("db") is not None or folded(name) not in queries):
                found[name] = None
    return tuple(found)
