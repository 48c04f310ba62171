"""Years, quarters and months: as people say them, and as SQL before us filtered by them.

A period replaces what it contradicts and leaves the rest: after "March 2024", "2023" means March 2023 and "May" means May 2024.
SQL keeps its own manner: a year compared as a number, as a text or as a range of dates is compared so again.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass, replace
from datetime import date, timedelta

from sqlglot import exp

from recollect.providers.answerers.rules.draft import Draft
from recollect.providers.answerers.rules.saying import NotUnderstood
from recollect.providers.answerers.rules.wording import NUMBERS, Wording, bounded
from recollect.providers.answerers.schema import Column, Table, folded

UNITS = ("year", "quarter", "month")
YEAR = r"(?<![\d.,-])(?:19|20)\d\d(?![\d,-]|\.\d)"
_MONTHS = {name.lower(): at for at, name in enumerate(calendar.month_name) if name}
_MONTHS |= {name.lower(): at for at, name in enumerate(calendar.month_abbr) if name and name != "May"}
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_FORMATS = {"%Y": "year", "%m": "month", "YYYY": "year", "MM": "month"}
_YEAR_NAMES = re.compile(r"(^|_)(year|yr)($|_)|年$|年份", re.IGNORECASE)
_BOUNDS: dict[type[exp.Expr], str] = {exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">"}
_YEAR_BEFORE = bounded(r"(?:the )?(?:year before(?: that)?|(?:previous|preceding|prior) year)") + "|前一年|上一年"
_YEAR_AFTER = bounded(r"(?:the )?(?:(?:next|following) year|year after(?: that)?)") + "|后一年|下一年|次年"


@dataclass(frozen=True)
class Period:
    year: int | None = None
    quarter: int | None = None
    month: int | None = None
    shift: int = 0
    """Years to go from the year before: "the year before" is -1."""

    def __bool__(self) -> bool:
        return self != Period()

    def over(self, before: Period) -> Period:
        """This one, completed by what was said before."""
        year = self.year if self.year is not None else before.year
        if self.shift:
            if before.year is None:
                raise NotUnderstood("the question before names no year to count from")
            year = before.year + self.shift
        finer = self.quarter or self.month
        quarter = self.quarter if finer else before.quarter
        return Period(year, quarter, self.month if finer else before.month)

    def days(self) -> tuple[date, date]:
        """First day, and the day after the last."""
        assert self.year is not None
        first, months = (self.month, 1) if self.month else (self.quarter * 3 - 2, 3) if self.quarter else (1, 12)
        beyond = first + months
        return date(self.year, first, 1), date(self.year + (beyond > 12), beyond - 12 * (beyond > 12), 1)

    def __str__(self) -> str:
        month = calendar.month_name[self.month] if self.month else ""
        quarter = f"quarter {self.quarter}" if self.quarter else ""
        return " ".join(filter(None, (month, quarter, str(self.year or ""))))


def take_period(wording: Wording) -> Period:
    """The period a question names. Comparisons ("before 2009") are none; they are taken elsewhere, and first."""
    found = Period()
    if match := wording.take(bounded(r"q([1-4])(?:\s+of)?") + r"|第?([一二三四1-4])季度"):
        found = replace(found, quarter=_count(match[1] or match[2]))
    elif match := wording.take(bounded(rf"({'|'.join(_ORDINALS)}) quarter")):
        found = replace(found, quarter=_ORDINALS[match[1]])
    named = bounded(rf"(?:the month of )?({'|'.join(sorted(_MONTHS, key=len, reverse=True))})(?:\s+of)?")
    if match := wording.take(named + r"|(?<!\d)(1[0-2]|[1-9]|十[一二]?|[二三四五六七八九一])月份?"):
        found = replace(found, month=_MONTHS[match[1]] if match[1] else _count(match[2]))
    if match := wording.take(rf"({YEAR})(?:年度?)?(?:\s+instead)?"):
        found = replace(found, year=int(match[1]))
    elif wording.take(_YEAR_BEFORE):
        found = replace(found, shift=-1)
    elif wording.take(_YEAR_AFTER):
        found = replace(found, shift=1)
    if wording.has(YEAR):
        raise NotUnderstood("it names more than one year: which one?")
    return found


def _count(text: str) -> int:
    if text.isdecimal():
        return int(text)
    return NUMBERS["十"] + NUMBERS[text[1]] if len(text) == 2 else NUMBERS[text]


def set_period(draft: Draft, asked: Period) -> None:
    parts = {each: found for each in draft.conditions() if (found := part(each)) is not None}
    ranges = [each for each in draft.conditions() if _dates(each)]
    if parts:
        _replace_parts(draft, asked, parts)
    elif ranges:
        _replace_range(draft, asked, ranges)
    else:
        _add(draft, asked)


def drop_period(draft: Draft, *, say: bool = True) -> bool:
    kept = [each for each in draft.conditions() if part(each) is None and not _dates(each)]
    if len(kept) == len(draft.conditions()):
        return False
    draft.keep(kept)
    if say:
        draft.changes.append("any time")
    return True


_COMPARED: dict[type[exp.Expr], str] = {
    exp.GTE: "{} and later",
    exp.LTE: "up to {}",
    exp.GT: "after {}",
    exp.LT: "before {}",
}


def compare_year(draft: Draft, operator: type[exp.Binary], year: int) -> None:
    """Before, after, since or until a year."""
    conditions = draft.conditions()
    old = [each for each in conditions if type(each) in _BOUNDS and _is_year(each.expression)]
    if len(old) == 1:
        fresh = operator(this=old[0].this.copy(), expression=exp.Literal.number(year))
        draft.keep(fresh if each is old[0] else each for each in conditions)
        draft.changes.append(fresh.sql(draft.dialect))
        return
    years = [
        (table, column)
        for table in draft.tables
        for column in table.columns
        if column.kind != "date" and _YEAR_NAMES.search(column.name)
    ]
    if len(years) == 1:
        compared: exp.Expr = draft.column(*years[0])
    else:
        compared = part_of(draft, "year", draft.column(*date_column(draft)))
    drop_period(draft, say=False)
    draft.keep([*draft.conditions(), operator(this=compared, expression=exp.Literal.number(year))])
    draft.changes.append(_COMPARED[operator].format(year))


def part_of(draft: Draft, unit: str, column: exp.Column) -> exp.Expr:
    """That part of a date, in the words of the dialect."""
    if draft.dialect != "sqlite":
        return exp.Extract(this=exp.var(unit.upper()), expression=column)
    format_ = "%Y" if unit == "year" else "%m"
    text = exp.Anonymous(this="STRFTIME", expressions=[exp.Literal.string(format_), column])
    whole = exp.Cast(this=text, to=exp.DataType.build("INTEGER"))
    if unit != "quarter":
        return whole
    summed = exp.paren(exp.Add(this=whole, expression=exp.Literal.number(2)))
    return exp.Div(this=summed, expression=exp.Literal.number(3), typed=True, safe=True)


def date_column(draft: Draft) -> tuple[Table, Column]:
    found = [(table, column) for table in draft.tables for column in table.columns if column.kind == "date"]
    # The table the query starts from says when its rows happened; a customer's birthday in a joined one doesn't.
    first = [each for each in found if each[0] is draft.tables[0]] or found
    if len(first) != 1:
        names = " or ".join(f"{table.name}.{column.name}" for table, column in first)
        raise NotUnderstood(f"which date is meant: {names}?" if first else "there is no date to go by")
    return first[0]


def _add(draft: Draft, asked: Period) -> None:
    if asked.shift:
        raise NotUnderstood("the question before names no year to count from")
    table, column = date_column(draft)
    conditions = draft.conditions()
    for unit in UNITS:
        value = getattr(asked, unit)
        if value is not None:
            part = part_of(draft, unit, draft.column(table, column))
            conditions.append(exp.EQ(this=part, expression=exp.Literal.number(value)))
    draft.keep(conditions)
    draft.changes.append(f"{asked}")


def _replace_parts(draft: Draft, asked: Period, parts: dict[exp.Expr, tuple[str, int, str]]) -> None:
    if len({column for _, _, column in parts.values()}) > 1:
        raise NotUnderstood("the query before filters by more than one date: which one is meant?")
    before = Period(**{unit: value for unit, value, _ in parts.values()})
    wanted = asked.over(before)
    conditions, done = [], set()
    model: exp.Expr | None = None
    for each in draft.conditions():
        if each not in parts:
            conditions.append(each)
            continue
        unit, _, _ = parts[each]
        value = getattr(wanted, unit)
        model = model or each
        done.add(unit)
        if value is not None:
            conditions.append(_with_value(each, unit, value))
    columns = list(model.find_all(exp.Column)) if model is not None else []
    for unit in UNITS:
        if getattr(wanted, unit) is not None and unit not in done:
            owner = draft.owner(columns[0])
            if owner is None or owner[1].kind == "number":
                raise NotUnderstood(f"there is no {unit} to go by in {columns[0].name}")
            value = exp.Literal.number(getattr(wanted, unit))
            conditions.append(exp.EQ(this=part_of(draft, unit, columns[0].copy()), expression=value))
    draft.keep(conditions)
    draft.changes.append(f"{before} → {wanted}" if before else str(wanted))


def _replace_range(draft: Draft, asked: Period, ranges: list[exp.Expr]) -> None:
    found = [_dates(each) for each in ranges]
    if len({pair[2] for each in found for pair in each}) > 1:
        raise NotUnderstood("the query before filters by more than one date: which one is meant?")
    low = [day for each in found for op, day, _ in each if op in {">=", "="}]
    high = [day + timedelta(days=op == "<=") for each in found for op, day, _ in each if op in {"<", "<="}]
    before = _named(low[0], high[0]) if len(low) == len(high) == 1 else None
    if before is None:
        raise NotUnderstood("the query before covers a span of dates of its own: say from when to when")
    wanted = asked.over(before)
    begins, ends = wanted.days()
    for condition in ranges:
        for literal in list(condition.find_all(exp.Literal)):
            op = next(op for op, day, _ in _dates(condition) if day.isoformat() == literal.name[:10])
            day = begins if op in {">=", "="} else ends - timedelta(days=op == "<=")
            literal.replace(exp.Literal.string(day.isoformat() + literal.name[10:]))
    draft.changes.append(f"{before} → {wanted}")


def _named(low: date, beyond: date) -> Period | None:
    """The year, quarter or month that these days are, if they are one."""
    quarters = (Period(low.year, each) for each in range(1, 5))
    months = (Period(low.year, None, each) for each in range(1, 13))
    candidates = (Period(low.year), *quarters, *months)
    return next((each for each in candidates if each.days() == (low, beyond)), None)


def part(condition: exp.Expr) -> tuple[str, int, str] | None:
    """(unit, value, column) of a condition such as `YEAR(d) = 2024`, in any of its spellings."""
    if not isinstance(condition, exp.EQ) or not isinstance(condition.expression, exp.Literal):
        return None
    value, columns = condition.expression.name, list(condition.this.find_all(exp.Column))
    unit = unit_of(condition.this)
    if unit is None or len(columns) != 1 or not value.isdecimal():
        return None
    return unit, int(value), folded(columns[0].sql())


def unit_of(node: exp.Expr) -> str | None:
    if isinstance(node, exp.Column):
        return "year" if _YEAR_NAMES.search(node.name) else None
    if isinstance(node, exp.Div):
        return "quarter" if node.expression.name == "3" and node.find(exp.Anonymous, exp.TimeToStr) else None
    if isinstance(node, exp.Cast | exp.Paren | exp.TsOrDsToDate):
        return unit_of(node.this)
    if isinstance(node, exp.Extract):
        return folded(node.name) if folded(node.name) in UNITS else None
    if isinstance(node, exp.Year | exp.Quarter | exp.Month):
        return type(node).__name__.lower()
    if isinstance(node, exp.TimeToStr):
        return _FORMATS.get(node.args["format"].name)
    if isinstance(node, exp.Anonymous) and node.expressions:
        literal = next((each.name for each in node.expressions if isinstance(each, exp.Literal)), "")
        return folded(literal) if folded(literal) in UNITS else _FORMATS.get(literal)
    return None


def _with_value(condition: exp.Expr, unit: str, value: int) -> exp.Expr:
    fresh = condition.copy()
    old = fresh.expression
    text = f"{value:0{len(old.name)}d}" if old.is_string else str(value)
    old.replace(exp.Literal.string(text) if old.is_string else exp.Literal.number(text))
    return fresh


def _dates(condition: exp.Expr) -> list[tuple[str, date, str]]:
    """The bounds that a condition sets to a column by days: (operator, day, column)."""
    if isinstance(condition, exp.Between):
        pairs = [(">=", condition.args["low"]), ("<=", condition.args["high"])]
    elif type(condition) in _BOUNDS:
        pairs = [(_BOUNDS[type(condition)], condition.expression)]
    else:
        return []
    found = [(op, _day(value), folded(condition.this.sql())) for op, value in pairs]
    return [(op, day, column) for op, day, column in found if day is not None] if all(d for _, d, _ in found) else []


def _is_year(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and re.fullmatch(YEAR, node.name) is not None


def _day(node: exp.Expr) -> date | None:
    literal = node.find(exp.Literal)
    try:
        return date.fromisoformat(literal.name[:10]) if literal is not None and literal.is_string else None
    except ValueError:
        return None
