"""Getting what was removed out of the files.

A deleted row is invisible at once and its bytes stay: in its table until a VACUUM, and even then in the free space of the page,
which Postgres does not blank; as a word in the GIN index for good. Postgres 17 lets an owner hand the right to do something
about it to others (MAINTAIN), and the migration does; on older servers only the owner can. There are two ways, by the size of
the tables in which something was removed:

- Small ones are written anew (VACUUM FULL, with all their indexes) while whoever forgot something waits: not a byte is left. That
  holds up everybody else for as long as it takes, so the size is bounded, and a lock that isn't free within a second is left. A
  graph of vectors would take seconds to build again: vectors that have one are vacuumed, which blanks them in it.
- Of large ones it stays owed (`stores.sql.scrubs`) until a worker has the time: they are vacuumed beside the work, and the word
  index is rebuilt beside it, at the pace of autovacuum. Then no query, dump or index has it; fragments may stay in the free space
  of pages until other rows are written there, or the owner rewrites the table.

One at a time, over all processes: whoever comes meanwhile waits a moment for the end of it and then finds that it was done for
them as well, if it began late enough, or does it for all who came. What no client can clean is the rest of the server's disk: the
write-ahead log until it is recycled, backups, replicas that lag. The planner's samples never held any of it: the migration tells
ANALYZE to leave people's words alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, LiteralString

from psycopg import errors as pg

from recollect.stores.migrations.postgres_ddl import OPEN, PROTECTED
from recollect.stores.postgres.files import FILES, maintains
from recollect.stores.postgres.patience import GRACE_S, unhurried
from recollect.stores.postgres.session import Connection

TABLES: Final = PROTECTED + OPEN
PEOPLES: Final = (*PROTECTED, "spaces")
WORDED: Final = (
    "memories", "repeats", "conversations", "messages", "entries", "embeddings", "themes", "working_memories", "spaces",
)  # fmt: skip
"""Tables with what people said, or what was made of it, and the one that says who there is: an id may be an address. The others
hold ids of what is elsewhere, digests and times."""
ALONG: Final[Mapping[str, tuple[str, ...]]] = {
    "memories": ("repeats", "entries", "embeddings"),
    "conversations": ("messages", "entries", "embeddings", "working_memories"),
    "messages": ("conversations", "entries", "embeddings", "working_memories"),
}
"""Where words of the same may lie that left earlier: with an archived memory's index entry, or a session that ended. That is
upkeep, and owes nothing by itself."""

PATIENCE: Final = 5.0
LOCK_MS: Final = 1_000
"""Everybody queues up behind whoever waits to rewrite a table."""
TIMEOUT_MS: Final = 120_000
AT_ONCE_BYTES: Final = 16 * 1024 * 1024
EMPTY_GRAPHS: Final = 128 * 1024
LOCK: Final = 0x7265_636F_7363_7262

_OWED = "SELECT id, tables FROM scrubs"
_PAY = "DELETE FROM scrubs WHERE id = ANY (%s)"
_SIZE = f"SELECT coalesce(sum(pg_total_relation_size(f.oid)), 0) FROM ({FILES}) AS f"
# The coordinator's own tables are empty shells.
_SIZE_SPREAD = """
SELECT coalesce(sum(citus_total_relation_size(to_regclass(t.name), false)), 0) FROM unnest(%s::text[]) AS t(name)
"""
# Of a table in parts, those of one part: each has empty ones.
_GRAPHS = f"""
SELECT coalesce(max(t.graphs), 0) FROM (
  SELECT sum(pg_relation_size(i.indexrelid)) AS graphs FROM ({FILES}) AS f JOIN pg_index i ON i.indrelid = f.oid
  JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
  WHERE c.relkind = 'i' AND a.amname = 'hnsw' GROUP BY f.oid
) AS t
"""
_NOW = "SELECT pg_current_xact_id()::xid"
# Whoever might still look at a deleted row keeps VACUUM from it: a transaction that began earlier, here or prepared, and
# a replica that is asked for long and says so (hot_standby_feedback). Another VACUUM,
# autovacuum's too, looks at no row of others: nobody waits for its end.
_EARLIER = """
SELECT count(*) FROM (
  SELECT backend_xmin FROM pg_stat_activity
  WHERE (datname = current_database() OR datname IS NULL) AND pid <> pg_backend_pid()
    AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum)
  UNION ALL SELECT xmin FROM pg_replication_slots
  UNION ALL SELECT transaction FROM pg_prepared_xacts WHERE database = current_database()
) AS seen(oldest) WHERE age(oldest) > age(%s::xid)
"""
_SETTINGS: Final = (
    "statement_timeout", "lock_timeout", "vacuum_cost_delay", "client_connection_check_interval",
)  # fmt: skip
_CURRENT = "SELECT current_setting(t.name) FROM unnest(%s::text[]) WITH ORDINALITY AS t(name, n) ORDER BY n"
_SET = "SELECT set_config(t.name, t.value, false) FROM unnest(%s::text[], %s::text[]) AS t(name, value)"
# Small deletions don't reach the indexes unless VACUUM is told so.
_VACUUM = "VACUUM (INDEX_CLEANUP ON, PARALLEL 0) "
_IN_THE_WAY = (pg.QueryCanceled, pg.LockNotAvailable, pg.DeadlockDetected)


@dataclass(frozen=True, slots=True)
class Scrubbing:
    """How it is done here. `end` is set when whoever runs it wants to end: what is left stays owed."""

    at_once_bytes: int = AT_ONCE_BYTES
    spread: bool = False
    """Over the nodes of a Citus cluster."""
    pooled: bool = False
    """Through a pooler that gives each statement another connection: a lock of a connection's would be nobody's. The tables' own
    locks still let no two vacuum the same."""
    end: threading.Event = field(default_factory=threading.Event)

    def scrub(self, connection: Connection, however_long: bool) -> bool:
        """Whether nothing is owed any more of what was when this began."""
        owed = _owed(connection)
        if not owed:
            return True
        large = self._size(connection, _tables(owed)) > self.at_once_bytes
        if (large and not however_long) or not possible(connection):
            return False
        with self._alone(connection, 0 if large else PATIENCE) as alone:
            if not alone:
                return False
            left = _owed(connection)
            if not owed.keys() & left.keys():
                return True
            if not self._settled(connection) or not self._cleaned(connection, _tables(left), large):
                return False
            connection.execute(_PAY, [list(left)])
            return True

    def _size(self, connection: Connection, tables: Collection[str]) -> int:
        return int(_one(connection, _SIZE_SPREAD if self.spread else _SIZE, [list(tables)]))

    @contextmanager
    def _alone(self, connection: Connection, patience: float) -> Iterator[bool]:
        """Whether nobody else is at it. A connection that is lost lets go of the lock."""
        if self.pooled:
            yield True
            return
        deadline = time.monotonic() + patience
        while not (mine := _one(connection, "SELECT pg_try_advisory_lock(%s)", [LOCK])):
            if time.monotonic() >= deadline or self.end.wait(0.02):
                break
        try:
            yield mine
        finally:
            if mine and not connection.closed:
                connection.execute("SELECT pg_advisory_unlock(%s)", [LOCK])

    def _settled(self, connection: Connection) -> bool:
        """Wait a moment until every transaction that began before now has ended."""
        now = _one(connection, _NOW)
        deadline = time.monotonic() + PATIENCE
        while _one(connection, _EARLIER, [now]):
            if time.monotonic() > deadline or self.end.wait(0.02):
                return False
        return True

    def _cleaned(self, connection: Connection, tables: Sequence[str], large: bool) -> bool:
        usual = [row[0] for row in connection.execute(_CURRENT, [list(_SETTINGS)])]
        try:
            if not large:
                self._rewrite(connection, tables)
                return True
            return self._vacuumed(connection, tables)
        except _IN_THE_WAY:
            return False
        finally:
            if not connection.closed:
                self._set(connection, _SETTINGS, usual)

    def _set(self, connection: Connection, names: Sequence[str], values: Sequence[str]) -> None:
        """For this connection, if it is one: a pooler might leave them to somebody else. There the server's own hold."""
        if not self.pooled:
            connection.execute(_SET, [list(names), list(values)])

    def _rewrite(self, connection: Connection, tables: Sequence[str]) -> None:
        self._set(connection, _SETTINGS, [str(TIMEOUT_MS), str(LOCK_MS), "0", "0"])
        # Others wait for this one's end, so it has one whatever the server does.
        with unhurried(connection, TIMEOUT_MS / 1000 + GRACE_S):
            spared = {"embeddings"} if _one(connection, _GRAPHS, [["embeddings"]]) > EMPTY_GRAPHS else set()
            # Where somebody was erased, whose id stands in the rows of every table.
            worded = tables if "spaces" in tables else WORDED
            anew = [table for table in tables if table in worded and table not in spared]
            if anew:
                connection.execute(f"VACUUM (FULL) {', '.join(anew)}".encode())
            if others := [table for table in tables if table not in anew]:
                connection.execute(f"{_VACUUM}{', '.join(others)}".encode())

    def _vacuumed(self, connection: Connection, tables: Sequence[str]) -> bool:
        # Who is killed takes the work along.
        self._set(connection, _SETTINGS, ["0", str(LOCK_MS), "2ms", "1s"])
        with unhurried(connection):
            connection.execute("SELECT recollect_drop_leftovers('entries_tsv')")
            for table in tables:
                if self.end.is_set():
                    return False
                connection.execute(f"{_VACUUM}{table}".encode())
            if "entries" in tables:
                # It waits for those who are at work, and nobody waits for it: broken off, it would leave half an index behind.
                self._set(connection, ["lock_timeout"], ["0"])
                connection.execute("REINDEX INDEX CONCURRENTLY entries_tsv")
        return True


def possible(connection: Connection) -> bool:
    """Whether this server and role allow it at all."""
    return connection.info.server_version >= 170_000 and maintains(connection, TABLES)


def _owed(connection: Connection) -> dict[str, tuple[str, ...]]:
    return {id: tuple(tables) for id, tables in connection.execute(_OWED)}


def _tables(owed: Mapping[str, Collection[str]]) -> list[str]:
    """Those with people's rows in which something was removed, and what goes along."""
    named = {table for tables in owed.values() for table in tables}
    named |= {other for table in named for other in ALONG.get(table, ())}
    return [table for table in PEOPLES if table in named]


def _one(connection: Connection, statement: LiteralString, params: Sequence[Any] = ()) -> Any:
    row = connection.execute(statement, params).fetchone()
    return None if row is None else row[0]
