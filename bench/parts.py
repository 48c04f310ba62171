"""parts: what it changes that the large tables of a Postgres are in parts (`recollect db partition`).

Two databases with the same people and memories, one of them divided, are asked and told in turn, so that what the machine is busy
with otherwise slows both alike. People are asked through the database, not from the copy that a process holds of whom it has met:
that one knows of no tables. Beside it, what is done to one table or one part of it at a time: VACUUM, and an index built again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from time import perf_counter

import psycopg
from psycopg.conninfo import make_conninfo

from bench.copies import ADMINISTRATOR
from bench.filling import Size, grow
from bench.ground import engine_over, fresh_store
from bench.growth import Side
from bench.report import Row, ratio
from bench.texts import notes, questions
from recollect.bootstrap import postgres_url
from recollect.engine import EngineConfig
from recollect.engine.embedding import embed
from recollect.stores.postgres import partitions
from recollect.stores.postgres.embedded import owner_of

COLUMNS = {
    "what": "", "recall_p50_ms": "recall\np50", "recall_p95_ms": "\np95", "write_p50_ms": "write\np50", "write_p95_ms": "\np95",
    "divide_s": "divided\nin s", "vacuum_s": "VACUUM\ns", "reindex_s": "REINDEX\ns",
}  # fmt: skip
THROUGH_THE_DATABASE = EngineConfig(exact_below=0)


async def run(size: Size, count: int, parts: int) -> list[Row]:
    async with fresh_store("postgres") as (whole, first), fresh_store("postgres") as (divided, second):
        urls = [await postgres_url(settings) for settings in (first, second)]
        people: list[int] = []
        for store, url in zip((whole, divided), urls, strict=True):
            people, _ = await grow(store, url, range(size.users), size, inf)
        started = perf_counter()
        await partitions.divide(owner_of(urls[1]), parts, lambda _done, _all: None)
        took = perf_counter() - started
        for url in urls:
            _administer(url, "ANALYZE")
        sides = [Side(engine_over(store, config=THROUGH_THE_DATABASE), people) for store in (whole, divided)]
        await _in_turn(sides, count)
        upkeep = list(_upkeep(urls))
    one, other = (side.summary() for side in sides)
    rows = [{"what": "whole", **one, **upkeep[0]}, {"what": f"in {parts} parts", "divide_s": round(took, 1), **other}]
    rows[1] |= upkeep[1]
    times: Row = {"what": "×"}
    for name in ("recall_p50_ms", "recall_p95_ms", "write_p50_ms", "write_p95_ms"):
        times[name] = ratio(other, one, name)
    return [*rows, times]


async def _in_turn(sides: list[Side], count: int) -> None:
    for side in sides:
        await side.meet()
    for text in questions(count, seed=1):
        for side in sides:
            await side.ask(text)
    for number, text in enumerate(notes(count, seed=2)):
        for side in sides:
            await side.tell(f"{text} ({number})")
    for side in sides:
        await embed.drain(side.engine)


def _upkeep(urls: list[str]) -> Iterator[Row]:
    """On the table of vectors and the index of words, or on one part of each."""
    with psycopg.connect(owner_of(urls[1])) as connection:
        word = "SELECT i.indexrelid::regclass::text FROM pg_index i JOIN pg_inherits h ON h.inhrelid = i.indexrelid "
        which = "WHERE h.inhparent = to_regclass('entries_tsv') AND i.indrelid = to_regclass(%s)"
        row = connection.execute(word + which, [partitions.part("entries", 0)]).fetchone()
        assert row is not None
    for url, table, index in (
        (urls[0], "embeddings", "entries_tsv"),
        (urls[1], partitions.part("embeddings", 0), row[0]),
    ):
        yield {
            "vacuum_s": _seconds(lambda url=url, table=table: _administer(url, f"VACUUM (INDEX_CLEANUP ON) {table}")),  # type: ignore[misc]
            "reindex_s": _seconds(lambda url=url, index=index: _administer(url, f"REINDEX INDEX {index}")),  # type: ignore[misc]
        }


def _seconds(act: Callable[[], None]) -> float:
    started = perf_counter()
    act()
    return round(perf_counter() - started, 2)


def _administer(url: str, statement: str) -> None:
    with psycopg.connect(make_conninfo(url, user=ADMINISTRATOR), autocommit=True) as connection:
        connection.execute(statement.encode())
