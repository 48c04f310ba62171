"""Removing what was deleted from tables and indexes.

A deleted row is invisible at once, but its bytes stay until a VACUUM, and a GIN index keeps every word it has ever seen until it
is rebuilt. Postgres 17 lets an owner hand the right to do both to others (MAINTAIN), and the migration does; on older servers
only the owner can. A rebuild holds up everyone, so it is done while the index is small; beyond that the answer is False, and
the owner rebuilds when it suits. What no client can clean is the rest of the server's disk: the write-ahead log until it is
recycled, backups, and ids in the free space of B-tree pages. The planner's samples never held any of it: the migration tells
ANALYZE to leave people's words alone. So True means: no query, and no look at the tables' or the word index's files, finds it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, LiteralString

from psycopg import errors as pg

from recollect.stores.migrations.postgres_ddl import OPEN, PROTECTED
from recollect.stores.postgres.session import Connection

TABLES = PROTECTED + OPEN
PATIENCE = 5.0
TIMEOUT_MS = 120_000
REBUILT_BELOW = 64 * 1024 * 1024

_MAY = "SELECT bool_and(has_table_privilege(t.name, 'MAINTAIN')) FROM unnest(%s::text[]) AS t(name)"
_NOW = "SELECT pg_current_xact_id()::xid"
# A transaction that began earlier might still look at a deleted row, and VACUUM leaves such rows where they are.
_EARLIER = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND age(backend_xmin) > age(%s::xid)
"""
_TIMEOUTS = "SELECT set_config('statement_timeout', %s, false), set_config('lock_timeout', %s, false)"
# Small deletions don't reach the indexes unless VACUUM is told so.
_VACUUM = f"VACUUM (INDEX_CLEANUP ON, PARALLEL 0) {', '.join(TABLES)}".encode()


def possible(connection: Connection) -> bool:
    """Whether this server and role allow it at all."""
    return connection.info.server_version >= 170_000 and bool(_one(connection, _MAY, [list(TABLES)]))


def scrub(connection: Connection) -> bool:
    """VACUUM every table, rebuild the word index. False where that is not allowed, or something was in the way."""
    if not possible(connection) or not _settled(connection):
        return False
    usual = _one(connection, "SELECT current_setting('statement_timeout')")
    connection.execute(_TIMEOUTS, [str(TIMEOUT_MS), str(int(PATIENCE * 1000))])
    try:
        connection.execute(_VACUUM)
        if _one(connection, "SELECT pg_relation_size('entries_tsv')") > REBUILT_BELOW:
            return False
        connection.execute("REINDEX INDEX entries_tsv")
    except (pg.QueryCanceled, pg.LockNotAvailable, pg.DeadlockDetected):
        return False
    finally:
        if not connection.closed:
            connection.execute(_TIMEOUTS, [usual, "0"])
    return True


def _settled(connection: Connection) -> bool:
    """Wait a moment until every transaction that began before now has ended."""
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
