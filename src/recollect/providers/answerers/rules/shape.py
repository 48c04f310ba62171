"""What is shown: grouped by what, which figure, which columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from recollect.providers.answerers.rules.draft import AGGREGATES, Draft
from recollect.providers.answerers.rules.lexicon import Lexicon, Thing, named_by, table_pattern
from recollect.providers.answerers.rules.periods import date_column, part_of
from recollect.providers.answerers.rules.saying import NotUnderstood
from recollect.providers.answerers.rules.wording import Wording, bounded
from recollect.providers.answerers.schema import folded, words_of

FIGURES = {
    "average": (r"averages?|avg|mean", "平均值|平均数|平均|均值"),
    "total": (r"totals?|sums?|overall", "总和|合计|总计|总共|总额|总"),
    "highest": (r"maximum|max|highest|largest|biggest|greatest", "最大值|最高值|最大|最高"),
    "lowest": (r"minimum|min|lowest|smallest", "最小值|最低值|最小|最低"),
}
COUNT = (r"how many|(?:the )?(?:number|count|amount) of|count", "有多少个?|多少个|的?数量|个数|计数")
_UNITS = {"year": r"years?", "quarter": r"quarters?", "month": r"months?"}
_UNITS_ZH = {"年": "year", "季度": "quarter", "月": "month", "月份": "month", "年份": "year"}
_BY = bounded(r"(?:broken down |grouped? |split |divided |separated )?(?:by|per|for each|in each|of each)")
_BY_ZH = "(?:按照?|每个|每|各个?|分)"
_EACH = (
    bounded(r"(?:do |does |have |has )*(?:for |of )?each(?: of (?:them|these|those)| one)?(?: have| has)?") + "|分别"
)


# -- grouping ----------------------------------------------------------------------------------------------


def take_grouping(draft: Draft, wording: Wording, lexicon: Lexicon) -> None:
    names = lexicon.pattern
    unit = "|".join(_UNITS.values())
    english = (
        rf"{_BY}\s+(?:the\s+)?(?P<dim>{names}|{bounded(unit)})(?P<instead>\s+(?:instead|rather)(?: of [a-z_ ]+)?)?"
    )
    units = "|".join(sorted(_UNITS_ZH, key=len, reverse=True))
    chinese = rf"{_BY_ZH}(?P<dim>{names}|{units})(?:分组|统计|划分|来看|分|汇总)?(?!.{{0,6}}(?:序|排))"
    also = wording.has(bounded(r"also|as well|and by|too") + "|同时|也按|再按")
    if not draft.aggregates:
        return
    for pattern in (english, chinese):
        while (match := wording.take(pattern)) is not None:
            group_by(draft, match["dim"], lexicon, add=also)
            also = True


def group_by(draft: Draft, words: str, lexicon: Lexicon, *, add: bool) -> None:
    unit = next((unit for unit, spelt in _UNITS.items() if re.fullmatch(spelt, words)), _UNITS_ZH.get(words))
    if unit is not None and not any(re.fullmatch(p, words) for p in lexicon.pattern.split("|") if p != r"(?!)"):
        table, column = date_column(draft)
        dimension, alias = part_of(draft, unit, draft.column(table, column)), unit
    else:
        thing = lexicon.column(words, dimension=True)
        dimension, alias = draft.column(thing.table, thing.column), ""
    if any(each.sql() == dimension.sql() for each in draft.groups):
        return
    old = [] if add else draft.groups
    if len(old) > 1:
        raise NotUnderstood("the query before groups by more than one thing: which one should go?")
    _show_dimension(draft, old, exp.alias_(dimension.copy(), alias) if alias else dimension.copy())
    groups = [each for each in draft.groups if each not in old]
    draft.select.set("group", exp.Group(expressions=[*(each.copy() for each in groups), dimension]))
    _forget_order_by(draft, old)
    draft.changes.append(f"by {alias or dimension.name}")


def _show_dimension(draft: Draft, old: list[exp.Expr], fresh: exp.Expr) -> None:
    shown = list(draft.select.expressions)
    at = next((i for i, each in enumerate(shown) if old and each.unalias().sql() == old[0].sql()), None)
    if at is None:
        first = next((i for i, each in enumerate(shown) if each.find(exp.AggFunc)), len(shown))
        shown.insert(first, fresh)
    else:
        shown[at] = fresh
    draft.select.set("expressions", shown)


def _forget_order_by(draft: Draft, gone: list[exp.Expr]) -> None:
    order = draft.select.args.get("order")
    names = {each.sql() for each in gone}
    if order is not None and any(each.this.sql() in names for each in order.expressions):
        draft.select.set("order", None)


# -- figures -----------------------------------------------------------------------------------------------


def take_figures(draft: Draft, wording: Wording, lexicon: Lexicon) -> None:
    """Another figure in the place of the one there is: average instead of total, quantity instead of amount."""
    every = "|".join(english for english, _ in FIGURES.values())
    wording.take(bounded(rf"(?:instead|rather) (?:of|than) (?:the )?(?:{every}|count)(?:\s+(?:{lexicon.pattern}))?"))
    wording.take(rf"(?:而)?不(?:是|要|看)(?:{'|'.join(chinese for _, chinese in FIGURES.values())})")
    found: list[tuple[int, str, Thing | None]] = []
    for figure, (english, chinese) in FIGURES.items():
        pattern = rf"(?:{bounded(english)}|{chinese})(?:\s+of)?(?:\s+the\b)?(?:\s*(?P<of>{lexicon.pattern}))?"
        match = wording.take(pattern)
        if match is not None:
            found.append((match.start(), figure, lexicon.column(match["of"]) if match["of"] else None))
    wishes = [(figure, thing) for _, figure, thing in sorted(found, key=lambda each: each[0])]
    if wishes and not draft.aggregates and wording.has(bounded("who|which|whose")):
        raise NotUnderstood("it asks for rows by a figure: say which to show, and sorted by what")
    if not wishes and len(draft.aggregates) == 1:
        wishes = _same_figure_of(draft, wording, lexicon)
    if wishes and draft.aggregates and any(map(wording.has, (_ADDS, _ADDS_LATE, _TOGETHER))):
        _figure_beside(draft, wishes)
        for pattern in (_ADDS, _ADDS_LATE, _TOGETHER):
            wording.take(pattern)
    elif wishes:
        _figure(draft, wishes, per_row=wording.take(_EACH) is not None)


def _figure_beside(draft: Draft, wishes: list[tuple[str, Thing | None]]) -> None:
    """ "And the lowest as well": one more figure, the others stay."""
    old = draft.aggregates
    known = {each.unalias().sql() for each in draft.select.expressions}
    fresh = [_aggregate(draft, figure, thing, old) for figure, thing in wishes]
    fresh = [each for each in fresh if each.unalias().sql() not in known]
    if fresh:
        draft.select.set("expressions", [*draft.select.expressions, *fresh])
        draft.changes.append("also " + " and ".join(each.unalias().sql(draft.dialect) for each in fresh))


def _same_figure_of(draft: Draft, wording: Wording, lexicon: Lexicon) -> list[tuple[str, Thing | None]]:
    """ "What about quantity?" where the figure is a total: the total of that."""
    figure = next((name for name, kind in AGGREGATES.items() if isinstance(draft.aggregates[0], kind)), "number")
    match = re.search(lexicon.pattern, wording.text)
    thing = lexicon.column(match[0]) if match is not None and figure != "number" else None
    if match is None or thing is None or thing.as_table or thing.column.key or thing.column.kind != "number":
        return []
    wording.take(re.escape(match[0]))
    return [(figure, thing)]


def _figure(draft: Draft, wishes: list[tuple[str, Thing | None]], *, per_row: bool) -> None:
    old = draft.aggregates
    if len(old) > 1:
        raise NotUnderstood("the query before shows more than one figure: which one should change?")
    if not old and draft.groups:
        raise NotUnderstood("the query before groups without a figure")
    fresh = [_aggregate(draft, figure, thing, old) for figure, thing in wishes]
    if per_row and not old:
        for_each(draft, fresh)
        return
    shown: list[exp.Expr] = []
    for each in draft.select.expressions:
        if not old or each.find(exp.AggFunc):
            shown += [] if shown and not old else fresh
        else:
            shown.append(each)
    if old:
        _swap_everywhere(draft, old[0], fresh[0].unalias())
    elif draft.select.args.get("limit") is not None:
        raise NotUnderstood("the query before shows only some rows: a figure of those, or of all?")
    same = [each.sql() for each in old] == [each.unalias().sql() for each in fresh]
    if not same:
        draft.select.set("expressions", shown)
        draft.changes.append(" and ".join(each.unalias().sql(draft.dialect) for each in fresh))


def _aggregate(draft: Draft, figure: str, thing: Thing | None, old: list[exp.AggFunc]) -> exp.Expr:
    if thing is not None and not (thing.as_table and old):
        column: exp.Expr = draft.column(thing.table, thing.column)
    elif old and not isinstance(old[0].this, exp.Star):
        column = old[0].this.copy()
    elif not old and len(draft.select.expressions) == 1:
        column = draft.select.expressions[0].unalias().copy()
    else:
        raise NotUnderstood(f"the {figure} of what?")
    if column.find(exp.Star) is not None:
        raise NotUnderstood(f"the {figure} of what?")
    owner = draft.owner(column) if isinstance(column, exp.Column) else None
    if owner is not None and owner[1].kind not in {"number", "other"} and figure in {"average", "total"}:
        raise NotUnderstood(f"{column.name} is no number: it has no {figure}")
    aggregate = AGGREGATES[figure](this=column)
    named = any(each.alias and each.find(exp.AggFunc) for each in draft.select.expressions)
    noun = words_of(column.name) if thing is not None and not thing.as_table else _noun(draft, column)
    return exp.alias_(aggregate, "_".join([figure, *noun])) if named else aggregate


def _noun(draft: Draft, column: exp.Expr) -> tuple[str, ...]:
    alias = next((each.alias for each in draft.select.expressions if each.alias and each.find(exp.AggFunc)), "")
    kept = tuple(
        word for word in folded(alias).split("_") if word not in {*AGGREGATES, "avg", "sum", "max", "min", "count"}
    )
    return kept or words_of(column.name)


def _swap_everywhere(draft: Draft, old: exp.Expr, fresh: exp.Expr) -> None:
    """The order speaks of the figure as well, by itself or by its name. A threshold doesn't carry over to another figure."""
    alias = next((each.alias for each in draft.select.expressions if each.alias and each.find(exp.AggFunc)), None)
    node = draft.select.args.get("order")
    for each in list(node.find_all(type(old), exp.Column)) if node is not None else ():
        if each.sql() == old.sql() or (alias and isinstance(each, exp.Column) and each.name == alias):
            each.replace(fresh.copy())


