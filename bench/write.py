"""write: remembering one thing, against bare SQL that inserts the very same rows, one commit each."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import islice
from time import perf_counter
from typing import Any

from bench.ground import ANA, engine_over, fill, fresh_store
from bench.report import Row, bar, ratio, summary
from bench.texts import notes
from recollect.bootstrap import postgres_url, sqlite_path
from recollect.engine import Engine
from recollect.settings import Settings

WARM_UP = 20
COLUMNS = {
    "what": "", "n": "times", "p50_ms": "p50 ms", "p95_ms": "p95 ms", "ratio_p50": "× floor p50",
    "ratio_p95": "× floor p95", "grown": "× first",
}  # fmt: skip
ROWS = {"memories": "id", "entries": "target_id", "embeddings": "target_id", "audit_events": "target_id"}
"""The tables a memory has a row in, and the column that holds its id."""


async def run(kind: str, count: int, existing: Sequence[int]) -> list[Row]:
    """One store that grows from size to size, because filling takes longest."""
    rows: list[Row] = []
    sizes = sorted(set(existing))
    texts = notes(sizes[-1], seed=1)
    async with fresh_store(kind) as (store, settings):
        for before, size in zip([0, *sizes], sizes, strict=False):
            with bar() as progress:
                task = progress.add_task(f"filling up to {size:,}", total=size - before)
                more = islice(texts, size - before)
                await fill(store, ANA, more, lambda n, p=progress, t=task: p.update(t, advance=n), first=before)  # type: ignore[misc]
            await _analysed(settings)
            ids, seconds = await _remember(engine_over(store), count, seed=size)
            rows += _compared(f"remember, {size:,} there before ({kind})", seconds, await _floor(settings, ids))
    measured = [row for row in rows if "ratio_p50" in row]
    for row in measured:
        row["grown"] = ratio(row, measured[0])
    return rows


async def _analysed(settings: Settings) -> None:
    """As autovacuum does within minutes where people write at their own pace: here ten thousand came in seconds."""
    if sqlite_path(settings) is None:
        import psycopg

        with psycopg.connect(await postgres_url(settings), autocommit=True) as connection:
            for table in (*ROWS, "slots"):
                connection.execute(f"ANALYZE {table}".encode())


def _compared(what: str, seconds: Sequence[float], floor: Sequence[float]) -> list[Row]:
    measured = {"what": what, **summary(seconds)}
    bare = {"what": "  bare inserts of the same rows", **summary(floor)}
    measured["ratio_p50"], measured["ratio_p95"] = ratio(measured, bare), ratio(measured, bare, "p95_ms")
    return [measured, bare | {"section": True}]


async def _remember(engine: Engine, count: int, seed: int) -> tuple[list[str], list[float]]:
    """Texts of a seed of their own, or those of one size would be repeats of another's."""
    ids, seconds = [], []
    for number, text in enumerate(notes(count + WARM_UP, seed=1_000_003 + seed)):
        started = perf_counter()
        receipt = await engine.remember(ANA, {"content": text, "tags": ["bench"]})
        if number >= WARM_UP:
            seconds.append(perf_counter() - started)
            ids.append(receipt.id or "")
    return ids, seconds


async def _floor(settings: Settings, ids: Sequence[str]) -> list[float]:
    """Take those rows out, then time putting them back by hand: the same tables, indexes and durability."""
    path = sqlite_path(settings)
    return _sqlite_floor(path, ids) if path else _postgres_floor(await postgres_url(settings), ids)


def _sqlite_floor(path: str, ids: Sequence[str]) -> list[float]:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    kept: dict[str, list[Any]] = {}
    for table, column in ROWS.items():
        kept[table] = [connection.execute(f"SELECT * FROM {table} WHERE {column} = ?", (id,)).fetchone() for id in ids]
        connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(id,) for id in ids])
    inserts = {table: f"INSERT INTO {table} VALUES ({','.join('?' * len(kept[table][0]))})" for table in ROWS}
    seconds = []
    for number in range(len(ids)):
        started = perf_counter()
        connection.execute("BEGIN IMMEDIATE")
        for table, sql in inserts.items():
            connection.execute(sql, kept[table][number])
        connection.execute("COMMIT")
        seconds.append(perf_counter() - started)
    connection.close()
    return seconds


def _postgres_floor(url: str, ids: Sequence[str]) -> list[float]:
    import psycopg

    seconds = []
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT set_config('app.tenant_id', %s, false), set_config('app.user_id', %s, false)",
                           (ANA.tenant, ANA.user))  # fmt: skip
        for table, column in ROWS.items():
            connection.execute(
                f"CREATE TEMP TABLE kept_{table} AS SELECT * FROM {table} WHERE {column} = ANY(%s)", (list(ids),)
            )
            connection.execute(f"CREATE INDEX ON kept_{table} ({column})")
            connection.execute(f"DELETE FROM {table} WHERE {column} = ANY(%s)", (list(ids),))
        inserts = {table: _insert(connection, table, column) for table, column in ROWS.items()}
        for id in ids:
            started = perf_counter()
            with connection.transaction():
                for sql in inserts.values():
                    connection.execute(sql, (id,))
            seconds.append(perf_counter() - started)
    return seconds


def _insert(connection: Any, table: str, column: str) -> str:
    """All columns but those that the server works out itself, which it does here, too."""
    found = connection.execute(
        "SELECT string_agg(attname, ', ') FROM pg_attribute"
        " WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''",
        (table,),
    ).fetchone()
    return f"INSERT INTO {table} ({found[0]}) SELECT {found[0]} FROM kept_{table} WHERE {column} = %s"
