"""The sample shop on SQLite and on Postgres, with two tables beside it that nobody may see, and a digest of everything."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import psycopg

from recollect.providers.answerers.database import Database
from recollect.providers.answerers.sample import SCHEMA, sample_database
from tests.services.postgres import Database as PostgresDatabase
from tests.services.postgres import PostgresServer

SHOP = ("customers", "products", "regions", "sales")
CANARY = "the-canary-note"
HIDDEN = f"""
CREATE TABLE secrets (note TEXT);
CREATE TABLE payroll (salary INTEGER);
INSERT INTO secrets VALUES ('{CANARY}');
INSERT INTO payroll VALUES (123456);
"""
# What a statement could leave behind besides rows: tables, functions, roles, settings, large objects, files of the server.
CATALOG = """
SELECT relname, relkind FROM pg_class ORDER BY 1, 2;
SELECT proname FROM pg_proc ORDER BY oid;
SELECT rolname, rolsuper FROM pg_roles ORDER BY 1;
SELECT setting FROM pg_settings WHERE name IN ('log_statement', 'data_directory', 'search_path');
SELECT oid FROM pg_largeobject_metadata ORDER BY 1;
SELECT extname FROM pg_extension ORDER BY 1;
SELECT pg_ls_dir('.') ORDER BY 1;
"""


@dataclass
class Ground:
    """A database to be asked, and a digest of everything in it."""

    dialect: str
    url: str
    digest: Callable[[], str]

    def open(self, *, rows: int = 100, timeout_s: float = 20.0, tables: tuple[str, ...] = SHOP) -> Database:
        return Database(self.url, tables, rows, timeout_s)


def on_sqlite(folder: Path) -> Ground:
    url = sample_database(folder)
    path = Path(url.removeprefix("sqlite:///"))
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(HIDDEN)

    def digest() -> str:
        found = hashlib.sha256(path.read_bytes())
        found.update(repr(sorted(each.name for each in folder.iterdir())).encode())
        return found.hexdigest()

    return Ground("sqlite", url, digest)


def on_postgres(server: PostgresServer, folder: Path) -> Ground:
    """As the superuser: nothing but the guard and the read-only transaction stands in a statement's way."""
    database = server.fresh_database()
    _fill(database, Path(sample_database(folder).removeprefix("sqlite:///")))

    def digest() -> str:
        found = hashlib.sha256()
        with psycopg.connect(database.superuser_url) as connection:
            for table in (*SHOP, "secrets", "payroll"):
                found.update(repr(connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()).encode())
            for query in filter(str.strip, CATALOG.split(";")):
                found.update(repr(connection.execute(query.encode()).fetchall()).encode())
        return found.hexdigest()

    return Ground("postgres", database.superuser_url, digest)


def _fill(database: PostgresDatabase, sample: Path) -> None:
    with closing(sqlite3.connect(sample)) as source, psycopg.connect(database.superuser_url) as target:
        target.execute(SCHEMA.encode())
        target.execute(HIDDEN.encode())
        for table in ("regions", "products", "customers", "sales"):
            rows = source.execute(f"SELECT * FROM {table}").fetchall()
            marks = ", ".join(["%s"] * len(rows[0]))
            with target.cursor() as cursor:
                cursor.executemany(f"INSERT INTO {table} VALUES ({marks})".encode(), rows)
