"""Results in words: a line that says what was looked for, then the rows, as many as one reads.

The headline is read off the SQL that ran, not off the question: if something was misunderstood, it can be seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

import sqlglot
from sqlglot import exp

from recollect.providers.answerers.database import Rows
from recollect.providers.answerers.guard import UNREADABLE
from recollect.providers.answerers.rules import Adapted, adapt
from recollect.providers.answerers.rules.periods import part, unit_of
from recollect.providers.answerers.schema import Schema, singular

SHOWN = 20
RELATED = 3
_CJK = re.compile(r"[\u3400-\u9fff]")
_FIGURES: dict[type[exp.Expr], str] = {
    exp.Sum: "total",
    exp.Avg: "average",
    exp.Max: "highest",
    exp.Min: "lowest",
    exp.Count: "number",
}
_SIGNS: dict[type[exp.Expr], str] = {
    exp.EQ: "is",
    exp.NEQ: "is not",
    exp.GT: "is over",
    exp.GTE: "is at least",
    exp.LT: "is under",
    exp.LTE: "is at most",
}


def chinese(question: str) -> bool:
    return _CJK.search(question) is not None


def told(headline: str, result: Rows, question: str) -> str:
    """The answer, in the frame of the question's language."""
    zh = chinese(question)
    if not result.rows:
        return f"{headline}：没有符合条件的记录。" if zh else f"{headline}: no rows match."
    if len(result.rows) == len(result.columns) == 1:
        return f"{headline}{'：' if zh else ': '}{shown(result.rows[0][0])}"
    lines = [_line(row) for row in result.rows[:SHOWN]]
    more = len(result.rows) - len(lines)
    if more or result.truncated:
        count = f"{more}{'+' if result.truncated else ''}"
        lines.append(f"- …（还有 {count} 行）" if zh else f"- … and {count} more rows")
    return "\n".join([f"{headline}{'：' if zh else ':'}", *lines])


def refusal(why: str, question: str) -> str:
    told = f"我无法可靠地回答这个问题：{why}" if chinese(question) else f"I can't answer that reliably: {why}."
    return told.removesuffix(".") if why.endswith(("?", ".", "!")) else told


def shown(value: Any) -> str:
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,.2f}".removesuffix(".00") if isinstance(value, float) else f"{value:,}"
    return str(value)


def _line(row: tuple[Any, ...]) -> str:
    first, *rest = row
    # A year or a number of the month is a name here, and names have no commas.
    name = str(first) if isinstance(first, int) and rest else shown(first)
    return f"- {name}: {' · '.join(map(shown, rest))}" if rest else f"- {name}"


def headline(sql: str, dialect: str) -> str:
    """What a query looks for, in a few words; empty when it is more than a few words can say."""
    try:
        select = sqlglot.parse_one(sql, read=dialect)
    except UNREADABLE:
        return ""
    if not isinstance(select, exp.Select) or select.find(exp.Subquery) or select.args.get("with_"):
        return ""
    parts = [_figures(select), _dimensions(select), *_conditions(select), _limit(select)]
    return " ".join(filter(None, parts))


def _figures(select: exp.Select) -> str:
    figures = [each for each in select.expressions if each.find(exp.AggFunc)]
    if not figures:
        names = [_words(each.alias_or_name) for each in select.expressions if each.alias_or_name not in {"", "*"}]
        source = select.find(exp.Table)
        return f"The {', '.join(names)}" if names else f"The {_words(source.name)}" if source is not None else ""
    return "The " + " and ".join(_figure(each) for each in figures)


def _figure(shown: exp.Expr) -> str:
    aggregate = shown.find(exp.AggFunc)
    if shown.alias and shown.alias != "number":
        return _words(shown.alias)
    column = aggregate.find(exp.Column) if aggregate is not None else None
    named = _FIGURES.get(type(aggregate), "figure") if aggregate is not None else "figure"
    return f"{named} of {_words(column.name) if column is not None else 'rows'}"


