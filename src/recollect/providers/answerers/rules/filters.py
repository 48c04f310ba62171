"""Conditions: which rows a question is about."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from sqlglot import exp

from recollect.providers.answerers.rules.draft import Draft
from recollect.providers.answerers.rules.lexicon import Lexicon, Thing, reachable, table_pattern
from recollect.providers.answerers.rules.periods import YEAR, compare_year, drop_period
from recollect.providers.answerers.rules.saying import NotUnderstood
from recollect.providers.answerers.rules.wording import NUMBER, Wording, bounded, number
from recollect.providers.answerers.schema import folded

_TIME = r"years?|months?|quarters?|dates?|times?|periods?|年份|年|月份|月|季度|日期|时间"
_DROP = (
    r"(?:remove|drop|without|ignore|ignoring|forget|regardless of|no matter|leave out)(?: about)?(?: the| any)?\s+"
    rf"(?P<thing>{{names}}|{_TIME})(?:\s+(?:filter|condition|restriction|constraint|limit))?",
    rf"(?:for|across|over|in|of|from)?\s*\b(?:all|every|any)(?: of)?(?: the)?\s+(?P<thing>{{names}}|{_TIME})(?: instead)?",
    rf"(?:不限制?|不考虑|去掉|不管|取消|忽略|不看|不要)(?:了)?(?P<thing>{{names}}|{_TIME})(?:的)?(?:限制|条件|要求|筛选)?(?:了)?",
    rf"(?:所有|全部|每个|各个)(?:的)?(?P<thing>{{names}}|{_TIME})",
)
_NOT = (
    bounded(r"but not|not|except(?: for)?|excluding|exclude|without|besides|other than")
    + "|排除|除了|除去|不是|不含|不包括|非"
)
_LISTED = r"[\s,、]*(?:and|or|nor|和|或者?|及|以及|与)?\s*(?:(?:in|for|from|the)\s+)*"
_INCLUDE = bounded("also include|include|including|also add|add|plus|as well as") + "|加上|包括|以及"
_ALSO = bounded("also|as well|too") + "|也"
_OPERATORS: tuple[tuple[str, str, type[exp.Binary]], ...] = (
    ("at least|no less than|not less than", "至少|不少于|不低于|不小于", exp.GTE),
    ("at most|no more than|not more than|up to", "至多|最多|不超过|不高于|不多于|不大于", exp.LTE),
    ("(?:more|greater|larger|higher|bigger) than|over|above|exceeding", "超过|大于|高于|多于", exp.GT),
    ("(?:less|fewer|smaller|lower) than|under|below", "小于|低于|少于|不到|不足", exp.LT),
    ("exactly|equal to|equals", "等于|正好|恰好", exp.EQ),
)
_SINCE: tuple[tuple[str, type[exp.Binary]], ...] = (
    (rf"{bounded('since')}\s+(?P<year>{YEAR})|(?P<zh>{YEAR})年?(?:以来|及以后|起)", exp.GTE),
    (rf"{bounded('until')}\s+(?P<year>{YEAR})|(?P<zh>{YEAR})年?(?:及以前|为止)", exp.LTE),
    (rf"{bounded('after|later than')}\s+(?P<year>{YEAR})|(?P<zh>{YEAR})年?(?:之后|以后|后)", exp.GT),
    (rf"{bounded('before|earlier than')}\s+(?P<year>{YEAR})|(?P<zh>{YEAR})年?(?:之前|以前|前)", exp.LT),
)
_BARE = (
    r"^\W*(?:and|then|now|so)?\s*(?:what|how)?\s*(?:about|for|in|from|of|with|to)(?: (?:for|in|from|the|just|only))*"
    r"\s+(?P<value>[^?!.,]+?)\s*[?!.]*\s*$"
)
_BARE_ZH = r"^(?:那么?|只看|换成|改成)(?P<value>[^?!。,]{1,20}?)(?:的)?(?:呢|吧)?[?!。]*$"
_GOING_ON = (
    bounded(
        "what about|how about|what if|them|these|those|its?|their|only|just|also|and|now|same|instead|remove|without"
    )
    + "|[呢其这只再还也]|那"
)
_COUNTED = "(?:[个家部人次分本款级岁名位条篇种座场届年天元]|以上的?)?"
_WHAT_ABOUT = bounded("what about|how about|what if") + "|呢"
_AND_ALSO = bounded("and|also") + "|其中|还|再|同时|且"
_COMPARED = (exp.GT, exp.GTE, exp.LT, exp.LTE)


def drop_filters(draft: Draft, wording: Wording, lexicon: Lexicon) -> None:
    for template in _DROP:
        pattern = template.replace("{names}", lexicon.pattern)
        for match in re.finditer(pattern, wording.text):
            if _drop(draft, match["thing"], lexicon):
                wording.take(pattern)


def _drop(draft: Draft, words: str, lexicon: Lexicon) -> bool:
    if re.fullmatch(_TIME, words) and drop_period(draft):
        return True
    try:
        thing = lexicon.column(words, dimension=True)
    except NotUnderstood:
        return False
    doomed = draft.on_column(thing.table, thing.column)
    if thing.as_table:
        doomed = [
            each
            for each in draft.conditions()
            if (found := draft.about(each)) and found[0] == thing.table and (found[1] == thing.column or found[1].key)
        ]
    if not doomed:
        return False
    draft.keep(each for each in draft.conditions() if each not in doomed)
    draft.changes.append(f"no condition on {thing.name}")
    return True


def take_values(draft: Draft, wording: Wording, lexicon: Lexicon) -> None:
    """Conditions by the values that stand in the question: replaced where the column had one, else added."""
    lexicon.add_near(reachable(draft.schema, draft.tables))
    before = wording.text
    found = sorted(lexicon.values(wording), key=lambda each: each[0])
    if found and draft.conditions():
        _same_subject(draft, wording)
    negations = _negations(before, [each[:2] for each in found])
    chosen = [
        (_meant(draft, value, things), value, negated)
        for (_, _, value, things), negated in zip(found, negations, strict=True)
    ]
    for (name, negated), group in groupby(chosen, key=lambda each: (each[0].name, each[2])):
        members = list(group)
        values = list(dict.fromkeys(value for _, value, _ in members))
        for _ in values[1:]:
            wording.take(bounded("or") + "|或者?")
        also = not negated and wording.take(_INCLUDE) is not None
        old = draft.on_column(members[0][0].table, members[0][0].column)
        if old and not also and wording.has(_ALSO):
            raise NotUnderstood(f"{' and '.join(values)} as well: either of them, or both at once?")
        _set_values(draft, members[0][0], values, negated=negated, also=also)
        if not old:
            wording.take(_ALSO)
        if negated:
            wording.take(_NOT)
            wording.take("以外|之外")
        # The name of the column beside its value says nothing new: "for the region South".
        for phrase in lexicon.phrases_of(name):
            wording.take(phrase)
        wording.take(bounded("named|called|titled"))


def _same_subject(draft: Draft, wording: Wording) -> None:
    """A question that names its subject anew may be a new one: then the conditions before don't hold any more."""
    renamed = any(wording.has(table_pattern(each)) for each in draft.tables)
    if renamed and not wording.has(_GOING_ON):
        raise NotUnderstood("is this a question of its own, or about the rows before?")


