"""From the SQL of the question before to that of this one: "What about 2023?", "and for the South?", "by product instead".

Rules read the question one after the other, each taking its words out. The SQL is adapted only if nothing is left over at the
end; otherwise the words that were not understood are named.
"""

from __future__ import annotations

from collections.abc import Callable

from recollect.providers.answerers.guard import UNREADABLE
from recollect.providers.answerers.rules.draft import Draft
from recollect.providers.answerers.rules.filters import (
    drop_filters,
    take_comparisons,
    take_unknown_value,
    take_values,
)
from recollect.providers.answerers.rules.lexicon import Lexicon
from recollect.providers.answerers.rules.periods import set_period, take_period
from recollect.providers.answerers.rules.ranking import take_order, take_ranking
from recollect.providers.answerers.rules.saying import Adapted, Cannot, NotUnderstood
from recollect.providers.answerers.rules.shape import take_columns, take_count, take_figures, take_grouping
from recollect.providers.answerers.rules.wording import Wording
from recollect.providers.answerers.schema import Schema

MOST_CHARS = 400
NO_CHANGE = "I see nothing in it that would change the question before"
Rule = Callable[[Draft, Wording, Lexicon], None]


def _take_period(draft: Draft, wording: Wording, _lexicon: Lexicon) -> None:
    if asked := take_period(wording):
        set_period(draft, asked)


READERS: tuple[Rule, ...] = (
    drop_filters,
    take_values,
    take_comparisons,
    _take_period,
    take_ranking,
    take_order,
    take_grouping,
    take_count,
    take_figures,
    take_columns,
)
"""In this order: what is certain first, what could be part of a longer phrase last."""


def adapt(previous_sql: str, question: str, schema: Schema, dialect: str) -> Adapted | Cannot:
    """The SQL of `question`, asked right after the one that `previous_sql` answered. Pure: nothing is run."""
    if not question.strip() or len(question) > MOST_CHARS:
        return Cannot("the question is empty or too long to be read by rules")
    try:
        draft = Draft(previous_sql, schema, dialect)
        before = draft.sql
        wording = Wording(question)
        lexicon = Lexicon(schema, draft.tables, wording)
        for rule in READERS:
            rule(draft, wording, lexicon)
        if wording.left(draft.vocabulary()):
            take_unknown_value(draft, wording)
        found = judged(draft, wording)
        unchanged = isinstance(found, Adapted) and found.sql == before
        return Cannot(NO_CHANGE) if unchanged else found
    except NotUnderstood as problem:
        return Cannot(str(problem))
    except UNREADABLE:
        return Cannot("the SQL of the question before is of a shape I can't adapt")


def judged(draft: Draft, wording: Wording) -> Adapted | Cannot:
    left = wording.left(draft.vocabulary())
    if left:
        return Cannot(f"I don't know what to do with {left!r}")
    if not draft.changes:
        return Cannot(NO_CHANGE)
    return Adapted(draft.sql, tuple(draft.changes))
