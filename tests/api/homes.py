"""Places where the memories of a test live: a SQLite file or a Postgres database, opened through the public face.

Each also gives a way past the code under test, by raw SQL, because what a memory says about itself proves nothing.
Databases are migrated once per session and emptied between tests.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from recollect import Memory
from recollect.engine import Engine, EngineConfig
from recollect.engine.embedding.generations import Generations
from recollect.model import Generation
from recollect.ports import Clock, Embedder, Store
from recollect.providers.clock import SystemClock
from recollect.stores import migrations
from recollect.stores.migrations.postgres_ddl import OPEN, PROTECTED
from recollect.stores.postgres import PostgresStore
from recollect.stores.sqlite import SqliteStore
from recollect.testing import HashEmbedder
from tests.services.postgres import Database, PostgresServer
from tests.services.sqlite import put_blank

KINDS = ("sqlite", "postgres")


@dataclass(frozen=True)
class Home:
    """`url` is what `Memory` takes. `folder` is the test's own; a SQLite file lies in its `data` folder."""

    kind: str
    url: str
    folder: Path
    database: Database | None = None

    def memory(self, user: str = "ana", **settings: Any) -> Memory:
        """A memory that finds by words alone, unless the settings name an embedder."""
        return Memory(self.url, user=user, **{"embedder": "off", "pool_size": 4, **settings})

    def rows(self, statement: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Raw SQL with `?` for parameters, as somebody whom no policy binds."""
        if self.database is None:
            with closing(sqlite3.connect(self.url)) as connection:
                return connection.execute(statement, params).fetchall()
        with psycopg.connect(self.database.superuser_url, autocommit=True) as server:
            cursor = server.execute(statement.replace("?", "%s").encode(), params)
            return cursor.fetchall() if cursor.description else []

    def count(self, statement: str, params: Sequence[Any] = ()) -> int:
        return int(self.rows(statement, params)[0][0])


def sqlite_home(folder: Path) -> Home:
    path = folder / "data" / "memory.db"
    put_blank(path)
    return Home("sqlite", str(path), folder)


def postgres_home(folder: Path, database: Database) -> Home:
    home = Home("postgres", database.app_url, folder, database)
    home.rows(f"TRUNCATE {', '.join(PROTECTED + OPEN)}")
    return home


def migrated(server: PostgresServer) -> Database:
    """A database with the current schema, cloned from one that was migrated once per server."""
    template = server.build_template("homes", lambda it: migrations.upgrade(it.owner_url, app_role="app"))
    return server.fresh_database(template)


async def open_store(home: Home) -> SqliteStore | PostgresStore:
    """The bare store, for what the public face has no door to."""
    if home.kind == "sqlite":
        return await SqliteStore.open(home.url)
    return await PostgresStore.open(home.url, pool_size=4)


def engine_over(store: Store, clock: Clock | None = None) -> Engine:
    """An engine with a small embedder that needs no model and no server."""
    clock = clock or SystemClock()
    return Engine(store, clock, EngineConfig(), Generations(store, clock, HashEmbedder(), _no_other_model))


async def _no_other_model(_: Generation) -> Embedder | None:
    return None
