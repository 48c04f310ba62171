"""The schema spread over a Citus cluster: tables dealt out by `user_id`, so that all a user has lies on one node.

The tables need nothing for it: `user_id` is in every primary key and every foreign key, and all of them are dealt out alike, so
what belongs together stays together. What belongs to nobody and is small is copied to every node. Two things do change. Citus
passes settings on to its nodes when they come as SET LOCAL, not from `set_config`, and row-level security on the nodes reads
them: so functions that enter scopes in turn are written anew, and sessions open with SET LOCAL wherever the extension is there
(see `session.Opening`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Final

import psycopg

from recollect.errors import Conflict, Unsupported
from recollect.stores.migrations.postgres_ddl import BACKLOG, DROP_GENERATION, PINNED_PATH, PROTECTED
from recollect.stores.postgres.errors import translated
from recollect.stores.postgres.session import Connection

COLUMN: Final = "user_id"
FIRST: Final = "spaces"
DISTRIBUTED: Final = (FIRST, *PROTECTED)
"""Dealt out by user, in an order in which what is referred to comes first."""

REFERENCE: Final = ("generations", "api_keys", "embedding_provider")
"""Copied to every node: the operator's, a handful of rows, hardly ever written."""

SPANNING: Final[Mapping[str, str]] = {
    "system.scopes": "jobs list the scopes there are, in pages, and then work in one after another",
    "system.waiting": "the queue says whose work is due: its head is asked of every shard",
    "system.next_due": "when the next work of anyone is due",
    "system.backlog": "the operator's count of what waits: a function that enters every scope in turn",
    "system.add_generation": "a new model's index is made on every shard",
    "system.drop_generation": "an old model's vectors go, scope by scope, and its index on every shard",
}
"""What is asked of more than one shard, and why. Everything else names its user."""

_INSTALLED = "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')"
_SPREAD = "SELECT count(*) FROM pg_dist_partition WHERE logicalrelid = to_regclass('spaces')"
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


def statements(shards: int) -> Iterator[str]:
    """What an owner runs, in one transaction, on a coordinator with the extension."""
    yield "SET LOCAL citus.multi_shard_modify_mode = 'sequential'"
    yield _PROPAGATE
    yield "SELECT create_distributed_function('recollect_term_vector(text, text)')"
    for table in REFERENCE:
        yield f"SELECT create_reference_table('{table}')"
    for table in DISTRIBUTED:
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
    """The functions that enter every scope in turn, entering in a way that reaches the nodes."""
    for name, text in (("recollect_drop_generation", DROP_GENERATION), ("recollect_backlog", BACKLOG)):
        for local, everywhere in _ENTER.items():
            assert local in text
            text = text.replace(local, everywhere)
        yield text.strip().replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1)
        yield PINNED_PATH.format(function=name).strip()  # a replaced function loses its settings


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
        row = connection.execute(_SPREAD).fetchone()
        if row is not None and row[0]:
            raise Conflict("the tables are spread over the cluster already")
        done = list(statements(shards))
        for statement in done:
            connection.execute(statement.encode())
    return done