def take_count(draft: Draft, wording: Wording, lexicon: Lexicon) -> None:
    english, chinese = COUNT
    own = "|".join(named_by(draft.schema, wording)) or "(?!)"
    pattern = (
        rf"(?:{bounded(english)}|{chinese})(?:\s+(?:of|are|were|is|in))*(?:\s+(?:them|these|those|there|total))*"
        rf"(?:\s*(?P<of>{own}))?"
    )
    match = wording.take(pattern)
    if match is None:
        return
    if match["of"] is not None and not any(re.fullmatch(p, match["of"]) for p in _own_names(draft)):
        raise NotUnderstood(f"the question before was not about {match['of']}")
    each = wording.take(_EACH)
    count = exp.Count(this=exp.Star())
    draft.changes.append("counted")
    if draft.aggregates:
        _count_instead(draft, count)
    elif each is not None and not draft.groups:
        for_each(draft, [count])
    elif draft.groups and any(map(wording.has, (_ADDS, _ADDS_LATE, _TOGETHER))):
        draft.select.set("expressions", [*draft.select.expressions, count])
        for pattern in (_ADDS, _ADDS_LATE, _TOGETHER):
            wording.take(pattern)
    elif draft.groups or draft.select.args.get("limit") or draft.select.args.get("distinct"):
        draft.select = exp.select(count).from_(draft.select.subquery("counted"))
    else:
        draft.select.set("expressions", [count])
        draft.select.set("order", None)


