"""The least a hybrid search could cost: one full-text query for the same words, one matrix product over the same vectors."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter

import numpy as np

from bench.ground import ANA, DIMENSIONS
from bench.texts import questions
from recollect.bootstrap import postgres_url, sqlite_path
from recollect.policy.text import query_terms
from recollect.settings import Settings

WARM_UP = 10
LEAST = 20
TOP = 100

Search = Callable[[Sequence[str]], object]


async def bare_search(settings: Settings, size: int, count: int, at_most_s: float) -> list[float]:
    path = sqlite_path(settings)
    matrix = np.random.default_rng(5).standard_normal((size, DIMENSIONS), np.float32)
    vector = matrix[0].copy()
    seconds: list[float] = []
    until = perf_counter() + at_most_s
    with _sqlite(path) if path else _postgres(await postgres_url(settings)) as search:
        for number, text in enumerate(questions(count + WARM_UP)):
            terms = query_terms(text)
            started = perf_counter()
            search(terms)
            scores = matrix @ vector
            np.argpartition(scores, -min(TOP, size))[-TOP:]
            if number >= WARM_UP:
                seconds.append(perf_counter() - started)
            if perf_counter() > until and len(seconds) >= LEAST:
                break
    return seconds


@contextmanager
def _sqlite(path: str) -> Iterator[Search]:
    connection = sqlite3.connect(path, isolation_level=None)
    (mark,) = connection.execute("SELECT mark FROM entries LIMIT 1").fetchone()
    sql = "SELECT rowid, bm25(entries_fts) FROM entries_fts WHERE entries_fts MATCH ? ORDER BY 2 LIMIT 100"

    def search(terms: Sequence[str]) -> object:
        return connection.execute(sql, (" OR ".join(f'"{mark}_{term}"' for term in terms),)).fetchall()

    try:
        yield search
    finally:
        connection.close()


@contextmanager
def _postgres(url: str) -> Iterator[Search]:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT set_config('app.tenant_id', %s, false), set_config('app.user_id', %s, false)",
            (ANA.tenant, ANA.user),
        )
        (mark,) = connection.execute("SELECT mark FROM entries LIMIT 1").fetchone() or ("",)
        sql = """SELECT target_id, ts_rank(tsv, query) FROM entries, to_tsquery('simple', %s) AS query
                 WHERE tsv @@ query ORDER BY 2 DESC LIMIT 100"""

        def search(terms: Sequence[str]) -> object:
            return connection.execute(sql, (" | ".join(f"'{mark}_{term}'" for term in terms),)).fetchall()

        yield search