def _negations(text: str, places: Iterable[tuple[int, int]]) -> list[bool]:
    """Which of these are left out: what a "not" stands before, and all that is listed with it ("except South and East")."""
    told: list[bool] = []
    last = 0
    for start, end in places:
        listed = bool(told) and told[-1] and re.fullmatch(_LISTED, text[last:start]) is not None
        told.append(listed or _negated(text[:start]))
        last = end
    return told


def _negated(before: str) -> bool:
    return re.search(rf"(?:{_NOT})(?:\s+(?:in|for|from|the))*\s*$", before) is not None


def _meant(draft: Draft, value: str, things: list[Thing]) -> Thing:
    filtered = [each for each in things if draft.on_column(each.table, each.column)]
    here = [each for each in things if each.table in draft.tables]
    best = filtered or here or things
    names = {each.name: each for each in best}
    if len(names) > 1:
        raise NotUnderstood(f"{value!r} occurs in {' and in '.join(sorted(names))}: which one is meant?")
    return next(iter(names.values()))


def _set_values(draft: Draft, thing: Thing, values: list[str], *, negated: bool, also: bool) -> None:
    column = draft.column(thing.table, thing.column)
    old = draft.on_column(thing.table, thing.column)
    if also and len(old) == 1 and isinstance(old[0], exp.EQ | exp.In):
        values = [*dict.fromkeys([*(each.name for each in old[0].find_all(exp.Literal)), *values])]
    literals: list[exp.Expr] = [exp.Literal.string(each) for each in values]
    fresh: exp.Expr = exp.EQ(this=column, expression=literals[0])
    if len(values) > 1:
        fresh = exp.In(this=column, expressions=literals)
    if negated:
        fresh = exp.NEQ(this=column, expression=literals[0]) if len(values) == 1 else exp.Not(this=fresh)
        old = [each for each in old if isinstance(each, exp.EQ) and each.expression.name in values]
    _put(draft, old, fresh)
    draft.changes.append(f"{thing.name} {'is not' if negated else 'is'} {' or '.join(values)}")


def _put(draft: Draft, old: Iterable[exp.Expr], fresh: exp.Expr) -> None:
    doomed = list(old)
    kept = draft.conditions()
    if len(doomed) == 1:
        draft.keep(fresh if each == doomed[0] else each for each in kept)
    else:
        draft.keep([*(each for each in kept if each not in doomed), fresh])