def _own_names(draft: Draft) -> list[str]:
    return [table_pattern(each) for each in draft.tables]


def _count_instead(draft: Draft, count: exp.Count) -> None:
    if len(draft.aggregates) > 1:
        raise NotUnderstood("the query before shows more than one figure: which one should change?")
    if not all(isinstance(each, exp.Count) for each in draft.aggregates):
        named = exp.alias_(count.copy(), "number")
        shown = [named.copy() if each.find(exp.AggFunc) else each for each in draft.select.expressions]
        _swap_everywhere(draft, draft.aggregates[0], count)
        draft.select.set("expressions", shown)


def for_each(draft: Draft, figures: Sequence[exp.Expr]) -> None:
    """For each of what is shown: a figure of its rows."""
    shown = [each.unalias().copy() for each in draft.select.expressions]
    if draft.select.is_star or not all(isinstance(each, exp.Column) for each in shown):
        raise NotUnderstood("for each of what?")
    draft.select.set("expressions", [*draft.select.expressions, *figures])
    draft.select.set("group", exp.Group(expressions=shown))
    draft.select.set("distinct", None)
    draft.select.set("order", None)
    draft.changes.append(f"for each {', '.join(each.name for each in shown)}")


# -- columns -----------------------------------------------------------------------------------------------

