"""The schema spread over a Citus cluster: tables dealt out by `user_id`, so that all a user has lies on one node.

The tables need nothing for it: `user_id` is in every primary key and every foreign key, and all of them are dealt out alike, so
what belongs together stays together. What belongs to nobody and is small is copied to every node. Three things do change. Citus
passes settings on to its nodes when they come as SET LOCAL, not from `set_config`, and row-level security on the nodes reads
them: so the function that enters scopes in turn is written anew, and sessions open with SET LOCAL wherever the extension is there
(see `session.Opening`). The coordinator's own tables are empty shells, so whoever asks how large one is asks Citus. And a table
that a later revision makes is the coordinator's alone until this is run again, which deals out what is not dealt out yet.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping
from typing import Final

import psycopg

from recollect.errors import Conflict, Unsupported
from recollect.stores.migrations.postgres_ddl import DROP_GENERATION, PINNED_PATH, PROTECTED, WHILE_SMALL
from recollect.stores.postgres.errors import translated
from recollect.stores.postgres.session import Connection

COLUMN: Final = "user_id"
FIRST: Final = "spaces"
DISTRIBUTED: Final = (FIRST, *PROTECTED)
"""Dealt out by user, in an order in which what is referred to comes first."""

REFERENCE: Final = ("generations", "api_keys", "embedding_provider", "operations", "scrubs")
"""Copied to every node: the operator's, few rows, seldom written."""

SPANNING: Final[Mapping[str, str]] = {
    "system.scopes": "jobs list the scopes there are, in pages, and then work in one after another",
    "system.waiting": "the queue says whose work is due: its head is asked of every shard",
    "system.next_due": "when the next work of anyone is due",
    "system.backlog": "the operator's count of what waits, over all shards",
    "system.add_generation": "a new model's index is made on every shard",
    "system.drop_generation": "an old model's vectors go, scope by scope, and its index on every shard",
}
"""What is asked of more than one shard, and why. Everything else names its user."""

_SHELL: Final = "pg_table_size('embeddings')"
_INSTALLED = "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')"
_CATALOGUE = "SELECT to_regclass('pg_dist_partition') IS NOT NULL"
_PLACED = """
SELECT t.name FROM unnest(%s::text[]) AS t(name)
WHERE EXISTS (SELECT FROM pg_dist_partition p WHERE p.logicalrelid = to_regclass(t.name))
"""
_PARTED = """
SELECT relname::text FROM pg_class WHERE relkind = 'p' AND oid = ANY (SELECT to_regclass(name) FROM unnest(%s::text[]) AS t(name))
"""
_PROPAGATE = """DO $$ BEGIN
  EXECUTE format('ALTER DATABASE %I SET citus.propagate_set_commands = ''local''', current_database());
END $$"""
_ENTER: Final[Mapping[str, str]] = {
    "PERFORM set_config('app.tenant_id', s.tenant_id, true), set_config('app.user_id', s.user_id, true);": (
        "EXECUTE format('SET LOCAL app.tenant_id = %L', s.tenant_id);\n"
        "    EXECUTE format('SET LOCAL app.user_id = %L', s.user_id);"
    ),
    "PERFORM set_config('app.tenant_id', '', true), set_config('app.user_id', '', true);": (
        "SET LOCAL app.tenant_id = '';\n  SET LOCAL app.user_id = '';"
    ),
}


def installed(connection: Connection) -> bool:
    row = connection.execute(_INSTALLED).fetchone()
    return row is not None and bool(row[0])


def placed(connection: Connection) -> frozenset[str]:
    """Tables that are dealt out or copied already; none where there is no cluster."""
    row = connection.execute(_CATALOGUE).fetchone()
    if row is None or not row[0]:
        return frozenset()
    return frozenset(name for (name,) in connection.execute(_PLACED, [[*REFERENCE, *DISTRIBUTED]]))


def left_behind(connection: Connection) -> list[str]:
    """Tables that lie on the coordinator alone though the others are spread: made by a revision since then."""
    there = placed(connection)
    return [table for table in (*REFERENCE, *DISTRIBUTED) if FIRST in there and table not in there]


def statements(shards: int, there: Collection[str] = ()) -> Iterator[str]:
    """What an owner runs, in one transaction, on a coordinator with the extension; `there` are tables that need it no more."""
    yield "SET LOCAL citus.multi_shard_modify_mode = 'sequential'"
    yield _PROPAGATE
    if FIRST not in there:
        yield "SELECT create_distributed_function('recollect_term_vector(text, text)')"
    for table in (each for each in REFERENCE if each not in there):
        yield f"SELECT create_reference_table('{table}')"
    for table in (each for each in DISTRIBUTED if each not in there):
        where = f"shard_count => {int(shards)}" if table == FIRST else f"colocate_with => '{FIRST}'"
        deal_out = f"SELECT create_distributed_table('{table}', '{COLUMN}', {where})"
        if table in PROTECTED:
            # Rows that are there already move along, and their owner would not see them under forced policies.
            yield f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY"
            yield deal_out
            yield f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY"
        else:
            yield deal_out
    yield from functions()


def functions() -> Iterator[str]:
    """The function that enters every scope in turn, entering so that it reaches the nodes, and the one that asks for a size."""
    text = DROP_GENERATION
    for local, everywhere in _ENTER.items():
        assert local in text
        text = text.replace(local, everywhere)
    yield text.strip().replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1)
    assert _SHELL in WHILE_SMALL
    yield WHILE_SMALL.strip().replace(_SHELL, "citus_table_size('embeddings')")
    for function in ("recollect_drop_generation", "recollect_prepare_generation"):
        yield PINNED_PATH.format(function=function).strip()  # a replaced function loses its settings


async def spread(owner_url: str, shards: int) -> list[str]:
    """Run them. `Unsupported` without the extension, `Conflict` when the tables are dealt out already."""
    return await asyncio.to_thread(_spread, owner_url, shards)


def _spread(owner_url: str, shards: int) -> list[str]:
    with translated(), psycopg.connect(owner_url) as connection:
        if not installed(connection):
            raise Unsupported(
                "Citus isn't in this database: connect to the coordinator of a cluster and have an administrator run "
                "CREATE EXTENSION citus; `--dry-run` shows what would be done"
            )
        row = connection.execute(_PARTED, [list(DISTRIBUTED)]).fetchone()
        if row is not None:
            raise Unsupported(f"{row[0]} is in parts (`recollect db partition`): a cluster deals out whole tables")
        there = placed(connection)
        if FIRST in there and not left_behind(connection):
            raise Conflict("the tables are spread over the cluster already")
        done = list(statements(shards, there))
        for statement in done:
            connection.execute(statement.encode())
    return done
