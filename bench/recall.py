"""recall: answering one question over one person's memory, against a bare full-text query plus one matrix product."""

from __future__ import annotations

import resource
import sqlite3
from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np

from bench.ground import ANA, DIMENSIONS, engine_over, fill, fresh_store
from bench.report import Row, ratio, summary
from bench.texts import notes, questions
from recollect.bootstrap import embedder_config, open_embedder, postgres_url, sqlite_path
from recollect.engine import Engine
from recollect.model import Query
from recollect.policy.text import query_terms
from recollect.settings import Settings

WARM_UP = 20
TOP = 100


async def run(kind: str, count: int, sizes: Sequence[int], recipes: Sequence[str]) -> list[Row]:
    rows: list[Row] = []
    for size in sizes:
        async with fresh_store(kind) as (store, settings):
            engine = engine_over(store)
            before = _resident_mb()
            started = perf_counter()
            await fill(engine, ANA, notes(size))
            filled = perf_counter() - started
            floor = {"what": "  bare FTS query + matrix product", **summary(await _floor(settings, size, count))}
            for recipe in recipes:
                cold, seconds = await _ask(engine, recipe, count)
                row = {
                    "what": f"{recipe} over {size:,} ({kind})",
                    **summary(seconds),
                    "first_ms": round(cold * 1000, 1),
                }
                row["ratio_p50"], row["ratio_p95"] = ratio(row, floor), ratio(row, floor, "p95_ms")
                rows.append(row)
            rows.append(floor | {"fill_s": round(filled, 1), "resident_mb": round(_resident_mb() - before)})
            rows.append(await _with_model(engine, size, kind, settings, count))
    return rows


async def _ask(engine: Engine, recipe: str, count: int) -> tuple[float, list[float]]:
    """The first answer (which may have to read everything) and the following ones."""
    started = perf_counter()
    await engine.recall(ANA, Query(text="a first question", recipe=recipe))
    cold = perf_counter() - started
    seconds = []
    for number, text in enumerate(questions(count + WARM_UP)):
        started = perf_counter()
        await engine.recall(ANA, Query(text=text, recipe=recipe))
        if number >= WARM_UP:
            seconds.append(perf_counter() - started)
    return cold, seconds


async def _with_model(engine: Engine, size: int, kind: str, settings: Settings, count: int) -> Row:
    """The same with the local model embedding each question: what a caller of the library waits for."""
    model = await open_embedder(embedder_config(settings))
    assert model is not None
    await model.embed(["warm up"], query=True)
    seconds = []
    for text in questions(count, seed=23):
        started = perf_counter()
        await model.embed([text], query=True)
        embedded = perf_counter() - started
        started = perf_counter()
        await engine.recall(ANA, Query(text=text))
        seconds.append(embedded + perf_counter() - started)
    await model.close()
    return {"what": f"native with {model.model} over {size:,} ({kind})", **summary(seconds)}


async def _floor(settings: Settings, size: int, count: int) -> list[float]:
    path = sqlite_path(settings)
    matrix = np.random.default_rng(5).standard_normal((size, DIMENSIONS)).astype(np.float32)
    vector = matrix[0].copy()
    search = _sqlite_search(path) if path else _postgres_search(await postgres_url(settings))
    seconds = []
    for number, text in enumerate(questions(count + WARM_UP)):
        terms = query_terms(text)
        started = perf_counter()
        search(terms)
        scores = matrix @ vector
        np.argpartition(scores, -min(TOP, size))[-TOP:]
        if number >= WARM_UP:
            seconds.append(perf_counter() - started)
    return seconds


def _sqlite_search(path: str) -> Callable[[Sequence[str]], object]:
    connection = sqlite3.connect(path, isolation_level=None)
    (mark,) = connection.execute("SELECT mark FROM entries LIMIT 1").fetchone()
    sql = "SELECT rowid, bm25(entries_fts) FROM entries_fts WHERE entries_fts MATCH ? ORDER BY 2 LIMIT 100"

    def search(terms: Sequence[str]) -> object:
        return connection.execute(sql, (" OR ".join(f'"{mark}_{term}"' for term in terms),)).fetchall()

    return search


def _postgres_search(url: str) -> Callable[[Sequence[str]], object]:
    import psycopg

    connection = psycopg.connect(url, autocommit=True)
    connection.execute(
        "SELECT set_config('app.tenant_id', %s, false), set_config('app.user_id', %s, false)", (ANA.tenant, ANA.user)
    )
    (mark,) = connection.execute("SELECT mark FROM entries LIMIT 1").fetchone() or ("",)
    sql = """SELECT target_id, ts_rank(tsv, query) FROM entries, to_tsquery('simple', %s) AS query
             WHERE tsv @@ query ORDER BY 2 DESC LIMIT 100"""

    def search(terms: Sequence[str]) -> object:
        return connection.execute(sql, (" | ".join(f"'{mark}_{term}'" for term in terms),)).fetchall()

    return search


def _resident_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
