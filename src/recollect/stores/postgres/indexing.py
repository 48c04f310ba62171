"""The vector indexes of generations, built while people work.

Built within a transaction an index holds up all who write until it is done, so a large table's is built CONCURRENTLY, by its
owner: writes go on, and whoever searches does so exactly until it is there. Such a build that is interrupted leaves an index
behind that is kept up to date and never used; the next one drops it and begins again. Only one builds at a time: the second
waits and finds nothing left to do. Whoever kills the command ends the build with it, within a moment.

All at once is also far quicker than one vector after another, so a new model's is best built when its vectors are there.

Where the table is in parts (see `partitions`) it can't be built for all of them CONCURRENTLY: each part gets its own, so, and it
joins an index of the whole that has no vector itself and counts once all have joined. What is there already stays there.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import md5
from threading import Event, Thread
from typing import Any, Final

import psycopg
from psycopg import errors as pg
from psycopg import sql

from recollect.stores.migrations.postgres_ddl import MAX_INDEXED_DIMENSIONS
from recollect.stores.postgres.errors import translated
from recollect.stores.postgres.partitions import parts_of

LOCK: Final = 7_361_082_115
EVERY_S: Final = 0.5

_STATES = """
SELECT g.id, g.dimensions, i.indisvalid
FROM generations g
LEFT JOIN pg_index i ON i.indexrelid = to_regclass('embeddings_hnsw_' || left(md5(g.id), 16))
WHERE g.state <> 'retired' AND g.dimensions <= %s ORDER BY g.created_at, g.id
"""
_PROGRESS = """
SELECT phase, greatest(blocks_done, tuples_done), greatest(blocks_total, tuples_total)
FROM pg_stat_progress_create_index WHERE pid = %s
"""
_BUILD = sql.SQL(
    "CREATE INDEX {how} {name} ON {table} USING hnsw ((vector::halfvec({size})) halfvec_cosine_ops) "
    "WHERE generation = {generation} AND state = 'ready' AND large"
)
_BESIDE = sql.SQL("CONCURRENTLY")
_OF_A_PART = """
SELECT i.indexrelid::regclass::text, i.indisvalid, EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = i.indexrelid)
FROM pg_index i
WHERE i.indrelid = to_regclass(%(part)s) AND (i.indexrelid = to_regclass(%(name)s)
  OR i.indexrelid IN (SELECT h.inhrelid FROM pg_inherits h WHERE h.inhparent = to_regclass(%(whole)s)))
"""
A_MOMENT_MS: Final = 500
"""Everybody queues up behind whoever waits to change a table: so short, and then again."""


@dataclass(frozen=True, slots=True)
class Graph:
    """A generation's index."""

    generation: str
    dimensions: int
    valid: bool | None
    """None: there is none. False: one was begun and not finished."""

    @property
    def name(self) -> str:
        return f"embeddings_hnsw_{md5(self.generation.encode(), usedforsecurity=False).hexdigest()[:16]}"


Tell = Callable[[str, str, int, int], None]
"""Is told the generation, what is being done, how much of it is done and how much there is."""


def graphs(connection: psycopg.Connection[Any]) -> list[Graph]:
    """The index of each generation that is in use and may have one."""
    return [Graph(*row) for row in connection.execute(_STATES, [MAX_INDEXED_DIMENSIONS])]


async def build(owner_url: str, tell: Tell, *, memory_mb: int | None = None) -> list[str]:
    """Build what is missing or was left unfinished; for which generations. `memory_mb` is the server's for the work."""
    return await asyncio.to_thread(_build, owner_url, tell, memory_mb)


def _build(owner_url: str, tell: Tell, memory_mb: int | None) -> list[str]:
    with translated(), psycopg.connect(owner_url, autocommit=True) as connection:
        for name, value in _settings(memory_mb):
            connection.execute("SELECT set_config(%s, %s, false)", [name, value])
        connection.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        lacking = [graph for graph in graphs(connection) if not graph.valid]
        for graph in lacking:
            with _told(owner_url, connection.info.backend_pid, graph.generation, tell):
                _make(connection, graph)
    return [graph.generation for graph in lacking]


def _settings(memory_mb: int | None) -> Iterator[tuple[str, str]]:
    yield "statement_timeout", "0"
    yield "lock_timeout", "0"
    yield "client_connection_check_interval", "1s"  # who is killed takes the build along
    if memory_mb is not None:
        yield "maintenance_work_mem", f"{memory_mb}MB"


def _make(connection: psycopg.Connection[Any], graph: Graph) -> None:
    parts = parts_of(connection, "embeddings")
    if not parts:
        if graph.valid is False:
            _drop(connection, graph.name)
        connection.execute(_statement(graph, graph.name, "embeddings"))
        return
    if graph.valid is None:
        _at_a_free_moment(connection, _statement(graph, graph.name, "ONLY embeddings"))
    for part in parts:
        _join(connection, graph, part)


def _join(connection: psycopg.Connection[Any], graph: Graph, part: str) -> None:
    """The index of one part, as far as it is lacking."""
    name = f"{graph.name}{part.removeprefix('embeddings')}"
    about = {"part": part, "name": name, "whole": graph.name}
    found = {index: (valid, joined) for index, valid, joined in connection.execute(_OF_A_PART, about)}
    if any(valid and joined for valid, joined in found.values()):
        return
    if name in found and not found[name][0]:
        _drop(connection, name)
    if name not in found or not found[name][0]:
        connection.execute(_statement(graph, name, part))
    joining = sql.SQL("ALTER INDEX {} ATTACH PARTITION {}").format(sql.Identifier(graph.name), sql.Identifier(name))
    _at_a_free_moment(connection, joining)


def _drop(connection: psycopg.Connection[Any], name: str) -> None:
    connection.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier(name)))


def _statement(graph: Graph, name: str, table: str) -> sql.Composed:
    return _BUILD.format(
        how=sql.SQL("") if table.startswith("ONLY ") else _BESIDE,
        name=sql.Identifier(name),
        table=sql.SQL(table),  # one of ours, not a caller's
        size=sql.Literal(graph.dimensions),
        generation=sql.Literal(graph.generation),
    )


def _at_a_free_moment(connection: psycopg.Connection[Any], statement: sql.Composed) -> None:
    """What takes no time itself, but has to wait until nobody is at the table."""
    while True:
        try:
            with connection.transaction():
                connection.execute("SELECT set_config('lock_timeout', %s, true)", [str(A_MOMENT_MS)])
                connection.execute(statement)
            return
        except pg.LockNotAvailable:
            time.sleep(EVERY_S)


class _told:
    """Looks now and then, on a connection of its own, how far a build has come."""

    def __init__(self, url: str, pid: int, generation: str, tell: Tell) -> None:
        self._url, self._pid, self._generation, self._tell = url, pid, generation, tell
        self._over = Event()
        self._thread = Thread(target=self._look, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        try:
            with psycopg.connect(self._url, autocommit=True) as connection:
                while not self._over.wait(EVERY_S):
                    for phase, done, total in connection.execute(_PROGRESS, [self._pid]):
                        self._tell(self._generation, phase, int(done or 0), int(total or 0))
        except psycopg.Error:
            return  # nobody knows how far it is, and it goes on
