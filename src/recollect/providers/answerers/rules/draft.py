"""A query in the making: the SQL before, with the changes a question asks for.

Only plain queries are changed: one SELECT over tables and their joins. What is built of other queries could be adapted in more
than one place, and so isn't.
"""

from __future__ import annotations

from collections.abc import Iterable

import sqlglot
from sqlglot import exp

from recollect.providers.answerers.guard import UNREADABLE
from recollect.providers.answerers.rules.saying import NotUnderstood
from recollect.providers.answerers.schema import Column, Schema, Table, folded, words_of

AGGREGATES: dict[str, type[exp.AggFunc]] = {
    "total": exp.Sum,
    "average": exp.Avg,
    "highest": exp.Max,
    "lowest": exp.Min,
    "number": exp.Count,
}


class Draft:
    def __init__(self, sql: str, schema: Schema, dialect: str) -> None:
        self.schema = schema
        self.dialect = dialect
        self.select = _plain_select(sql, dialect)
        self.changes: list[str] = []
        self._aliases: dict[str, Table] = {}
        self._spelt: dict[str, str] = {}
        for node in self.select.find_all(exp.Table):
            table = schema.table(node.name, node.db or None)
            if table is None:
                # Its name is not told: it may be one that whoever asks is not to know of any more.
                raise NotUnderstood("the query before reads a table that I can't read (any more)")
            if node.parent_select is self.select:
                self._called(node.alias_or_name, table)

    @property
    def sql(self) -> str:
        return self.select.sql(self.dialect, comments=False)

    @property
    def tables(self) -> list[Table]:
        return list({each.full: each for each in self._aliases.values()}.values())

    # -- columns -------------------------------------------------------------------------------------------

    def column(self, table: Table, column: Column) -> exp.Column:
        """The column as this query can name it; its table is joined if it isn't there and one link leads to it."""
        alias = self._alias_of(table)
        single = len(self._aliases) == 1 and not any(each.table for each in self.select.find_all(exp.Column))
        return exp.column(exp.to_identifier(column.name), table=None if single else exp.to_identifier(alias))

    def owner(self, column: exp.Column) -> tuple[Table, Column] | None:
        """Which table's column this is."""
        if column.table:
            table = self._aliases.get(folded(column.table))
            found = table.column(column.name) if table is not None else None
            return (table, found) if table is not None and found is not None else None
        owners = [(table, found) for table in self.tables if (found := table.column(column.name)) is not None]
        return owners[0] if len(owners) == 1 else None

    def _alias_of(self, table: Table) -> str:
        aliases = [alias for alias, each in self._aliases.items() if each.full == table.full]
        if len(aliases) > 1:
            raise NotUnderstood(f"{table.name} occurs more than once in the query before")
        return self._spelt[aliases[0]] if aliases else self._join(table)

    def _called(self, alias: str, table: Table) -> None:
        self._aliases[folded(alias)] = table
        self._spelt[folded(alias)] = alias

    def _join(self, table: Table) -> str:
        ways = [
            (alias, near, link, forward)
            for alias, near in self._aliases.items()
            for link, forward in ((near.link_to(table), True), (table.link_to(near), False))
            if link is not None
        ]
        # A join from the many to the one adds a name to each row; the other way round it would multiply rows.
        ways = [each for each in ways if each[3]] or ways
        if len(ways) != 1 or (not ways[0][3] and self.aggregated):
            raise NotUnderstood(f"I don't see how {table.name} belongs to {', '.join(t.name for t in self.tables)}")
        near_alias, _, link, forward = ways[0]
        near_alias = self._spelt[near_alias]
        self._name_everything()
        alias = self._fresh_alias(table)
        here, there = (link.column, link.key) if forward else (link.key, link.column)
        condition = exp.EQ(this=exp.column(here, table=near_alias), expression=exp.column(there, table=alias))
        source = exp.alias_(exp.to_table(table.full), alias, table=True)
        if self.select.is_star and self.select.find(exp.Star) in self.select.expressions:
            self.select.set("expressions", [exp.Column(this=exp.Star(), table=exp.to_identifier(near_alias))])
        self.select = self.select.join(source, on=condition, copy=False)
        self._called(alias, table)
        return alias

    def _name_everything(self) -> None:
        """Before a second table comes in, columns say which table they are of."""
        if len(self._aliases) != 1:
            return
        alias, table = next(iter(self._aliases.items()))
        for each in self.select.find_all(exp.Column):
            if not each.table and table.column(each.name) is not None:
                each.set("table", exp.to_identifier(self._spelt[alias]))

    def _fresh_alias(self, table: Table) -> str:
        taken = set(self._aliases)
        initial = folded(table.name)[:1]
        short = initial if initial.isascii() and initial.isalpha() and initial not in taken else table.name
        # T1, T2 … where the query before speaks so.
        numbered = f"T{len(taken) + 1}"
        return numbered if all(each[:1] == "t" and each[1:].isdecimal() for each in taken) else short

    # -- what is asked for ---------------------------------------------------------------------------------

    @property
    def aggregates(self) -> list[exp.AggFunc]:
        return [each for part in self.select.expressions for each in part.find_all(exp.AggFunc)]

    @property
    def aggregated(self) -> bool:
        return bool(self.aggregates) or self.select.args.get("group") is not None

    @property
    def groups(self) -> list[exp.Expr]:
        group = self.select.args.get("group")
        return list(group.expressions) if group is not None else []

    def measure(self) -> exp.Expr:
        """What rows are ranked by when nothing else is said: the one aggregate of the query."""
        found = self.aggregates
        if len(found) == 1:
            return found[0].copy()
        if not found and self.groups:
            return exp.Count(this=exp.Star())
        order = self.select.args.get("order")
        if order is not None and len(order.expressions) == 1:
            ranked: exp.Expr = order.expressions[0].this
            return ranked.copy()
        raise NotUnderstood("by what should they be ranked?")

    # -- conditions ----------------------------------------------------------------------------------------

    def conditions(self, clause: str = "where") -> list[exp.Expr]:
        """The conditions that all must hold."""
        where = self.select.args.get(clause)
        if where is None:
            return []
        this = where.this.unnest()
        return list(this.flatten()) if isinstance(this, exp.And) else [this]

    def keep(self, conditions: Iterable[exp.Expr], clause: str = "where") -> None:
        kept = [each.copy() for each in conditions]
        node = exp.Where if clause == "where" else exp.Having
        self.select.set(clause, node(this=exp.and_(*kept, copy=False)) if kept else None)

    def on_column(self, table: Table, column: Column) -> list[exp.Expr]:
        """The conditions about this column alone."""
        return [each for each in self.conditions() if self._about(each) == (table.full, folded(column.name))]

    def about(self, condition: exp.Expr) -> tuple[Table, Column] | None:
        owners = [self.owner(each) for each in condition.find_all(exp.Column)]
        unique = {(each[0].full, folded(each[1].name)): each for each in owners if each is not None}
        nested = condition.find(exp.Select) is not None
        return next(iter(unique.values())) if len(unique) == 1 and None not in owners and not nested else None

    def _about(self, condition: exp.Expr) -> tuple[str, str] | None:
        found = self.about(condition)
        return (found[0].full, folded(found[1].name)) if found is not None else None

    # -- words that only repeat what is there ----------------------------------------------------------------

    def vocabulary(self) -> frozenset[str]:
        words = {word for table in self.tables for word in words_of(table.name)}
        words |= {word for each in self.select.expressions if each.alias for word in words_of(each.alias)}
        return frozenset(words | {f"{word}s" for word in words})


def _plain_select(sql: str, dialect: str) -> exp.Select:
    try:
        found = sqlglot.parse_one(sql, read=dialect)
    except UNREADABLE:
        raise NotUnderstood("I can't read the SQL of the question before") from None
    sources = [] if not isinstance(found, exp.Select) else [found.args.get("from_"), *(found.args.get("joins") or ())]
    if not sources or any(each is None or not isinstance(each.this, exp.Table) for each in sources):
        raise NotUnderstood("the SQL of the question before is not one plain SELECT")
    if found.args.get("with_") is not None:
        raise NotUnderstood("the SQL of the question before is built of several queries")
    assert isinstance(found, exp.Select)
    return found