def _dimensions(select: exp.Select) -> str:
    group = select.args.get("group")
    names = {each.unalias().sql(): each.alias_or_name for each in select.expressions}
    words = [
        _words(names.get(each.sql(), each.name) or "") for each in (group.expressions if group is not None else ())
    ]
    return " and ".join(f"by {each.removesuffix(' name')}" for each in words if each)


def _conditions(select: exp.Select) -> list[str]:
    told_: list[str] = []
    period = ""
    for clause in ("where", "having"):
        node = select.args.get(clause)
        inner = node.this if node is not None else None
        for each in inner.flatten() if isinstance(inner, exp.And) else filter(None, [inner]):
            found = part(each)
            if found is not None:
                unit, value, _ = found
                period = f"{period} {unit if unit != 'year' else ''} {value}"
            else:
                told_.append(_condition(each))
    return [f"for {' '.join(period.split())}" if period else "", f"where {' and '.join(told_)}" if told_ else ""]


def _condition(node: exp.Expr) -> str:
    sign = _SIGNS.get(type(node))
    if sign is not None and isinstance(node.expression, exp.Literal):
        compared = node.this.name if isinstance(node.this, exp.Column) else unit_of(node.this)
        if compared:
            return f"{_words(compared)} {sign} {node.expression.name}"
    listed, sign = (node.this, "is not") if isinstance(node, exp.Not) else (node, "is")
    if isinstance(listed, exp.In) and isinstance(listed.this, exp.Column) and listed.expressions:
        return f"{_words(listed.this.name)} {sign} {' or '.join(each.name for each in listed.expressions)}"
    return node.sql()


def _limit(select: exp.Select) -> str:
    limit, order = select.args.get("limit"), select.args.get("order")
    if limit is None:
        return ""
    first = order.expressions[0] if order is not None else None
    if first is None or not (first.args.get("desc") or _is_figure(first.this, select)):
        return f"(the first {limit.expression.name})"
    return f"({'the highest' if first.args.get('desc') else 'the lowest'} {limit.expression.name})"


def _is_figure(node: exp.Expr, select: exp.Select) -> bool:
    figures = {each.alias for each in select.expressions if each.find(exp.AggFunc)}
    return node.find(exp.AggFunc) is not None or (isinstance(node, exp.Column) and node.name in figures - {""})


def _words(name: str) -> str:
    return " ".join(name.replace("_", " ").split())


def related(sql: str, schema: Schema, dialect: str, question: str) -> tuple[str, ...]:
    """Questions that could come next, each of which the rules can answer."""
    return _related(sql, schema, dialect, chinese(question))


@lru_cache(maxsize=1024)
def _related(sql: str, schema: Schema, dialect: str, zh: bool) -> tuple[str, ...]:
    """Remembered: to see whether the rules could answer takes half of the time of an answer, and many ask the same."""
    answerable = (each for each in _wishes(sql, schema, zh) if _answerable(sql, each, schema, dialect))
    return tuple(islice(answerable, RELATED))


def _wishes(sql: str, schema: Schema, zh: bool) -> Iterator[str]:
    years = sorted({int(each) for each in re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", sql)})
    if years:
        yield f"{years[0] - 1}年呢？" if zh else f"What about {years[0] - 1}?"
    if re.search(r"\bGROUP BY\b", sql) and not re.search(r"\bLIMIT\b", sql):
        yield "前3名呢？" if zh else "Only the top 3?"
    if re.search(r"\bSUM\(", sql):
        yield "平均呢？" if zh else "The average instead?"
    labelled = [each for each in schema.tables if each.label is not None and each.label.name not in sql]
    for each in labelled[:RELATED]:
        yield f"按{each.name}" if zh else f"By {_words(singular(each.name))} instead?"


def _answerable(sql: str, question: str, schema: Schema, dialect: str) -> bool:
    return isinstance(adapt(sql, question, schema, dialect), Adapted)
