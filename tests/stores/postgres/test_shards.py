"""Spread over a Citus cluster, everything the application issues stays on one shard; and what `recollect db distribute` does.

No Citus is at hand, so this holds the shape of every statement, and runs on a plain server all that a plain server can run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
import pytest

from recollect.model import ApiKey, GenerationState, ProviderConfig, Scope
from recollect.ports import System
from recollect.stores.postgres import PostgresStore
from recollect.stores.postgres.citus import DISTRIBUTED, REFERENCE, SPANNING, functions, placed, statements
from recollect.stores.postgres.doctor import cluster
from recollect.stores.postgres.plans import walk
from recollect.stores.postgres.rounds import AT, DIGEST, SCRATCH, rounds, system_rounds
from recollect.stores.postgres.session import Connection, Opening, PostgresSession
from recollect.stores.sql.tables import metadata
from tests.cli.conftest import CommandLine, cli
from tests.contract.samples import ANA, T0, entry, generation, shelve
from tests.services.postgres import Database
from tests.stores.postgres.shards import strays

__all__ = ["cli"]


class Listener:
    """Writes down every statement with the verb that issued it."""

    def __init__(self) -> None:
        self.verb = "tx.begin"
        self.heard: list[tuple[str, str]] = []
        self.latest: PostgresSession | None = None

    def begin(self, verb: str) -> None:
        self.verb = verb

    def session(self, connection: Connection, opening: Opening, exact_below: int) -> PostgresSession:
        self.latest = _Heard(connection, opening, exact_below, self)
        return self.latest


class _Heard(PostgresSession):
    at_once = True

    def __init__(self, connection: Connection, opening: Opening, exact_below: int, listener: Listener) -> None:
        super().__init__(connection, opening, exact_below)
        self._listener = listener

    def _execute(self, text: str, params: Mapping[str, Any]) -> None:
        self._listener.heard.append((self._listener.verb, text))
        super()._execute(text, params)

    def _execute_many(self, text: str, params: Sequence[Mapping[str, Any]]) -> None:
        self._listener.heard.append((self._listener.verb, text))
        super()._execute_many(text, params)


def operators_verbs(system: System, begin: Any) -> None:
    """What the rounds leave out, because it changes what all users share."""
    key = ApiKey(id="k1", name="k", tenant="acme", user="ana", secret_hash=DIGEST, created_at=AT)
    acts: tuple[tuple[str, Any], ...] = (
        ("system.add_generation", lambda: system.add_generation(generation("g2", state="retired"))),
        ("system.set_generation", lambda: system.set_generation("g2", GenerationState.RETIRED)),
        ("system.drop_generation", lambda: system.drop_generation("g2")),
        ("system.backlog", lambda: system.backlog("g1")),
        ("system.add_key", lambda: system.add_key(key)),
        ("system.keys", system.keys),
        ("system.revoke_key", lambda: system.revoke_key("k1", AT)),
        ("system.save_provider", lambda: system.save_provider(ProviderConfig(enabled=False, provider_type="local"))),
    )
    for verb, act in acts:
        begin(verb)
        act()


async def test_every_statement_stays_on_one_shard_or_is_named_with_the_reason(database: Database) -> None:
    listener = Listener()
    store = await PostgresStore.open(database.app_url, pool_size=1, exact_below=1, sessions=listener.session)
    listener.begin("system.add_generation")
    await store.system(lambda system: system.add_generation(generation()))
    listener.begin("tx.begin")
    await store.rehearse(SCRATCH, lambda tx: rounds(tx, listener.begin))
    await store.rehearse(SCRATCH, lambda tx: walk(listener.latest, "g1", 3))
    await store.system(lambda system: system_rounds(system, listener.begin))
    await store.system(lambda system: operators_verbs(system, listener.begin))
    await store.close()
    spanning = {verb for verb, text in listener.heard if "recollect_" in text or strays(text)}
    assert len({text for _, text in listener.heard}) > 120
    assert spanning == set(SPANNING)


@pytest.mark.parametrize(
    ("statement", "astray"),
    [
        ("SELECT 1 FROM memories WHERE tenant_id = %(t)s AND user_id = %(u)s::VARCHAR", []),
        ("SELECT 1 FROM memories WHERE tenant_id = %(t)s", ["memories"]),
        ("SELECT 1 FROM memories WHERE user_id = %(u)s OR id = %(i)s", ["memories"]),
        ("SELECT 1 FROM memories WHERE user_id <> %(u)s", ["memories"]),
        ("SELECT 1 FROM entries e JOIN embeddings v ON v.user_id = e.user_id WHERE e.user_id = %(u)s", []),
        ("SELECT 1 FROM entries e JOIN embeddings v ON v.space = e.space WHERE e.user_id = %(u)s", ["embeddings"]),
        (
            "DELETE FROM slots WHERE user_id = %(u)s AND EXISTS (SELECT 1 FROM memories m WHERE m.id = 'x')",
            ["memories"],
        ),
        ("SELECT (SELECT 1 FROM memories m WHERE m.user_id = e.user_id) FROM entries e WHERE e.user_id = %(u)s", []),
        ("WITH a AS (SELECT id FROM memories) SELECT 1 FROM a", ["memories"]),
        ("SELECT 1 FROM memories WHERE user_id = %(u)s UNION ALL SELECT 1 FROM messages", ["messages"]),
        ("UPDATE spaces SET size = 1 WHERE space = %(s)s", ["spaces"]),
        ("INSERT INTO slots (tenant_id, slot) VALUES (%(t)s, %(s)s)", ["slots"]),
        ("INSERT INTO slots (tenant_id, user_id) VALUES (%(t)s, %(u)s)", []),
        ("SELECT 1 FROM generations", []),
    ],
)
def test_the_shape_of_a_statement_is_read_right(statement: str, astray: list[str]) -> None:
    assert strays(statement) == astray


def test_every_table_has_its_place() -> None:
    assert set(DISTRIBUTED) | set(REFERENCE) == set(metadata.tables)
    made = "\n".join(statements(64))
    assert "create_distributed_table('spaces', 'user_id', shard_count => 64)" in made
    for table in DISTRIBUTED[1:]:
        assert f"create_distributed_table('{table}', 'user_id', colocate_with => 'spaces')" in made
        assert made.count(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY") == 1
    assert made.index("'conversations'") < made.index("'messages'")


STAND_IN = """CREATE FUNCTION citus_table_size(logicalrelid regclass) RETURNS bigint LANGUAGE sql
              RETURN pg_table_size(logicalrelid)"""
CATALOGUE = "CREATE TABLE pg_dist_partition AS SELECT t::regclass AS logicalrelid FROM unnest(%s::text[]) AS t"


def test_what_an_upgrade_has_added_is_named_and_dealt_out(database: Database, cli: CommandLine) -> None:
    """By a catalogue as Citus has it: tables that are in it are spread."""
    late = {"uses", "operations"}
    with psycopg.connect(database.owner_url) as connection:
        assert list(cluster(connection)) == [], "no cluster, nothing to say"
        there = [table for table in metadata.tables if table not in late]
        connection.execute(psycopg.ClientCursor(connection).mogrify(CATALOGUE, [there]).encode())
        connection.execute("GRANT SELECT ON pg_dist_partition TO PUBLIC")
        (said,) = cluster(connection)
        assert not said.ok
        assert all(name in said.detail for name in (*late, "recollect db distribute"))
        made = [each for each in statements(32, placed(connection)) if "create_" in each]
        connection.commit()
    assert made == [
        "SELECT create_reference_table('operations')",
        "SELECT create_distributed_table('uses', 'user_id', colocate_with => 'spaces')",
    ]
    shown = cli.json("db", "plan", "--store", database.app_url, code=1)
    assert [plan["verb"] for plan in shown["plans"] if plan["faults"]] == ["cluster"]
    with psycopg.connect(database.owner_url) as connection:
        connection.execute("INSERT INTO pg_dist_partition VALUES ('uses'::regclass), ('operations'::regclass)")
        assert [finding.ok for finding in cluster(connection)] == [True]


def test_without_citus_the_command_shows_but_does_not_do(database: Database, cli: CommandLine) -> None:
    cli.env["RECOLLECT_MIGRATE_URL"] = database.owner_url
    shown = cli.json("db", "distribute", "--dry-run", "--shards", "8", "--store", database.app_url)
    assert shown["statements"] == list(statements(8))
    assert "CREATE EXTENSION citus" in cli("db", "distribute", "--store", database.app_url, code=1).output


async def test_functions_that_enter_every_scope_do_so_the_other_way_too(
    store: PostgresStore, database: Database
) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as connection:
        connection.execute(STAND_IN)
        for statement in functions():
            connection.execute(statement.encode())
    await store.system(lambda system: system.add_generation(generation()))
    for scope in (ANA, Scope("acme", "o'hara \\ ben")):
        await shelve(store, scope, entry("m1", "tea"))
        await store.write(scope, lambda tx: tx.embeddings.queue({entry("m1").target: "h"}, "g1", T0))
    assert (await store.system(lambda system: system.backlog("g1"))).pending == 2
    await store.system(lambda system: system.set_generation("g1", GenerationState.RETIRED))
    await store.system(lambda system: system.drop_generation("g1"))
    assert (await store.system(lambda system: system.backlog("g1"))).pending == 0
