"""Removing what was deleted from tables and indexes.

A deleted row is invisible at once, but its bytes and its words in the index stay until a VACUUM. Postgres 17 lets an owner hand
that right to others (MAINTAIN), and the migration does; on older servers only the owner's autovacuum can do it. What no client
can clean is the rest of the server's disk: the write-ahead log until it is recycled, and the free space within a page until
it is used again. So `SCRUBS` is not among this store's capabilities, and True means: gone from every table and index.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, LiteralString

import psycopg

from recollect.stores.migrations.postgres_ddl import OPEN, PROTECTED
from recollect.stores.postgres.session import Connection

TABLES = PROTECTED + OPEN
TIMEOUT = "10min"
PATIENCE = 3.0

_MAY = "SELECT bool_and(has_table_privilege(t.name, 'MAINTAIN')) FROM unnest(%s::text[]) AS t(name)"
_NOW = "SELECT pg_current_xact_id()::xid"
# A transaction that began earlier might still look at a deleted row, and VACUUM leaves such rows where they are.
_EARLIER = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND age(backend_xmin) > age(%s::xid)
"""


def scrub(connection: Connection) -> bool:
    """VACUUM every table with its indexes. False where this role may not, or an older transaction won't end."""
    if connection.info.server_version < 170_000 or not _one(connection, _MAY, [list(TABLES)]):
        return False
    if not _alone(connection):
        return False
    usual = _one(connection, "SELECT current_setting('statement_timeout')")
    connection.execute("SELECT set_config('statement_timeout', %s, false)", [TIMEOUT])
    try:
        # Small deletions don't reach the indexes unless told to: their words would stay.
        connection.execute(f"VACUUM (INDEX_CLEANUP ON, PARALLEL 0) {', '.join(TABLES)}".encode())
    except psycopg.errors.QueryCanceled:
        return False
    finally:
        connection.execute("SELECT set_config('statement_timeout', %s, false)", [usual])
    return True


def _alone(connection: Connection) -> bool:
    """Wait a moment until every transaction that began before this one has ended."""
    now = _one(connection, _NOW)
    deadline = time.monotonic() + PATIENCE
    while _one(connection, _EARLIER, [now]):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _one(connection: Connection, statement: LiteralString, params: Sequence[Any] = ()) -> Any:
    row = connection.execute(statement, params).fetchone()
    return None if row is None else row[0]
