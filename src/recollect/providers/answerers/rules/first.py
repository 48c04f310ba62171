"""A first question, where it says plainly what it wants: which figure of what, by what, of when.

Only the beginning is built here, a figure of one table; everything else is adapted to it by the rules of follow-up questions.
"""

from __future__ import annotations

import re

from sqlglot import exp

from recollect.providers.answerers.guard import UNREADABLE
from recollect.providers.answerers.rules.draft import AGGREGATES, Draft
from recollect.providers.answerers.rules.followup import MOST_CHARS, READERS, judged
from recollect.providers.answerers.rules.lexicon import Lexicon, Thing, named_by
from recollect.providers.answerers.rules.saying import Adapted, Cannot, NotUnderstood
from recollect.providers.answerers.rules.shape import COUNT, FIGURES
from recollect.providers.answerers.rules.wording import Wording, bounded
from recollect.providers.answerers.schema import Column, Schema, Table, folded, words_of

_MONEY = frozenset("amount revenue turnover sales value total 金额 销售额 营收 总额".split())
_LIST = bounded(r"(?:show|list|display|give|get|what are)(?: me)?(?: all)?(?: of)?(?: the)?") + "|列出|显示|查看|有哪些"


def begin(question: str, schema: Schema, dialect: str) -> Adapted | Cannot:
    """The SQL of a question that nothing came before. Pure: nothing is run."""
    if not question.strip() or len(question) > MOST_CHARS:
        return Cannot("the question is empty or too long to be read by rules")
    wording = Wording(question)
    try:
        start = _start(wording, schema)
        draft = Draft(start.sql(dialect), schema, dialect)
        lexicon = Lexicon(schema, draft.tables, wording)
        for rule in READERS:
            rule(draft, wording, lexicon)
        draft.changes.insert(0, _described(start))
        return judged(draft, wording)
    except NotUnderstood as problem:
        return Cannot(str(problem))
    except UNREADABLE:
        return Cannot("I can't build a query from this")


def _start(wording: Wording, schema: Schema) -> exp.Select:
    lexicon = Lexicon(schema, (), wording)
    tables = named_by(schema, wording)
    any_table = "|".join(tables) or "(?!)"
    within = rf"(?:\s+(?:of|in|from)\s+(?:all\s+)?(?:the\s+)?(?:{any_table}))?"
    for figure, (english, chinese) in FIGURES.items():
        pattern = rf"(?:{bounded(english)}|{chinese})(?:\s+of)?(?:\s+the)?\s*"
        if match := wording.take(rf"{pattern}(?P<of>{any_table})(?!\s*(?:{lexicon.pattern}))"):
            table = _table(tables, match["of"])
            return _figure(figure, table, _measure(table), match["of"])
        if match := wording.take(rf"{pattern}(?P<of>{lexicon.pattern}){within}"):
            thing = lexicon.column(match["of"])
            return _figure(figure, thing.table, _number(thing), "")
    return _counted_or_listed(wording, tables)


def _counted_or_listed(wording: Wording, tables: dict[str, Table]) -> exp.Select:
    any_table = "|".join(tables) or "(?!)"
    english, chinese = COUNT
    there = r"(?:\s+(?:are|do we have))?(?:\s+there)?"
    if match := wording.take(rf"(?:{bounded(english)}|{chinese})\s*(?:the\s+)?(?P<of>{any_table}){there}"):
        return exp.select(exp.alias_(exp.Count(this=exp.Star()), "number")).from_(_source(_table(tables, match["of"])))
    if match := wording.take(rf"(?P<of>{any_table})(?=\s+(?:{bounded('by|per|for each')}))"):
        table = _table(tables, match["of"])
        return _figure("total", table, _measure(table), match["of"])
    if match := wording.take(rf"(?:{_LIST})\s*(?P<of>{any_table})"):
        return exp.select("*").from_(exp.to_table(_table(tables, match["of"]).full))
    raise NotUnderstood("I don't see which figure of which table is asked for")


def _table(tables: dict[str, Table], words: str) -> Table:
    return next(table for phrase, table in tables.items() if re.fullmatch(phrase, words))


def _measure(table: Table) -> Column:
    """What the total of a table is the total of: its one column of money, or its only number."""
    numbers = [each for each in table.columns if each.kind == "number" and not each.key]
    money = [each for each in numbers if _MONEY & {*words_of(each.name), folded(each.name)}]
    found = money or numbers
    if len(found) != 1:
        names = " or ".join(each.name for each in found)
        raise NotUnderstood(f"which figure of {table.name}: {names}?" if found else f"{table.name} has no figures")
    return found[0]


def _number(thing: Thing) -> Column:
    if thing.column.kind not in {"number", "other"} or thing.column.key:
        raise NotUnderstood(f"{thing.name} is no figure")
    return thing.column


def _figure(figure: str, table: Table, column: Column, words: str) -> exp.Select:
    source = _source(table)
    aggregate = AGGREGATES[figure](this=exp.column(column.name, table=source.alias or None))
    noun = re.sub(r"\W+", "_", words).strip("_") if words.isascii() else ""
    name = f"{figure}_{noun or folded(column.name)}"
    return exp.select(exp.alias_(aggregate, name, quoted=not name.isascii())).from_(source)


def _source(table: Table) -> exp.Table:
    source = exp.to_table(table.full)
    initial = folded(table.name)[:1]
    if initial.isascii() and initial.isalpha():
        source.set("alias", exp.TableAlias(this=exp.to_identifier(initial)))
    return source


def _described(start: exp.Select) -> str:
    shown = start.expressions[0]
    source = start.find(exp.Table)
    what = "all columns" if start.is_star else shown.unalias().sql()
    return f"{what} of {source.name if source is not None else ''}"
