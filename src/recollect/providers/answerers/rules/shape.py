"""What is shown: grouped by what, which figure, which columns, in which order, how many."""

from __future__ import annotations

import re

from sqlglot import Dialect, exp

from recollect.providers.answerers.rules.draft import AGGREGATES, Draft
from recollect.providers.answerers.rules.lexicon import Lexicon, Thing
from recollect.providers.answerers.rules.periods import date_column, part_of
from recollect.providers.answerers.rules.saying import NotUnderstood
from recollect.providers.answerers.rules.wording import NUMBER, Wording, bounded, number
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
_MOST = (
    r"(?:the )?(?:most|highest|largest|greatest|biggest|best|maximum)",
    r"(?:the )?(?:fewest|least|lowest|smallest|worst|minimum)",
)
_MOST_ZH = ("最多|最高|最大", "最少|最低|最小")
_DOWN = (
    r"descending|decreasing|desc|(?:highest|largest|most|biggest) first"
    r"|from (?:high to low|highest to lowest|most to least|large to small|old to young)"
)
_UP = (
    r"ascending|increasing|asc|(?:lowest|smallest|least) first|alphabetical(?:ly)?"
    r"|from (?:low to high|lowest to highest|least to most|small to large|young to old)"
)
_DOWN_ZH = "降序|倒序|[从由](?:高到低|多到少|大到小)"
_UP_ZH = "升序|正序|[从由](?:低到高|少到多|小到大)"


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
            _group(draft, match["dim"], lexicon, add=also)
            also = True


def _group(draft: Draft, words: str, lexicon: Lexicon, *, add: bool) -> None:
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
    wishes: list[tuple[str, Thing | None]] = []
    for figure, (english, chinese) in FIGURES.items():
        pattern = rf"(?:{bounded(english)}|{chinese})(?:\s+of)?(?:\s+the)?(?:\s*(?P<of>{lexicon.pattern}))?"
        match = wording.take(pattern)
        if match is not None:
            wishes.append((figure, lexicon.column(match["of"]) if match["of"] else None))
    if not wishes and len(draft.aggregates) == 1:
        wishes = _same_figure_of(draft, wording, lexicon)
    if wishes:
        _figure(draft, wishes)


def _same_figure_of(draft: Draft, wording: Wording, lexicon: Lexicon) -> list[tuple[str, Thing | None]]:
    """ "What about quantity?" where the figure is a total: the total of that."""
    figure = next((name for name, kind in AGGREGATES.items() if isinstance(draft.aggregates[0], kind)), "number")
    match = re.search(lexicon.pattern, wording.text)
    thing = lexicon.column(match[0]) if match is not None and figure != "number" else None
    if match is None or thing is None or thing.as_table or thing.column.key or thing.column.kind != "number":
        return []
    wording.take(re.escape(match[0]))
    return [(figure, thing)]


def _figure(draft: Draft, wishes: list[tuple[str, Thing | None]]) -> None:
    old = draft.aggregates
    if len(old) > 1:
        raise NotUnderstood("the query before shows more than one figure: which one should change?")
    if not old and draft.groups:
        raise NotUnderstood("the query before groups without a figure")
    fresh = [_aggregate(draft, figure, thing, old) for figure, thing in wishes]
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
    """Order and conditions on groups speak of the figure as well, by itself or by its name."""
    alias = next((each.alias for each in draft.select.expressions if each.alias and each.find(exp.AggFunc)), None)
    for clause in ("order", "having"):
        node = draft.select.args.get(clause)
        for each in list(node.find_all(type(old), exp.Column)) if node is not None else ():
            if each.sql() == old.sql() or (alias and isinstance(each, exp.Column) and each.name == alias):
                each.replace(fresh.copy())


