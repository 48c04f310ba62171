"""Which source a qualified name is taken from, and what columns that has.

It has to be known exactly: where `t` has no column `f`, Postgres reads `t.f` as a call of the function `f` on the whole row. A
name that is a column elsewhere in the statement, or only an alias, would so call what is on no list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from recollect.providers.answerers.schema import Table, folded

Meaning = Callable[[exp.Table], Table | exp.CTE]
"""What the name of a table means: a table of the schema, or a WITH query."""


class Scoping:
    """`spelt` gives a name as the database compares it."""

    def __init__(self, meaning: Meaning, spelt: Callable[[exp.Identifier], str]) -> None:
        self._meaning, self._spelt = meaning, spelt
        self._known: dict[int, list[str]] = {}

    def columns(self, column: exp.Column) -> list[str] | None:
        """Of the nearest source that goes by the name before the dot; None where nothing does."""
        wanted = self._spelt(column.args["table"])
        place = column.find_ancestor(exp.Select)
        while place is not None:
            for source in (named for each in _sources(place) for named in _nameable(each)):
                if (name := _name(source)) is not None and self._spelt(name) == wanted:
                    return self._of(source)
            place = place.find_ancestor(exp.Select)
        return None

    def _of(self, source: exp.Expr) -> list[str]:
        if id(source) not in self._known:
            self._known[id(source)] = _renamed(self._own(source), source)
        return self._known[id(source)]

    def _own(self, source: exp.Expr) -> list[str]:
        if isinstance(source, exp.Table):
            meant = self._meaning(source)
            if isinstance(meant, Table):
                return [folded(each.name) for each in meant.columns]
            return _renamed(self._given(meant.this), meant)
        if _is_group(source):
            return [name for each in _joined(source) for name in self._of(each)]
        return self._given(source.this) if isinstance(source, exp.Subquery) else []

    def _given(self, query: exp.Expr) -> list[str]:
        """The names of what a query gives, in their order."""
        while isinstance(query, exp.SetOperation | exp.Subquery):
            query = query.this
        names: list[str] = []
        for each in query.expressions if isinstance(query, exp.Select) else ():
            if isinstance(each, exp.Star):
                names += [name for source in _sources(query) for name in self._of(source)]
            elif isinstance(each, exp.Column) and isinstance(each.this, exp.Star):
                names += self.columns(each) or []
            else:
                names.append(folded(each.alias_or_name))
        return names


def _sources(select: exp.Expr) -> Iterator[exp.Expr]:
    """What a SELECT takes its rows from."""
    for clause in (select.args.get("from_"), *(select.args.get("joins") or ())):
        if clause is not None:
            yield clause.this


def _name(source: exp.Expr) -> exp.Identifier | None:
    alias = source.args.get("alias")
    name = alias.this if isinstance(alias, exp.TableAlias) and alias.this else source.this
    return name if isinstance(name, exp.Identifier) else None


def _joined(group: exp.Expr) -> Iterator[exp.Expr]:
    """What stands together in parentheses."""
    yield group.this
    for join in group.this.args.get("joins") or ():
        yield join.this


def _nameable(source: exp.Expr) -> Iterator[exp.Expr]:
    """The source, or where it is several in parentheses that have no name together, each of them."""
    if _is_group(source) and not source.alias:
        for each in _joined(source):
            yield from _nameable(each)
    else:
        yield source


def _is_group(source: exp.Expr) -> bool:
    if not isinstance(source, exp.Subquery):
        return False
    inner = source.this
    nested = isinstance(inner, exp.Subquery) and (_is_group(inner) or inner.alias or inner.args.get("joins"))
    return isinstance(inner, exp.Table) or bool(nested)


def _renamed(names: list[str], source: exp.Expr) -> list[str]:
    alias = source.args.get("alias")
    first = [folded(each.name) for each in alias.args.get("columns") or ()] if isinstance(alias, exp.TableAlias) else []
    return [*first, *names[len(first) :]]
