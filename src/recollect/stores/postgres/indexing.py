"""The vector indexes of generations, built while people work.

Built within a transaction an index holds up all who write until it is done, so a large table's is built CONCURRENTLY, by its
owner: writes go on, and whoever searches does so exactly until it is there. Such a build that is interrupted leaves an index
behind that is kept up to date and never used; the next one drops it and begins again. Only one builds at a time: the second
waits and finds nothing left to do. Whoever kills the command ends the build with it, within a moment.

All at once is also far quicker than one vector after another, so a new model's is best built when its vectors are there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import md5
from threading import Event, Thread
from typing import Any, Final

import psycopg
from psycopg import sql

from recollect.stores.migrations.postgres_ddl import MAX_INDEXED_DIMENSIONS
from recollect.stores.postgres.errors import translated

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
    "CREATE INDEX CONCURRENTLY {name} ON embeddings USING hnsw ((vector::halfvec({size})) halfvec_cosine_ops) "
    "WHERE generation = {generation} AND state = 'ready' AND large"
)


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
    name = sql.Identifier(graph.name)
    if graph.valid is False:
        connection.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(name))
    size, generation = sql.Literal(graph.dimensions), sql.Literal(graph.generation)
    connection.execute(_BUILD.format(name=name, size=size, generation=generation))


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
