"""The stores under contract: how to open each, and the one place where their differences are named."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from weakref import WeakKeyDictionary

import psycopg
from psycopg import sql

from recollect.model import GenerationState
from recollect.ports import Capability, Store, System
from recollect.stores import migrations
from recollect.stores.postgres import PostgresStore, partitions
from recollect.stores.sql.tables import metadata
from recollect.stores.sqlite import SqliteStore
from recollect.testing import ReferenceStore
from tests.services.postgres import Database, PostgresServer
from tests.services.sqlite import blank_in_memory, put_blank

C = Capability

CAPABILITIES: dict[str, frozenset[Capability]] = {
    "reference": frozenset({C.FULL_TEXT, C.SCRUBS}),
    "sqlite-memory": frozenset({C.FULL_TEXT, C.SCRUBS}),
    "sqlite-file": frozenset({C.DURABLE, C.FULL_TEXT, C.MANY_PROCESSES, C.SCRUBS}),
    "postgres": frozenset(
        {
            C.DURABLE,
            C.FULL_TEXT,
            C.APPROXIMATE_VECTORS,
            C.ROW_LEVEL_SECURITY,
            C.MANY_PROCESSES,
            C.SCRUBS,
        }
    ),
}


@dataclass(frozen=True)
class Ground:
    """What a store may stand on: a folder of its own, and a server when it asks for one."""

    folder: Path
    postgres: Callable[[], PostgresServer]


@asynccontextmanager
async def _reference(ground: Ground) -> AsyncIterator[Store]:
    store = ReferenceStore()
    yield store
    await store.close()


@asynccontextmanager
async def _sqlite_memory(ground: Ground) -> AsyncIterator[Store]:
    store = blank_in_memory()
    yield store
    await store.close()


@asynccontextmanager
async def _sqlite_file(ground: Ground) -> AsyncIterator[Store]:
    path = ground.folder / "memory.db"
    put_blank(path)
    store = await SqliteStore.open(path)
    yield store
    await store.close()


@asynccontextmanager
async def _postgres(ground: Ground, parts: int = 0) -> AsyncIterator[Store]:
    database = shared_database(ground.postgres(), parts)
    store = await PostgresStore.open(database.app_url, pool_size=4)
    await _empty(store, database)
    yield store
    await store.close()


OPENERS: dict[str, Callable[[Ground], AbstractAsyncContextManager[Store]]] = {
    "reference": _reference,
    "sqlite-memory": _sqlite_memory,
    "sqlite-file": _sqlite_file,
    "postgres": _postgres,
}


DIVIDED: dict[str, Callable[[Ground], AbstractAsyncContextManager[Store]]] = {
    "postgres in parts": partial(_postgres, parts=3)
}
"""The same store on a database whose large tables are divided: for the tests that would notice."""


def shared_database(server: PostgresServer, parts: int = 0) -> Database:
    """The one database all contract tests use in turn: emptying it is many times faster than making another."""
    shared = _shared.setdefault(server, {})
    if parts not in shared:
        database = server.fresh_database()
        migrations.upgrade(database.owner_url, app_role="app")
        if parts:
            divide(database, parts)
        shared[parts] = database
    return shared[parts]


def divide(database: Database, parts: int) -> list[str]:
    """As `recollect db partition` does; from a thread of its own, because a test may have a loop running."""

    def run() -> list[str]:
        return asyncio.run(partitions.divide(database.owner_url, parts, lambda _done, _all: None))

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(run).result()


_shared: WeakKeyDictionary[PostgresServer, dict[int, Database]] = WeakKeyDictionary()
# Everything goes, so the order in which foreign keys would have it does not matter.
_EMPTY = sql.SQL("; ").join(
    [
        sql.SQL("SET LOCAL session_replication_role = replica"),
        *(sql.SQL("DELETE FROM {}").format(sql.Identifier(name)) for name in metadata.tables),
    ]
)


async def _empty(store: Store, database: Database) -> None:
    for each in await store.system(lambda system: system.generations()):
        await store.system(partial(_remove, id=each.id))
    with psycopg.connect(database.superuser_url) as connection:
        connection.execute(_EMPTY)


def _remove(system: System, id: str) -> None:
    system.set_generation(id, GenerationState.RETIRED)
    system.drop_generation(id)
