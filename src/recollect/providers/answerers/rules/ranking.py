"""In which order, and how many."""

from __future__ import annotations

import re

from sqlglot import Dialect, exp

from recollect.providers.answerers.rules.draft import AGGREGATES, Draft
from recollect.providers.answerers.rules.lexicon import Lexicon, Thing
from recollect.providers.answerers.rules.saying import NotUnderstood
from recollect.providers.answerers.rules.shape import FIGURES, for_each, group_by
from recollect.providers.answerers.rules.wording import NUMBER, Wording, bounded, number

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
_DOWNWARDS, _UPWARDS = f"(?:{bounded(_DOWN)}|{_DOWN_ZH})", f"(?:{bounded(_UP)}|{_UP_ZH})"
_SORT = rf"(?:{bounded('sort(?:ed)?|order(?:ed)?|rank(?:ed)?|arranged?')}|排序|排列|排)"
_UNIT = "(?:名|个|位|条|种|类)?"
_FIGURE = "|".join(f"(?P<{name}>{bounded(english)}|{chinese})" for name, (english, chinese) in FIGURES.items())
_NUMBER_OF = bounded(r"count|frequency|number(?: of (?:rows|them|these|those))?")


def take_ranking(draft: Draft, wording: Wording, lexicon: Lexicon) -> None:
    """Top five, the fewest, the second most: an order and a limit."""
    by = rf"(?:\s+(?:by|in terms of)\s+(?P<by>{lexicon.pattern}))?"
    if draft.select.args.get("order") is not None:
        first = wording.take(bounded(rf"first\s+(?P<count>{NUMBER})")) or wording.take(rf"前(?P<count>{NUMBER}){_UNIT}")
        if first is not None:
            draft.select.set("limit", exp.Limit(expression=exp.Literal.number(int(number(first["count"])))))
            draft.changes.append(f"the first {first['count']}")
            return
    top = bounded(rf"(?:top|best|highest|largest)\s+(?P<count>{NUMBER})") + by
    bottom = bounded(rf"(?:bottom|last|worst|lowest|smallest)\s+(?P<count>{NUMBER})") + by
    by_zh = rf"(?:(?P<by>{lexicon.pattern})\s*)?"
    top_zh = rf"{by_zh}(?:排名)?(?:前|最[高多大]的前?)(?P<count>{NUMBER}){_UNIT}"
    bottom_zh = rf"{by_zh}(?:倒数|后|最[低少小]的前?)(?P<count>{NUMBER}){_UNIT}"
    for pattern, descending in ((top, True), (top_zh, True), (bottom, False), (bottom_zh, False)):
        match = wording.take(pattern)
        if match is not None:
            named = match.groupdict().get("by")
            _rows_named(draft, wording, lexicon, match.end())
            _rank(draft, int(number(match["count"])), descending, lexicon.column(named) if named else None)
            return
    if _with_the_most(draft, wording, lexicon):
        return
    for words, chinese, descending in ((_MOST[0], _MOST_ZH[0], True), (_MOST[1], _MOST_ZH[1], False)):
        asks = bounded(
            rf"(?:which|who|what)(?: one)?(?: of (?:them|these|those))?(?: has| have| had| is| was)? {words}"
        )
        if draft.groups and (
            wording.take(asks) or wording.take(rf"(?:数量)?(?:{chinese})的?(?=(?:又?是|呢|一个|[?？]|$))")
        ):
            if not any(each.find(exp.AggFunc) is None for each in draft.select.expressions):
                raise NotUnderstood("the query before shows no names, only figures")
            _rank(draft, 1, descending, None)
            return


def _with_the_most(draft: Draft, wording: Wording, lexicon: Lexicon) -> bool:
    """ "For the player with the lowest earnings": of the rows before, the first by that."""
    if draft.aggregated:
        return False
    for words, chinese, descending in ((_MOST[0], _MOST_ZH[0], True), (_MOST[1], _MOST_ZH[1], False)):
        match = wording.take(rf"{bounded('with|having')}\s+{words}\s+(?P<by>{lexicon.pattern})") or wording.take(
            rf"(?P<by>{lexicon.pattern})(?:{chinese})的(?:那?一?个)?(?=呢|就|是|[?!。]|$)"
        )
        if match is not None:
            _rank(draft, 1, descending, lexicon.column(match["by"]))
            return True
    return False