_ADDS = (
    bounded("also|include|add|as well as|together with|along with")
    + "|顺便|再给出|再告诉我|还想知道|也告诉我|同时给出|加上"
)
_ADDS_LATE = "(?:也|一起)(?:告诉|列|给)"
_TOGETHER = "一起|也"
# In Chinese one asks for "their" something beside what is there already.
_THEIRS_ZH = "它们|他们|她们|对应|这些|[并再还]"


def take_columns(draft: Draft, wording: Wording, lexicon: Lexicon) -> None:
    """ "Also show their age" adds a column; "what are their names?" shows others."""
    _take_pointing(draft, wording, lexicon)
    if _swapped(draft, wording, lexicon):
        return
    added = any(map(wording.has, (_ADDS, _ADDS_LATE, _THEIRS_ZH)))
    if draft.aggregated and not added:
        return
    things = []
    for match in list(re.finditer(lexicon.pattern, wording.text)):
        thing = lexicon.column(match[0])
        if not thing.as_table:
            wording.take_at(*match.span())
            things.append(thing)
    if not things:
        return
    if draft.aggregates and not draft.groups:
        raise NotUnderstood("a figure of all rows and a column of each don't go together")
    fresh: list[exp.Expr] = [draft.column(each.table, each.column) for each in things]
    known = {folded(each.unalias().sql()) for each in draft.select.expressions}
    if added:
        fresh = [each for each in fresh if folded(each.sql()) not in known]
        if draft.groups and any(each.sql() not in {group.sql() for group in draft.groups} for each in fresh):
            raise NotUnderstood("a column beside grouped figures needs a figure of its own: the total, the average?")
        wording.take(_ADDS)
        wording.take(_ADDS_LATE)
    if fresh and {folded(each.sql()) for each in fresh} != known:
        draft.select.set("expressions", [*draft.select.expressions, *fresh] if added else fresh)
        draft.changes.append(("also " if added else "") + ", ".join(each.name for each in things))


def _swapped(draft: Draft, wording: Wording, lexicon: Lexicon) -> bool:
    """ "Population instead of area", "把面积换成人口": one column in the place of another."""
    names, instead = lexicon.pattern, bounded("instead of|rather than")
    match = wording.take(rf"(?P<new>{names})\s+{instead}\s+(?:the\s+)?(?P<old>{names})") or wording.take(
        rf"[把将]?(?P<old>{names})(?:换成|改成|换为)(?P<new>{names})"
    )
    if match is None:
        if wording.has("换成|改成|换为") and not draft.aggregated and len(draft.select.expressions) > 1:
            raise NotUnderstood("in the place of what?")
        return False
    old, new = lexicon.column(match["old"]), lexicon.column(match["new"])
    shown = list(draft.select.expressions)
    at = [i for i, each in enumerate(shown) if folded(each.unalias().name) == folded(old.column.name)]
    if len(at) != 1 or draft.aggregated:
        raise NotUnderstood(f"{old.name} is not one of the columns before")
    shown[at[0]] = draft.column(new.table, new.column)
    draft.select.set("expressions", shown)
    draft.changes.append(f"{new.name} instead of {old.name}")
    return True


def _take_pointing(draft: Draft, wording: Wording, lexicon: Lexicon) -> None:
    """ "For those ids" points at what is shown already."""
    shown = {folded(each.unalias().name) for each in draft.select.expressions}
    pattern = rf"{bounded('those|these|this|each')}\s+(?P<of>{lexicon.pattern})"
    for match in list(re.finditer(pattern, wording.text)):
        thing = lexicon.column(match["of"])
        if thing.as_table or folded(thing.column.name) in shown or words_of(match["of"]) == ("id",):
            wording.take_at(*match.span())