def take_comparisons(draft: Draft, wording: Wording, lexicon: Lexicon) -> None:
    names = lexicon.pattern
    for pattern, operator in _SINCE:
        while (match := wording.take(pattern)) is not None:
            compare_year(draft, operator, int(match["year"] or match["zh"]))
    for english, chinese, operator in _OPERATORS:
        pattern = (
            rf"(?:(?P<before>{names})\s*(?:is|are|was|were|of|that is|在|的)?\s*)?"
            rf"(?:{bounded(english)}|{chinese})\s*(?P<number>{NUMBER})(?P<unit>[万亿])?{_COUNTED}(?:\s*(?P<after>{names}))?"
        )
        while (match := wording.take(pattern)) is not None:
            named, also = match["before"] or match["after"], wording.has(_AND_ALSO)
            value, unit = number(match["number"]), match["unit"]
            if named:
                instead = wording.has(_WHAT_ABOUT) and not also
                _compare(draft, operator, value, unit, lexicon.column(named), instead=instead)
            elif not _recompared(draft, operator, value, unit, also=also):
                raise NotUnderstood(f"what should be compared with {match['number']}?")


def _scaled(value: float, unit: str | None, named: str) -> float:
    """`220万` where the column counts in 万 already is 220; where it says nothing, 2,200,000."""
    if unit is None or unit in named:
        return value
    if "万" in named or "亿" in named:
        raise NotUnderstood(f"{named} is not counted in {unit}")
    return value * (10_000 if unit == "万" else 100_000_000)


def _compare(
    draft: Draft, operator: type[exp.Binary], value: float, unit: str | None, thing: Thing, *, instead: bool
) -> None:
    literal = _literal(_scaled(value, unit, thing.column.name))
    own = [each for each in draft.aggregates if draft.groups and _aggregates(draft, each, thing)]
    if own:
        draft.keep([*draft.conditions("having"), operator(this=own[0].copy(), expression=literal)], "having")
    elif thing.column.kind in {"number", "other"}:
        kinds = _COMPARED if instead else operator
        old = [each for each in draft.on_column(thing.table, thing.column) if isinstance(each, kinds)]
        _put(draft, old, operator(this=draft.column(thing.table, thing.column), expression=literal))
    else:
        raise NotUnderstood(f"{thing.name} is no number to compare")
    draft.changes.append(f"{thing.name} {operator.__name__.lower()} {literal.name}")


def _recompared(draft: Draft, operator: type[exp.Binary], value: float, unit: str | None, *, also: bool) -> bool:
    """A number without a name changes the one comparison there is, or is held against the one figure there is."""
    found = [(clause, each) for clause in ("where", "having") for each in draft.conditions(clause) if _numeric(each)]
    if len(found) > 1:
        raise NotUnderstood("the query before compares more than one number: which one is meant?")
    if found:
        clause, old = found[0]
        owner = draft.about(old)
        literal = _literal(_scaled(value, unit, owner[1].name if owner is not None else ""))
        fresh = operator(this=old.this.copy(), expression=literal)
        kept = draft.conditions(clause)
        draft.keep([*kept, fresh] if also else [fresh if each is old else each for each in kept], clause)
        draft.changes.append(fresh.sql(draft.dialect))
        return True
    if len(draft.aggregates) != 1 or not draft.groups:
        return False
    literal = _literal(_scaled(value, unit, draft.aggregates[0].sql(draft.dialect)))
    fresh = operator(this=draft.aggregates[0].copy(), expression=literal)
    draft.keep([*draft.conditions("having"), fresh], "having")
    draft.changes.append(fresh.sql(draft.dialect))
    return True


def _literal(value: float) -> exp.Literal:
    return exp.Literal(this=str(value), is_string=False)


def _numeric(condition: exp.Expr) -> bool:
    """A comparison with a number; equality only of a figure, since `region_id = 3` compares nothing."""
    figure = isinstance(condition, exp.EQ) and condition.this.find(exp.AggFunc) is not None
    literal = condition.expression if isinstance(condition, _COMPARED) or figure else None
    return isinstance(literal, exp.Literal) and not literal.is_string


def _aggregates(draft: Draft, aggregate: exp.AggFunc, thing: Thing) -> bool:
    columns = list(aggregate.find_all(exp.Column))
    if thing.as_table and isinstance(aggregate, exp.Count):
        return True
    return (
        len(columns) == 1
        and folded(columns[0].name) == folded(thing.column.name)
        and draft.owner(columns[0]) is not None
    )


def take_unknown_value(draft: Draft, wording: Wording) -> None:
    """ "What about Ohio?" where one text is filtered by and its column's values aren't all known to us."""
    texts = [each for each in draft.conditions() if isinstance(each, exp.EQ) and each.expression.is_string]
    match = re.search(_BARE, wording.text) or re.search(_BARE_ZH, wording.text)
    if match is None or "\x00" in match["value"] or len(match["value"].split()) > 6:
        return
    written = wording.written(*match.span("value")).strip("\"'“”‘’")
    proper = (
        written != written.lower() or not written.isascii() or match["value"] != wording.written(*match.span("value"))
    )
    if len(texts) != 1 or not proper:
        return
    owner = draft.about(texts[0])
    if owner is None or owner[1].complete:
        if owner is not None:
            raise NotUnderstood(f"no {owner[0].name}.{owner[1].name} is called {written!r}")
        return
    wording.take(re.escape(match[0]))
    draft.keep(
        exp.EQ(this=each.this.copy(), expression=exp.Literal.string(written)) if each is texts[0] else each
        for each in draft.conditions()
    )
    draft.changes.append(f"{owner[0].name}.{owner[1].name} is {written}")