def take_count(draft: Draft, wording: Wording, lexicon: Lexicon) -> None:
    english, chinese = COUNT
    pattern = (
        rf"(?:{bounded(english)}|{chinese})(?:\s+(?:of|are|were|is|in))*(?:\s+(?:them|these|those|there|total))*"
        rf"(?:\s*(?P<of>{lexicon.pattern}))?"
    )
    match = wording.take(pattern)
    if match is None:
        return
    if match["of"] is not None:
        thing = lexicon.column(match["of"])
        if thing.table not in draft.tables:
            raise NotUnderstood(f"the question before was not about {thing.table.name}")
    count = exp.Count(this=exp.Star())
    if draft.aggregates:
        if not all(isinstance(each, exp.Count) for each in draft.aggregates):
            shown = [
                exp.alias_(count.copy(), "number") if each.find(exp.AggFunc) else each
                for each in draft.select.expressions
            ]
            _swap_everywhere(draft, draft.aggregates[0], count)
            draft.select.set("expressions", shown)
        draft.changes.append("counted")
        return
    if draft.groups or draft.select.args.get("limit") or draft.select.args.get("distinct"):
        inner = draft.select.subquery("counted")
        draft.select = exp.select(count).from_(inner)
    else:
        draft.select.set("expressions", [count])
        draft.select.set("order", None)
    draft.changes.append("counted")


_ADDS_ZH = "顺便|再给出|再告诉我|还想知道|也告诉我|同时给出|加上"

# -- columns -----------------------------------------------------------------------------------------------


def take_columns(draft: Draft, wording: Wording, lexicon: Lexicon) -> None:
    """ "Also show their age" adds a column; "what are their names?" shows others."""
    joint = (
        rf"(?:{lexicon.pattern})(?:\s*(?:,|and|以及|和|与|、|,\s*and)\s*(?:their |its |the )?(?:{lexicon.pattern}))*"
    )
    adds = rf"(?:{bounded('also|include|add|as well as|together with|along with')}|{_ADDS_ZH})"
    their = r"(?:their|its|his|her|the|those|these|this|corresponding)"
    added = wording.has(adds) or wording.has("(?:也|一起)(?:告诉|列|给)")
    pattern = rf"(?:{adds}\s*)?(?:[a-z'’ ]*?\b{their}\s+)*(?P<columns>{joint})(?:\s+(?:of )?(?:each|them|these|those))?"
    if draft.aggregated and not added:
        return
    match = wording.take(pattern)
    if match is None:
        return
    names = [each[0] for each in re.finditer(lexicon.pattern, match["columns"])]
    things = [lexicon.column(each) for each in names]
    fresh: list[exp.Expr] = [draft.column(each.table, each.column) for each in things]
    if added:
        if draft.groups and any(each.sql() not in {group.sql() for group in draft.groups} for each in fresh):
            raise NotUnderstood("a column beside grouped figures needs a figure of its own: the total, the average?")
        known = {each.unalias().sql() for each in draft.select.expressions}
        fresh = [*draft.select.expressions, *(each for each in fresh if each.sql() not in known)]
    draft.select.set("expressions", fresh)
    wording.take(adds)
    draft.changes.append(("also " if added else "") + ", ".join(each.name for each in things))


# -- order and number --------------------------------------------------------------------------------------


def take_ranking(draft: Draft, wording: Wording, lexicon: Lexicon) -> None:
    """Top five, the fewest, the second most: an order and a limit."""
    by = rf"(?:\s+(?:by|in terms of)\s+(?P<by>{lexicon.pattern}))?"
    top = bounded(rf"(?:top|first|best|highest|largest)\s+(?P<count>{NUMBER})") + by
    bottom = bounded(rf"(?:bottom|last|worst|lowest|smallest)\s+(?P<count>{NUMBER})") + by
    unit = "(?:名|个|位|条|种|类)?"
    top_zh = rf"(?:排名)?(?:前|最[高多大]的)(?P<count>{NUMBER}){unit}"
    bottom_zh = rf"(?:倒数|后|最[低少小]的)(?P<count>{NUMBER}){unit}"
    for pattern, descending in ((top, True), (top_zh, True), (bottom, False), (bottom_zh, False)):
        match = wording.take(pattern)
        if match is not None:
            named = match.groupdict().get("by")
            _rows_named(draft, wording, lexicon, match.end())
            _rank(draft, int(number(match["count"])), descending, lexicon.column(named) if named else None)
            return
    for words, chinese, descending in ((_MOST[0], _MOST_ZH[0], True), (_MOST[1], _MOST_ZH[1], False)):
        asks = bounded(
            rf"(?:which|who|what)(?: one)?(?: of (?:them|these|those))?(?: has| have| had| is| was)? {words}"
        )
        if draft.groups and (
            wording.take(asks) or wording.take(rf"(?:数量)?(?:{chinese})的?(?=(?:又?是|呢|一个|[?？]|$))")
        ):
            _rank(draft, 1, descending, None)
            return