def _rows_named(draft: Draft, wording: Wording, lexicon: Lexicon, at: int) -> None:
    """ "Top 5 customers" of a total is the total by customer."""
    match = re.match(rf"\s*(?P<dim>{lexicon.pattern})", wording.text[at:])
    if match is not None and draft.aggregates:
        wording.take(re.escape(match["dim"]))
        group_by(draft, match["dim"], lexicon, add=False)


def _rank(draft: Draft, count: int, descending: bool, thing: Thing | None) -> None:
    if thing is not None and re.search(r"排名|名次|(?i:rank|position|place)", thing.column.name):
        raise NotUnderstood(f"is the first or the last the highest {thing.column.name}?")
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
    if not (wording.has(_SORT) or wording.has(_DOWNWARDS) or wording.has(_UPWARDS)):
        return
    descending = wording.has(_DOWNWARDS)
    towards = rf"(?:in\s+)?(?:the\s+)?(?:{_DOWNWARDS}|{_UPWARDS})(?:\s+order)?"
    figure, named = _take_named(wording, lexicon, towards)
    for pattern in (towards, towards, _SORT, _SORT):
        wording.take(pattern)
    measure = _measured(draft, lexicon, named)
    if figure is not None and isinstance(measure, exp.Column):
        measure = AGGREGATES[figure](this=measure)
    _set_order(draft, measure, descending)
    draft.changes.append(f"sorted by {measure.sql(draft.dialect)}{' descending' if descending else ''}")


def _take_named(wording: Wording, lexicon: Lexicon, towards: str) -> tuple[str | None, str | None]:
    """What rows are to be sorted by, if it is said: "by age", "in ascending order of the teacher's name"."""
    by = r"\s*(?:(?:by|of|based on|according to)\b|按照?|对)\s*(?:(?:the|their|its)\b|结果的?)?\s*"
    owner = rf"(?:(?:{lexicon.pattern})(?:['’]s)?\s+)?"
    asked = rf"(?:{_FIGURE})?\s*{owner}(?P<by>{_NUMBER_OF}|{lexicon.pattern})(?:进行)?"
    found = wording.take(rf"(?:{towards}|{_SORT}[a-z ]*?){by}{asked}") or wording.take(rf"(?:按照?|对){asked}")
    if found is None:
        return None, None
    return next((name for name in FIGURES if found[name]), None), found["by"]


def _measured(draft: Draft, lexicon: Lexicon, named: str | None) -> exp.Expr:
    order = draft.select.args.get("order")
    if named is not None and re.fullmatch(_NUMBER_OF, named):
        if not draft.aggregated:
            for_each(draft, [exp.Count(this=exp.Star())])
            draft.select.set("expressions", draft.select.expressions[:-1])
        return exp.Count(this=exp.Star())
    if named is not None:
        thing = lexicon.column(named)
        own = [each for each in draft.aggregates if thing.column.name in {c.name for c in each.find_all(exp.Column)}]
        return own[0].copy() if own else draft.column(thing.table, thing.column)
    if order is not None and len(order.expressions) == 1:
        ranked: exp.Expr = order.expressions[0].this
        return ranked.copy()
    if draft.aggregates or draft.groups:
        return draft.measure()
    if len(draft.select.expressions) == 1 and not draft.select.is_star:
        shown: exp.Expr = draft.select.expressions[0].unalias()
        return shown.copy()
    raise NotUnderstood("sorted by what?")


def _set_order(draft: Draft, measure: exp.Expr, descending: bool) -> None:
    if draft.aggregates and not draft.groups:
        raise NotUnderstood("it has one row only, and nothing to sort")
    alias = next((e.alias for e in draft.select.expressions if e.alias and e.unalias().sql() == measure.sql()), None)
    by = exp.column(alias) if alias else measure
    # As the database would order missing values by itself: nothing needs to be written then.
    small = Dialect.get_or_raise(draft.dialect).NULL_ORDERING == "nulls_are_small"
    ordered = exp.Ordered(this=by, desc=descending, nulls_first=small is not descending)
    draft.select.set("order", exp.Order(expressions=[ordered]))
