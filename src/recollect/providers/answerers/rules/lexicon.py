"""What the words of a question name: a table, a column, a value.

A column goes by its own name, by that name without its table's (`name` for `regions.region_name`), and by its last word. A table
stands for the column its rows are called by. What is in the query already is meant before what is not; when two columns are meant
equally, neither is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recollect.providers.answerers.rules.saying import NotUnderstood
from recollect.providers.answerers.rules.wording import Wording, bounded
from recollect.providers.answerers.schema import Column, Schema, Table, folded, words_of

_UNIT = re.compile(r"[(（][^)）]*[)）]\s*$")
_LATIN = re.compile(r"[a-z0-9]")


@dataclass(frozen=True)
class Thing:
    """A column that a phrase may mean; `rank` says how far-fetched that is."""

    table: Table
    column: Column
    rank: int
    as_table: bool = False

    @property
    def name(self) -> str:
        return f"{self.table.name}.{self.column.name}"


class Lexicon:
    """The names that occur in one question, for one query."""

    def __init__(self, schema: Schema, used: Sequence[Table], wording: Wording) -> None:
        self._used = {folded(each.full) for each in used}
        self._near = used or schema.tables
        self._things: dict[str, list[Thing]] = {}
        for table in reachable(schema, used) if used else schema.tables:
            for words, thing in _names(table, schema):
                # A wide schema has more names than there is time for patterns: most are not there at all.
                if _there(words, wording) and wording.has(phrase := _joined(words)):
                    self._things.setdefault(phrase, []).append(thing)
        self.pattern = "|".join(sorted(self._things, key=len, reverse=True)) or r"(?!)"
        """Fits any of the names, the longest first."""

    def column(self, words: str, *, dimension: bool = False) -> Thing:
        """The one column that `words` mean; for a dimension a table's name is as good as a column's."""
        found = [each for phrase, things in self._things.items() if re.fullmatch(phrase, words) for each in things]
        if dimension:
            # `region_id` is a number nobody wants to see: the name of the region is meant.
            found = [each for each in found if not (each.column.key and each.column.kind == "number")] or found
        if not found:
            raise NotUnderstood(f"I know no column called {words!r} here")
        best = min(self._order(each) for each in found)
        names = {each.name: each for each in found if self._order(each) == best}
        if len(names) > 1:
            raise NotUnderstood(f"{words!r} could mean {' or '.join(sorted(names))}: which one?")
        return next(iter(names.values()))

    def values(self, wording: Wording) -> Iterator[tuple[int, int, str, list[Thing]]]:
        """Values that stand in the question, longest first: where, which, and in which columns they occur."""
        spelt: dict[str, list[tuple[str, Thing]]] = {}
        for table in self._near:
            for column in table.columns:
                for value in column.values:
                    plain = unicodedata.normalize("NFKC", value).lower()
                    if len(plain) > 1 and plain in wording.text and not plain.isdecimal():
                        spelt.setdefault(plain, []).append((value, Thing(table, column, 0)))
        for plain in sorted(spelt, key=len, reverse=True):
            for found in wording.take_all(_phrase(plain)):
                yield found.start(), found.end(), spelt[plain][0][0], [thing for _, thing in spelt[plain]]

    def phrases_of(self, name: str) -> list[str]:
        """What fits the words that name this column in this question, the longest first."""
        found = [phrase for phrase, things in self._things.items() if name in {each.name for each in things}]
        return sorted(found, key=len, reverse=True)

    def add_near(self, tables: Sequence[Table]) -> None:
        self._near = [*self._near, *(each for each in tables if each not in self._near)]

    def _order(self, thing: Thing) -> tuple[bool, int]:
        return folded(thing.table.full) not in self._used, thing.rank


def reachable(schema: Schema, used: Sequence[Table]) -> list[Table]:
    """The tables of a query and those one link away."""
    names = {folded(each.name) for each in used}
    linked = [
        other
        for other in schema.tables
        if folded(other.name) not in names
        and any(each.link_to(other) is not None or other.link_to(each) is not None for each in used)
    ]
    return [*used, *linked]


def named_by(schema: Schema, wording: Wording) -> dict[str, Table]:
    """The tables whose own names stand in the question, by the pattern that found them."""
    near = [each for each in schema.tables if _there(words_of(each.name), wording)]
    phrases = {table_pattern(each): each for each in near}
    return {phrase: table for phrase, table in phrases.items() if wording.has(phrase)}


def table_pattern(table: Table) -> str:
    return _joined(words_of(table.name))


def _there(words: Sequence[str], wording: Wording) -> bool:
    return bool(words) and all(_stem(each) in wording.text for each in words)


def _stem(word: str) -> str:
    return word[:-1] if word.endswith("y") else word


def _names(table: Table, schema: Schema) -> Iterator[tuple[Sequence[str], Thing]]:
    own = words_of(table.name)
    for column in table.columns:
        words = words_of(_UNIT.sub("", unicodedata.normalize("NFKC", column.name)))
        yield words, Thing(table, column, 0)
        if len(words) > 1 and words[: len(own)] == own:
            yield words[len(own) :], Thing(table, column, 1)
        if len(words) > 1 and words[-1] not in {"id", "key"}:
            yield words[-1:], Thing(table, column, 3)
        target = next((each for each in table.links if folded(each.column) == folded(column.name)), None)
        other = schema.table(target.table) if target is not None else None
        if column.key and words[-1:] == ("id",) and len(words) > 1 and other is not None and other.label is not None:
            yield words[:-1], Thing(other, other.label, 2, as_table=True)
    if table.label is not None:
        yield own, Thing(table, table.label, 2, as_table=True)


def _joined(words: Sequence[str]) -> str:
    if not _LATIN.search(words[-1]):
        return "".join(map(re.escape, words))
    return bounded(r"[\s_]+".join(map(_plural, words)))


def _plural(word: str) -> str:
    stem = re.escape(_stem(word))
    return rf"{stem}(?:y|ies)" if word.endswith("y") else rf"{stem}(?:e?s)?"


def _phrase(plain: str) -> str:
    escaped = r"\s+".join(map(re.escape, plain.split()))
    return bounded(escaped) if _LATIN.search(plain) else escaped
