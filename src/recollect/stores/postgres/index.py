"""The two search legs on Postgres.

Lexical: a tsvector column of marked terms under a GIN index, ranked by `ts_rank`. Row-level security makes Postgres check a row's
owner before it evaluates anything that could leak; it uses the GIN index only where `@@` is declared leakproof (see `checkup`)
and otherwise reads the scope's own entries through the primary key. Either way other users cost nothing.

Dense: an exact scan of the scope's vectors, or HNSW for large scopes. The exact statement compares the plain column, which no
index covers, so the planner can't take another way. The approximate one compares the expression the generation's index is
built on and names the generation as a constant, because only then a partial index is considered. One index serves all large
scopes: one with a small share of it would be slow to find there, so it is scanned exactly however large it is. What has not
joined the index yet (see `embeddings`) is scanned exactly beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Float, Select, and_, bindparam, func, literal_column, select

from recollect.model import EmbeddingState, Filter, Found, Target
from recollect.ports import Vector
from recollect.stores.postgres.session import PostgresSession
from recollect.stores.postgres.wire import halfvec
from recollect.stores.sql.expressions import fixed, own
from recollect.stores.sql.filters import FilterShape, filter_conditions, filter_params, filter_shape
from recollect.stores.sql.index import SqlIndex, marked
from recollect.stores.sql.session import Row
from recollect.stores.sql.tables import embeddings, entries, generations

BY_LENGTH: Final = 1  # ts_rank divides by 1 + log(length): a long text is not better for being long
MOST_AT_ONCE: Final = 64  # terms counted by one statement
STEP_COST: Final = 8  # how many rows of an exact scan one step through the graph costs
MAX_EF_SEARCH: Final = 1000

_DIMENSIONS = select(generations.c.dimensions).where(generations.c.id == bindparam("generation"))
# Of a table in parts each has its own, and only one is walked: as many as the fullest has.
_SHARED = """WITH whole AS (SELECT to_regclass('embeddings_hnsw_' || left(md5(%(generation)s), 16))::oid AS oid)
             SELECT greatest(max(c.reltuples), 0)::float8 FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
             WHERE c.oid IN (SELECT oid FROM whole UNION ALL SELECT inhrelid FROM pg_inherits JOIN whole ON inhparent = oid)
             HAVING bool_and(i.indisvalid)"""
_ITERATIVE = """SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config('hnsw.ef_search', %(ef)s, true),
                set_config('hnsw.max_scan_tuples', %(steps)s, true)"""

_LARGE: ColumnElement[bool] = literal_column("embeddings.large")
_TSV: ColumnElement[Any] = literal_column("entries.tsv")


def _as(type_: str, name: str) -> ColumnElement[Any]:
    return bindparam(name).op("::")(literal_column(type_))


@lru_cache(maxsize=256)
def _lexical(shape: FilterShape) -> Select[Any]:
    query = _as("tsquery", "query")
    score = func.ts_rank(_TSV, query, literal_column(str(BY_LENGTH)))
    return (
        select(entries.c.kind, entries.c.target_id, score.label("score"))
        .where(*filter_conditions(shape), _TSV.op("@@")(query))
        .order_by(literal_column("score").desc(), entries.c.kind, entries.c.target_id)
        .limit(bindparam("limit"))
    )


@lru_cache(maxsize=MOST_AT_ONCE)
def _frequencies(count: int) -> Select[*tuple[Any, ...]]:
    counts = (func.count().filter(_TSV.op("@@")(_as("tsquery", f"term{n}"))) for n in range(count))
    return select(*counts).select_from(entries).where(own(entries), _TSV.op("@@")(_as("tsquery", "any")))


def _wanted(shape: FilterShape, found: Any) -> ColumnElement[bool]:
    """Whether a vector's entry passes the filter: one look-up by key.

    OFFSET 0 keeps it a look-up. As a join, on tables that were just filled and have no statistics yet, Postgres
    would read the whole scope once for every vector.
    """
    same = and_(entries.c.kind == found.c.kind, entries.c.target_id == found.c.target_id)
    entry = select(entries.c.revision).where(*filter_conditions(shape), same).offset(literal_column("0"))
    return entry.correlate(found).exists()


def _ready(generation: ColumnElement[Any]) -> ColumnElement[bool]:
    state = embeddings.c.state == fixed(EmbeddingState.READY)
    return and_(own(embeddings), embeddings.c.generation == generation, state)


@lru_cache(maxsize=256)
def _exact(shape: FilterShape, *, outside: bool = False) -> Select[Any]:
    """Every vector of the scope, or only those outside the index."""
    # Distances first and alone: a sort that carries the vectors along spills to disk.
    apart = embeddings.c.vector.op("<=>", return_type=Float())(_as("halfvec", "vector"))
    measured = select(embeddings.c.kind, embeddings.c.target_id, apart.label("apart"))
    measured = measured.where(_ready(bindparam("generation")), *([~_LARGE] if outside else []))
    near = measured.order_by(apart, embeddings.c.kind, embeddings.c.target_id).cte("near").prefix_with("MATERIALIZED")
    return (
        select(near.c.kind, near.c.target_id, near.c.apart)
        .where(_wanted(shape, near))
        .order_by(near.c.apart, near.c.kind, near.c.target_id)
        .limit(bindparam("limit"))
    )


@lru_cache(maxsize=256)
def approximate(shape: FilterShape, generation: str, dimensions: int) -> Select[Any]:
    type_ = f"halfvec({int(dimensions)})"
    indexed: ColumnElement[Any] = literal_column(f"(embeddings.vector::{type_})")
    constant: ColumnElement[Any] = literal_column("'" + generation.replace("'", "''") + "'")
    apart = indexed.op("<=>", return_type=Float())(_as(type_, "vector"))
    return (
        select(embeddings.c.kind, embeddings.c.target_id, apart.label("apart"))
        .where(_ready(constant), _LARGE, _wanted(shape, embeddings))
        .order_by(apart)
        .limit(bindparam("limit"))
    )


class PostgresIndex(SqlIndex):
    _session: PostgresSession

    def lexical(self, terms: Sequence[str], filter: Filter, now: datetime, limit: int) -> Sequence[Found]:
        query = " | ".join(map(_lexeme, marked(self._scope, terms)))
        if not query:
            return []
        params = {**self._owner, **filter_params(filter, now), "query": query, "limit": limit}
        rows = self._session.rows(_lexical(filter_shape(filter)), params)
        return [Found(Target(kind, id), float(score)) for kind, id, score in rows]

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        wanted = [*dict.fromkeys(terms)]
        found = dict.fromkeys(wanted, 0)
        known = [(term, _lexeme(one)) for term in wanted for one in marked(self._scope, [term])]
        for start in range(0, len(known), MOST_AT_ONCE):
            part = known[start : start + MOST_AT_ONCE]
            queries = {f"term{n}": query for n, (_, query) in enumerate(part)}
            params = {**self._owner, **queries, "any": " | ".join(queries.values())}
            counts = self._session.rows(_frequencies(len(part)), params)[0]
            found |= {term: count for (term, _), count in zip(part, counts, strict=True)}
        return found

    def dense(self, vector: Vector, generation: str, filter: Filter, now: datetime, limit: int) -> Sequence[Found]:
        if limit < 1:
            return []
        shape = filter_shape(filter)
        params = {**self._owner, **filter_params(filter, now), "generation": generation, "limit": limit}
        params["vector"] = halfvec(vector)
        dimensions = self._indexed_dimensions(generation, limit)
        if dimensions == len(vector):
            found = _found(self._session.rows(approximate(shape, generation, dimensions), params))
            # Short of the limit may mean that the walk through the graph ended early. The exact scan knows.
            if len(found) == limit:
                outside = _found(self._session.rows(_exact(shape, outside=True), params))
                return _nearest_first([*found, *outside])[:limit]
        return _found(self._session.rows(_exact(shape), params))

    def _indexed_dimensions(self, generation: str, limit: int) -> int | None:
        """The dimensions of the generation's index, if going through it is cheaper than reading the scope's vectors."""
        numbers = self._ledger.numbers()
        size = numbers[2] if numbers else 0
        if size < self._session.exact_below:
            return None
        shared = self._session.query(_SHARED, {"generation": generation})
        if not shared:
            return None
        ef_search = min(max(4 * limit, 200), MAX_EF_SEARCH)
        steps = max(ef_search, int(2 * limit * max(shared[0][0], size) / size))
        if steps * STEP_COST > size:
            return None
        self._session.query(_ITERATIVE, {"ef": str(ef_search), "steps": str(4 * steps)})
        row = self._session.row(_DIMENSIONS, {"generation": generation})
        return None if row is None else int(row[0])


def _lexeme(term: str) -> str:
    """A marked term as tsquery text. Quoted, so that whatever it contains is a word and never an operator."""
    if " " in term:
        return f"({' <-> '.join(map(_lexeme, term.split(' ')))})"
    stem = term.removesuffix("*").replace("\\", "\\\\").replace("'", "''")
    return f"'{stem}':*" if term.endswith("*") else f"'{stem}'"


def _found(rows: Sequence[Row]) -> list[Found]:
    """Nearest first. The distance to a vector of length zero is no number; it is like nothing, so its cosine is 0."""
    hits = [Found(Target(kind, id), 0.0 if apart != apart else 1.0 - apart) for kind, id, apart in rows]
    return _nearest_first(hits)


def _nearest_first(hits: Sequence[Found]) -> list[Found]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.target))
