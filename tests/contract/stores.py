"""The stores under contract: how to open each, and the one place where their differences are named."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from recollect.ports import Capability, Store
from recollect.stores import migrations
from recollect.stores.postgres import PostgresStore
from recollect.stores.sqlite import SqliteStore
from recollect.testing import ReferenceStore
from tests.services.postgres import Database, PostgresServer

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
    store = await SqliteStore.open(":memory:")
    yield store
    await store.close()


@asynccontextmanager
async def _sqlite_file(ground: Ground) -> AsyncIterator[Store]:
    store = await SqliteStore.open(ground.folder / "memory.db")
    yield store
    await store.close()


@asynccontextmanager
async def _postgres(ground: Ground) -> AsyncIterator[Store]:
    server = ground.postgres()
    database = migrated_database(server)
    store = await PostgresStore.open(database.app_url, pool_size=4)
    yield store
    await store.close()
    server.discard(database)


OPENERS: dict[str, Callable[[Ground], AbstractAsyncContextManager[Store]]] = {
    "reference": _reference,
    "sqlite-memory": _sqlite_memory,
    "sqlite-file": _sqlite_file,
    "postgres": _postgres,
}


def migrated_database(server: PostgresServer) -> Database:
    """A database with the current schema, cloned from one that was migrated once."""
    template = server.build_template(
        "migrated",
        lambda database: migrations.upgrade(database.owner_url, app_role="app"),
    )
    return server.fresh_database(template)
