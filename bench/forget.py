"""forget: how long an answer takes, and what is left to a worker, while a Postgres database grows.

Small tables are written anew while whoever forgot something waits; of large ones it is owed (see `stores.postgres.scrubbing`).
Beside both stands what everybody would wait for if no difference were made: every table vacuumed and the word index rebuilt.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from time import monotonic, perf_counter

import psycopg

from bench.filling import Size, grow, person
from bench.ground import engine_over, fresh_store
from bench.report import Row, summary
from recollect.bootstrap import postgres_url
from recollect.engine import Engine
from recollect.model import Listing, Target
from recollect.ports import Tx
from recollect.stores.migrations.postgres_ddl import PROTECTED

EACH = 1_000
WRITTEN = 4
"""So many people are written by the application, the others are copies of them."""
COLUMNS = {
    "what": "memories", "mb": "MB of\ntables", "answer_p50_ms": "answer\np50 ms", "answer_p95_ms": "\np95", "said": "it says",
    "settled_s": "a worker\nsettles it, s", "undivided_s": "everything\nfor each, s",
}  # fmt: skip


async def run(sizes: Sequence[int], count: int) -> list[Row]:
    return [await _one(size, count) for size in sizes]


async def _one(total: int, count: int) -> Row:
    async with fresh_store("postgres") as (store, settings):
        url = await postgres_url(settings)
        people = max(1, total // EACH)
        size = Size(total, people, lanes=2, written=min(WRITTEN, people))
        await grow(store, url, range(people), size, monotonic() + inf)
        engine = engine_over(store)
        _undivided(url)  # what filling has left behind is not the question
        await _removed(engine)
        undivided = _undivided(url)
        seconds, said = await _forgotten(engine, min(count, size.each))
        started = perf_counter()
        assert await store.scrub(however_long=True)
        settled = perf_counter() - started
        times = summary(seconds)
        return {
            "what": f"{total:,}",
            "mb": round(_bytes(url) / 2**20),
            "answer_p50_ms": times["p50_ms"],
            "answer_p95_ms": times["p95_ms"],
            "said": said,
            "settled_s": round(settled, 2) if said == "owed" else "",
            "undivided_s": round(undivided, 2),
        }


async def _removed(engine: Engine) -> None:
    """One memory, without its files."""
    (memory,) = await engine.list(person(0), Listing(limit=1))
    targets = [Target("memory", memory.id)]

    def work(tx: Tx) -> None:
        tx.memories.delete([memory.id])
        tx.index.drop(targets)
        tx.embeddings.drop(targets)

    await engine.store.write(person(0), work)


async def _forgotten(engine: Engine, count: int) -> tuple[list[float], str]:
    """One after another, each of them the answer to somebody."""
    found = await engine.list(person(0), Listing(limit=count))
    seconds: list[float] = []
    owed = False
    for memory in found:
        started = perf_counter()
        gone = await engine.forget(person(0), [memory.id])
        seconds.append(perf_counter() - started)
        owed |= gone.scrub_owed
        assert gone.scrubbed or gone.scrub_owed
    return seconds, "owed" if owed else "scrubbed"


def _undivided(url: str) -> float:
    with psycopg.connect(url, autocommit=True) as connection:
        started = perf_counter()
        connection.execute(f"VACUUM (INDEX_CLEANUP ON, PARALLEL 0) {', '.join(PROTECTED)}".encode())
        connection.execute("REINDEX INDEX entries_tsv")
        return perf_counter() - started


def _bytes(url: str) -> int:
    with psycopg.connect(url) as connection:
        statement = "SELECT sum(pg_total_relation_size(t::regclass)) FROM unnest(%s::text[]) AS t"
        row = connection.execute(statement, [list(PROTECTED)]).fetchone()
    assert row is not None
    return int(row[0])