def _rows_named(draft: Draft, wording: Wording, lexicon: Lexicon, at: int) -> None:
    """ "Top 5 customers" of a total is the total by customer."""
    match = re.match(rf"\s*(?P<dim>{lexicon.pattern})", wording.text[at:])
    if match is not None and draft.aggregates:
        wording.take(re.escape(match["dim"]))
        _group(draft, match["dim"], lexicon, add=False)


def _rank(draft: Draft, count: int, descending: bool, thing: Thing | None) -> None:
    order = draft.select.args.get("order")
    if thing is not None:
        own = [each for each in draft.aggregates if thing.column.name in {c.name for c in each.find_all(exp.Column)}]
        measure: exp.Expr = own[0].copy() if own else draft.column(thing.table, thing.column)
    elif order is not None and len(order.expressions) == 1:
        measure = order.expressions[0].this.copy()
    else:
        measure = draft.measure()
    _set_order(draft, measure, descending)
    draft.select.set("limit", exp.Limit(expression=exp.Literal.number(count)))
    draft.changes.append(f"{'top' if descending else 'bottom'} {count}")


def take_order(draft: Draft, wording: Wording, lexicon: Lexicon) -> None:
    if wording.take(r"(?:不用|不要|取消)排序了?|" + bounded(r"(?:without|remove the|no) (?:sorting|ordering|order)")):
        draft.select.set("order", None)
        draft.changes.append("in no order")
        return
    down, up = f"(?:{bounded(_DOWN)}|{_DOWN_ZH})", f"(?:{bounded(_UP)}|{_UP_ZH})"
    sort = rf"(?:{bounded(r'sort(?:ed)?|order(?:ed)?|rank(?:ed)?|arrange[d]?')}|排序|排列|排)"
    if not (wording.has(sort) or wording.has(down) or wording.has(up)):
        return
    descending = wording.take(rf"(?:in\s+)?(?:the\s+)?{down}(?:\s+order)?") is not None
    wording.take(rf"(?:in\s+)?(?:the\s+)?{up}(?:\s+order)?")
    named = wording.take(
        rf"(?:by|of|based on|according to|按照?|对)\s*(?:the|their|its|结果的?)?\s*(?P<by>{lexicon.pattern})(?:进行)?"
    )
    wording.take(sort)
    wording.take(sort)
    order = draft.select.args.get("order")
    if named is not None:
        thing = lexicon.column(named["by"])
        own = [each for each in draft.aggregates if thing.column.name in {c.name for c in each.find_all(exp.Column)}]
        measure: exp.Expr = own[0].copy() if own else draft.column(thing.table, thing.column)
    elif order is not None and len(order.expressions) == 1:
        measure = order.expressions[0].this.copy()
    elif draft.aggregates or draft.groups:
        measure = draft.measure()
    elif len(draft.select.expressions) == 1 and not draft.select.is_star:
        measure = draft.select.expressions[0].unalias().copy()
    else:
        raise NotUnderstood("sorted by what?")
    _set_order(draft, measure, descending)
    draft.changes.append(f"sorted by {measure.sql(draft.dialect)}{' descending' if descending else ''}")


def _set_order(draft: Draft, measure: exp.Expr, descending: bool) -> None:
    alias = next((e.alias for e in draft.select.expressions if e.alias and e.unalias().sql() == measure.sql()), None)
    by = exp.column(alias) if alias else measure
    # As the database would order missing values by itself: nothing needs to be written then.
    small = Dialect.get_or_raise(draft.dialect).NULL_ORDERING == "nulls_are_small"
    ordered = exp.Ordered(this=by, desc=descending, nulls_first=small is not descending)
    draft.select.set("order", exp.Order(expressions=[ordered]))
