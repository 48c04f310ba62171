"""From what was answered to figures, and from figures to PASS or FAIL.

right       the answer holds all that is needed, and what is outdated comes after it or not at all; what was never told is
            answered with nothing from memory; a secret is nowhere
cited       of the answers that need something: one of the memories it names holds that, and was said in that session, on that day
outdated    of the changed facts: the answer also quotes what was true before, other than as something earlier
leaked      answers in which something appears that was said in incognito or taken back
kept        messages of the person with a memory that are in the store
judged      of the answers with memories, those a model judged to cite well (`citing`)

Thresholds, and why. Who has switched their memory off must get next to nothing right, or the questions give their answers away
and the other figures mean nothing. A memory that helps must get nine in ten right and lead nine in ten of them back to where it
was said. That a question goes beyond what was ever told is found out less reliably (see "When there is no answer" in
docs/evaluation.md), so half is asked for. Nothing may leak and no message may be lost, in any weather.

In an outage the demands are others: everybody is answered, every message is kept, and it is said what was missing. Without the
model words alone still find most of it; without the shared cache nothing changes; where the index can't be read nothing
may be claimed to be remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eval.ground import Outage
from eval.lives import Asked, session_name
from eval.verdict import Threshold, percent
from recollect.model.talk import Cited

ALWAYS = (
    Threshold("answered", "questions answered", 100.0, 100.0),
    Threshold("kept", "messages kept", 100.0, 100.0),
    Threshold("leaked", "secrets leaked", 0.0, 0.0, most=True),
)
USUAL = (
    Threshold("right", "right with memory", 90.0, 97.0),
    Threshold("right_without", "right without memory", 10.0, 0.0, most=True),
    Threshold("cited", "cited from where it was said", 90.0, 97.0),
    Threshold("abstained", "nothing said of what was never told", 50.0, 100.0),
    Threshold("outdated", "outdated values quoted along", 100.0, 0.0, most=True, blocking=False),
    Threshold("judged", "citations a model approves of", 80.0, 95.0),
)
OUTAGES: Mapping[Outage, tuple[Threshold, ...]] = {
    "dense": (Threshold("told", "outage told", 100.0, 100.0), Threshold("right", "right with memory", 60.0, 80.0)),
    "lexical": (Threshold("right", "right with memory", 60.0, 80.0),),
    "redis": USUAL,
    "recall": (
        Threshold("told", "outage told", 100.0, 100.0),
        Threshold("claimed", "answers that claim to remember", 0.0, 0.0, most=True),
    ),
}


def thresholds(outage: Outage | None) -> tuple[Threshold, ...]:
    return (*ALWAYS, *(OUTAGES[outage] if outage else USUAL))


def failed(figures: Mapping[str, Any], outage: Outage | None) -> list[Threshold]:
    return [each for each in thresholds(outage) if each.blocking and not each.holds(figures[each.figure])]


def holds(text: str, need: str) -> bool:
    return any(option in text.casefold() for option in need.casefold().split("|"))


def leaks(asked: Asked) -> bool:
    if asked.reply is None:
        return False
    shown = "\n".join((asked.reply.text, *(each.content for each in asked.reply.remembered.used)))
    return any(holds(shown, each) for each in asked.question.secret)


def is_right(asked: Asked) -> bool:
    question, reply = asked.question, asked.reply
    if reply is None or reply.failed is not None:
        return False
    if question.nothing:
        return not reply.remembered.used
    if question.secret:
        return not leaks(asked)
    return all(holds(reply.text, need) for need in question.needs) and not _outdated_first(asked)


def is_cited(asked: Asked) -> bool | None:
    """Whether a memory that the reply names holds what is needed and comes from where it was told; None where nothing is."""
    if not asked.question.needs:
        return None
    return any(_leads_back(asked, each) for each in _named(asked))


def quotes_outdated(asked: Asked) -> bool | None:
    if not asked.question.outdated:
        return None
    return any(_is_outdated(asked, each) for each in _named(asked))


def _named(asked: Asked) -> list[Cited]:
    """What the reply cites, in its order."""
    reply = asked.reply
    if reply is None or reply.done is None:
        return []
    known = {each.reference: each for each in reply.remembered.used}
    return [known[each] for each in reply.done.cited if each in known]


def _leads_back(asked: Asked, cited: Cited) -> bool:
    day = cited.at.date().isoformat()
    same = cited.session_id == session_name(asked.task, day)
    return same and day in asked.question.told and any(holds(cited.content, need) for need in asked.question.needs)


def _is_outdated(asked: Asked, cited: Cited) -> bool:
    question = asked.question
    current = any(holds(cited.content, need) for need in question.needs)
    return not current and any(holds(cited.content, old) for old in question.outdated)


def _outdated_first(asked: Asked) -> bool:
    for each in _named(asked):
        if any(holds(each.content, need) for need in asked.question.needs):
            return False
        if _is_outdated(asked, each):
            return True
    return False


def figures(asked: Sequence[Asked], judged: Mapping[int, bool] | None = None) -> dict[str, Any]:
    """`judged` is by place in `asked`."""
    mine = [each for each in asked if each.with_memory]
    told = [bool(each.reply and (each.reply.remembered.error or each.reply.remembered.degraded)) for each in mine]
    return {
        "tasks": len({each.task.id for each in mine}),
        "questions": len(mine),
        "right": percent(map(is_right, mine)),
        "right_without": percent(is_right(each) for each in asked if not each.with_memory and each.question.needs),
        "tasks_done": percent(_tasks_done(mine)),
        "cited": percent(map(is_cited, mine)),
        "abstained": percent(is_right(each) for each in mine if each.question.nothing),
        "outdated": percent(map(quotes_outdated, mine)),
        "leaked": percent(leaks(each) for each in asked if each.question.secret) or 0.0,
        "answered": percent(each.reply is not None and each.reply.failed is None for each in asked),
        "kept": percent(each.kept for each in mine),
        "told": percent(told),
        "claimed": percent(bool(each.reply and each.reply.remembered.used) for each in mine),
        "judged": percent((judged or {}).values()),
    }


def _tasks_done(asked: Sequence[Asked]) -> list[bool]:
    done: dict[str, bool] = {}
    for each in asked:
        done[each.task.id] = done.get(each.task.id, True) and is_right(each)
    return list(done.values())


def report(asked: Sequence[Asked], judged: Mapping[int, bool] | None = None) -> dict[str, Any]:
    """All there is to say of a run."""
    return {
        "figures": figures(asked, judged),
        "by_category": breakdown(asked, lambda each: each.task.category),
        "by_lang": breakdown(asked, lambda each: each.task.lang),
        "cases": [line(each, (judged or {}).get(number)) for number, each in enumerate(asked)],
    }


def breakdown(asked: Sequence[Asked], key: Callable[[Asked], str]) -> dict[str, dict[str, Any]]:
    groups: dict[str, list[Asked]] = {}
    for each in asked:
        groups.setdefault(key(each), []).append(each)
    chosen = ("questions", "right", "right_without", "cited")
    return {name: {figure: figures(group)[figure] for figure in chosen} for name, group in groups.items()}


def line(asked: Asked, judged: bool | None) -> dict[str, Any]:
    """One question as it is kept in JSON."""
    reply = asked.reply
    return {
        "task": asked.task.id,
        "lang": asked.task.lang,
        "category": asked.task.category,
        "question": asked.question.ask,
        "with_memory": asked.with_memory,
        "right": is_right(asked),
        "cited": is_cited(asked),
        "judged": judged,
        "answer": reply.text if reply else None,
        "used": [f"{each.at.date().isoformat()} {each.content}" for each in reply.remembered.used] if reply else [],
        "degraded": list(reply.remembered.degraded) if reply else [],
    }
