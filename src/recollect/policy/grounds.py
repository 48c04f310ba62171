"""What an answer over data rests on, and whether somebody may see it now.

An answer rests on the tables and databases its query used. Words may also come from what the answerer was shown: an answer
without a query of its own rests on everything that was in its context, and one with a query on each earlier answer of which it
says something that neither its own question nor its own rows say. It rests on tables that it merely names, too. Where a query was
run and nobody can say on which tables, it rests on something unknown, and only those see it who may see everything.

A table is written by its name, a database as `name.*`, the unknown as `?`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from recollect.model import DataAccess, DataAnswer, Exchange
from recollect.policy.text import query_terms

UNKNOWN = "?"
_ALL_OF = ".*"
_QUOTES = str.maketrans("", "", '"`[]')
_NAME = re.compile(r"\w+")
LONGEST = 20_000
"""Characters of a text that are compared: nobody reads on after them."""


def permits(access: DataAccess, grounds: Iterable[str]) -> bool:
    names = tuple(grounds)
    if UNKNOWN in names:
        return access.tables is None and access.databases is None
    databases = [name.removesuffix(_ALL_OF) for name in names if name.endswith(_ALL_OF)]
    return access.allows([name for name in names if not name.endswith(_ALL_OF)], databases)


def grounds_of(question: str, answer: DataAnswer, shown: Sequence[Exchange], access: DataAccess) -> tuple[str, ...]:
    """`shown` is what the answerer had before it; `access` says which names there are to be named."""
    own = (*named(answer.tables, answer.databases), *_mentioned(question, answer, access))
    if not answer.sql and not answer.tables:
        sources: Iterable[Exchange] = shown
    else:
        own = own if answer.tables else (*own, UNKNOWN)
        borrowed = _borrowed(question, answer)
        sources = [each for each in shown if _speaks_of(borrowed, each)] if borrowed else ()
    return tuple(dict.fromkeys([*own, *(name for each in sources for name in each.grounds)]))


def named(tables: Iterable[str], databases: Sequence[str]) -> tuple[str, ...]:
    """Names in one form. A table without a database is of the one that was asked, if it was one."""
    asked = [_plain(name) for name in databases]
    only = asked[0] if len(asked) == 1 else None
    full = (name if "." in name or only is None else f"{only}.{name}" for name in map(_plain, tables))
    return tuple(dict.fromkeys([*full, *(f"{name}{_ALL_OF}" for name in asked)]))


def databases_in(grounds: Iterable[str]) -> set[str]:
    """The databases that are named in it, alone or before a table."""
    return {name.rpartition(".")[0].lower() for name in grounds if "." in name}


def _plain(name: str) -> str:
    return name.translate(_QUOTES).strip()


def _mentioned(question: str, answer: DataAnswer, access: DataAccess) -> Iterable[str]:
    """Tables and databases whose names stand in its words, or in those of the question, which goes where the answer goes."""
    text = " ".join((question, answer.answer, answer.explanation, answer.sql, *answer.related)).lower()
    words = set(_NAME.findall(text))
    for kind, ending in ((access.tables, ""), (access.databases, _ALL_OF)):
        yield from (
            name + ending for name in sorted(kind or ()) if set(_NAME.findall(name.rpartition(".")[2])) <= words
        )


def _borrowed(question: str, answer: DataAnswer) -> set[str]:
    """What it says that neither its own question nor its own rows say."""
    said = _words(answer.answer, answer.explanation, answer.sql, *answer.related)
    return said - _words(question, _text(answer.result), *answer.tables, *answer.databases)


def _speaks_of(borrowed: set[str], earlier: Exchange) -> bool:
    """Whether some of it is known from the earlier answer."""
    source = _words(earlier.answer, earlier.explanation or "", _text(earlier.result), *earlier.tables)
    return not borrowed.isdisjoint(source)


def _text(result: Any) -> str:
    return json.dumps(result, ensure_ascii=False, default=str) if result else ""


def _words(*texts: str) -> set[str]:
    """What tells one text from another: names, numbers and words that carry a meaning."""
    return {term for text in texts for term in query_terms(text[:LONGEST], or_all=False)}
