"""The two search legs on SQLite: words through FTS5 (where that is missing, through LIKE), vectors by exact
scan.

The scan reads vectors in chunks and keeps only the best, so its memory doesn't grow with the scope. It is for
scopes too large to be held in memory by the engine; those that are small never come here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import numpy as np
from sqlalchemy import (
    ColumnElement,
    Label,
    Select,
    bindparam,
    column,
    func,
    literal_column,
    select,
    table,
    text,
    type_coerce,
)
from sqlalchemy.types import NullType

from recollect.errors import Broken
from recollect.model import Filter, Found, Target
from recollect.ports import Vector
from recollect.stores.sql.expressions import own
from recollect.stores.sql.filters import FilterShape, filter_conditions, filter_params, filter_shape
from recollect.stores.sql.index import SqlIndex, mark, marked, ready_vector
from recollect.stores.sql.tables import embeddings, entries
from recollect.stores.sql.types import Names
from recollect.stores.sqlite.session import SqliteSession, matrix

_CHUNK = 256  # small enough to stay in the processor's cache from the file to the score
_MOST_TERMS = 1000

_SEQ: ColumnElement[int] = literal_column("entries.seq")
_FOUND = (entries.c.kind, entries.c.target_id)
_FTS = table("entries_fts", column("rowid"))
_VOCABULARY_ENTRY = table("entries_vocab", column("term"), column("doc"))
_WANTED = func.json_each(bindparam("wanted", type_=Names())).table_valued("value", name="wanted")
_LIKE = (literal_column("' '") + entries.c.terms + literal_column("' '")).like(_WANTED.c.value, escape="\\")

_FREQUENCIES = select(_VOCABULARY_ENTRY.c.term, _VOCABULARY_ENTRY.c.doc).where(
    _VOCABULARY_ENTRY.c.term.in_(select(_WANTED.c.value))
)
_FREQUENCIES_LIKE = select(_WANTED.c.value, func.count()).where(own(entries), _LIKE).group_by(_WANTED.c.value)
_LOOK_UP = select(_SEQ, *_FOUND).where(_SEQ.in_(select(_WANTED.c.value)))


@lru_cache(maxsize=128)
def _lexical(shape: FilterShape) -> Select[Any]:
    score: Label[float] = literal_column("-bm25(entries_fts)").label("score")
    return (
        select(*_FOUND, score)
        .join_from(_FTS, entries, _FTS.c.rowid == _SEQ)
        .where(text("entries_fts MATCH :query"), *filter_conditions(shape))
        .order_by(score.desc(), *_FOUND)
        .limit(bindparam("limit"))
    )


@lru_cache(maxsize=128)
def _lexical_like(shape: FilterShape) -> Select[Any]:
    score = func.count().label("score")
    return (
        select(*_FOUND, score)
        .join_from(entries, _WANTED, _LIKE)
        .where(*filter_conditions(shape))
        .group_by(*_FOUND)
        .order_by(score.desc(), *_FOUND)
        .limit(bindparam("limit"))
    )


@lru_cache(maxsize=128)
def _vectors(shape: FilterShape) -> Select[*tuple[Any, ...]]:
    return (
        select(_SEQ, type_coerce(embeddings.c.vector, NullType()))
        .join_from(entries, embeddings, ready_vector())
        .where(*filter_conditions(shape))
    )


class SqliteIndex(SqlIndex):
    """`ports.Index` on SQLite."""

    _session: SqliteSession

    def lexical(self, terms: Sequence[str], filter: Filter, now: datetime, limit: int) -> Sequence[Found]:
        wanted = marked(self._scope, terms)[:_MOST_TERMS]
        if not wanted:
            return []
        shape = filter_shape(filter)
        params = {**self._owner, **filter_params(filter, now), "limit": limit}
        if self._session.full_text.works:
            try:
                rows = self._session.rows(_lexical(shape), {**params, "query": _match(wanted)})
                return [Found(Target(kind, id), score) for kind, id, score in rows]
            except Broken:
                self._session.full_text.works = (
                    False  # said aloud through the store's capabilities; LIKE still finds it
                )
        rows = self._session.rows(_lexical_like(shape), {**params, "wanted": self._patterns(wanted)})
        return [Found(Target(kind, id), float(score)) for kind, id, score in rows]

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        asked = list(terms)
        names = {term: name for term in asked for name in marked(self._scope, [term]) if not name.endswith("*")}
        if self._session.full_text.works:
            rows = self._session.rows(_FREQUENCIES, {"wanted": [*map(_as_indexed, names.values())]})
            counts: dict[str, int] = dict(rows)
            return {term: counts.get(_as_indexed(names.get(term, "")), 0) for term in asked}
        rows = self._session.rows(_FREQUENCIES_LIKE, {**self._owner, "wanted": self._patterns(names.values())})
        found: dict[str, int] = dict(rows)
        return {term: found.get(_pattern(term), 0) for term in asked}

    def dense(self, vector: Vector, generation: str, filter: Filter, now: datetime, limit: int) -> Sequence[Found]:
        query = _unit(vector)
        best_seqs, best = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        params = {**self._owner, **filter_params(filter, now), "generation": generation}
        for rows in self._session.stream(_vectors(filter_shape(filter)), params, _CHUNK):
            fit = [row for row in rows if len(row[1]) == 2 * len(query)]
            scores = np.concatenate([best, matrix([blob for _, blob in fit]) @ query if fit else best[:0]])
            seqs = np.concatenate([best_seqs, np.fromiter((seq for seq, _ in fit), np.int64, len(fit))])
            kept = _top(scores, limit)
            best_seqs, best = seqs[kept], scores[kept]
        return self._named(dict(zip(best_seqs.tolist(), best.tolist(), strict=True)))[:limit]

    def _named(self, scores: dict[int, float]) -> list[Found]:
        rows = self._session.rows(_LOOK_UP, {"wanted": [*scores]})
        found = [Found(Target(kind, id), scores[seq]) for seq, kind, id in rows]
        return sorted(found, key=lambda each: (-each.score, each.target))

    def _patterns(self, wanted: Iterable[str]) -> list[str]:
        prefix = mark(self._scope) + "_"
        return [_pattern(" ".join(word.removeprefix(prefix) for word in term.split(" "))) for term in wanted]


def _match(terms: Iterable[str]) -> str:
    """An FTS5 query. Terms are letters, digits and `_` only, so inside quotes they can't be anything but words; several in
    one pair of quotes are a phrase.
    """
    return " OR ".join(f'"{term[:-1]}"*' if term.endswith("*") else f'"{term}"' for term in terms)


def _pattern(term: str) -> str:
    """A LIKE pattern for one whole term, a phrase or a prefix, among terms parted by spaces."""
    word = term.removesuffix("*").replace("_", "\\_")
    return f"% {word}%" if term.endswith("*") else f"% {word} %"


def _as_indexed(term: str) -> str:
    """The tokenizer folds the case of ASCII letters and of nothing else."""
    return "".join(c.lower() if c.isascii() else c for c in term)


def _top(scores: Vector, limit: int) -> Any:
    """Where the best are: all that tie with the last of them included, so that the order of ties can be ours."""
    if len(scores) <= limit:
        return slice(None)
    bar = np.partition(scores, -limit)[-limit] if limit else np.inf
    return np.flatnonzero(scores >= bar)


def _unit(vector: Vector) -> Vector:
    length = float(np.linalg.norm(vector))
    return np.asarray(vector if length == 0.0 else vector / length, dtype=np.float32)
