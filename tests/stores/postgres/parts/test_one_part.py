"""Whoever asks touches one part of each table, with a plan of their own or a prepared one; and every part counts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator

import numpy as np
import psycopg
import pytest

from recollect.model import Filter, Scope
from recollect.ports import Tx
from recollect.stores import migrations
from recollect.stores.migrations.postgres_ddl import AT_ONCE_BELOW
from recollect.stores.postgres import PostgresStore
from recollect.stores.postgres.indexing import build, graphs
from recollect.stores.postgres.plans import examined
from recollect.stores.postgres.pruning import parts, prepared, several
from recollect.stores.postgres.rounds import SCRATCH, rounds
from recollect.stores.postgres.session import Connection, Opening, PostgresSession
from tests.cli.conftest import CommandLine, cli
from tests.contract.samples import ANA, T0, generation
from tests.contract.stores import divide
from tests.services.postgres import Database, PostgresServer
from tests.stores.postgres.filling import GENERATION, fill
from tests.stores.postgres.test_indexing import take_for_large

__all__ = ["cli"]
PARTS = 3
PATIENCE_S = 120
ASKED = np.ones(3, dtype=np.float32)
# Of this transaction alone: what it read and wrote, part by part.
TOUCHED = """
SELECT relname::text FROM pg_stat_xact_user_tables WHERE relname ~ '_p[0-9]+$'
  AND coalesce(seq_scan, 0) + coalesce(idx_scan, 0) + n_tup_ins + n_tup_upd + n_tup_del > 0
"""
VALID = """SELECT indexrelid::regclass::text FROM pg_index
           WHERE indisvalid AND indexrelid::regclass::text ~ '^embeddings_hnsw_.*_p'"""


@pytest.fixture
def filled(postgres: PostgresServer) -> Iterator[Database]:
    """Ana has thousands of vectors that belong in a graph, and there is one."""

    def make(database: Database) -> None:
        migrations.upgrade(database.owner_url, app_role="app")
        fill(database)
        asyncio.run(add_generation(database))
        with psycopg.connect(database.superuser_url, autocommit=True) as connection:
            connection.execute("UPDATE embeddings SET large = true WHERE user_id = 'ana'")
        divide(database, PARTS)
        with psycopg.connect(database.superuser_url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")

    made = postgres.fresh_database(postgres.build_template("filled in parts", make))
    yield made
    postgres.discard(made)


async def add_generation(database: Database, name: str = GENERATION) -> None:
    store = await PostgresStore.open(database.app_url, pool_size=1)
    await store.system(lambda system: system.add_generation(generation(name)))
    await store.close()


async def test_every_statement_goes_by_the_right_index_of_one_part(filled: Database) -> None:
    found = await examined(filled.app_url)
    assert found.scope == Scope("acme", "ana")
    assert {plan.verb: plan.faults for plan in found.plans if plan.faults} == {}
    twin = next(plan for plan in found.plans if plan.verb == "memories.twin")
    assert twin.summary[0].startswith("Index Scan ix_memories_digest of memories_p"), "the one that is touched"


async def test_a_statement_that_leaves_it_open_whose_it_is_is_noticed(filled: Database) -> None:
    with psycopg.connect(filled.superuser_url) as connection:
        known = parts(connection)
        anybody = prepared(connection, "SELECT FROM memories WHERE id = %(id)s", {"id": "m1"})
        assert list(several(known.named(anybody), "!")) == ["reads 3 partitions of memories!"]
        somebody = prepared(connection, "SELECT FROM memories WHERE user_id = %(user)s", {"user": "ana"})
        assert list(several(known.named(somebody), "")) == []


async def test_prepared_for_anybody_they_still_touch_one_part_of_each_table(filled: Database) -> None:
    """What they did, not what they planned: every verb, foreign keys included."""
    with psycopg.connect(filled.superuser_url, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {filled.name} SET plan_cache_mode = force_generic_plan".encode())
    latest: list[PostgresSession] = []

    def session(connection: Connection, opening: Opening, exact_below: int) -> PostgresSession:
        latest.append(PostgresSession(connection, opening, exact_below))
        return latest[-1]

    def act(tx: Tx) -> list[str]:
        rounds(tx, lambda _verb: None)
        latest[-1].flush()
        return [name for (name,) in latest[-1].query(TOUCHED, {})]

    store = await PostgresStore.open(filled.app_url, pool_size=1, sessions=session)
    for _ in range(2):  # prepared the first time
        touched = await store.rehearse(SCRATCH, act)
    await store.close()
    tables = [name.rpartition("_p")[0] for name in touched]
    assert sorted(tables) == sorted({"memories", "slots", "messages", "uses", "entries", "embeddings", "audit_events"})


def test_what_is_left_behind_fails_the_plan(filled: Database, cli: CommandLine) -> None:
    with psycopg.connect(filled.owner_url, autocommit=True) as owner:
        owner.execute("GRANT SELECT ON memories_p001 TO app")
    assert "partitions" in cli("db", "plan", "--store", filled.app_url, code=1).stdout
    assert "somebody has rights on memories_p001" in " ".join(
        cli("doctor", "--store", filled.app_url, code=1).stdout.split()
    )


def test_all_parts_are_measured(filled: Database, cli: CommandLine) -> None:
    found = cli.json("db", "size", "--store", filled.app_url)
    assert found["counts"]["memories"] == found["counts"]["embeddings"] == 5_000
    assert 100 < found["per_memory"]["memories: rows"] < 2_000
    assert found["per_memory"]["entries: words"] > 0
    assert found["per_memory"]["embeddings: graph"] > 0
    assert {part["table"] for part in found["parts"] if "_p0" in part["table"]} == set()
    assert {part["index"] for part in found["parts"] if part["index"] and "_p0" in part["index"]} == set()


async def nearest(database: Database, exact_below: int) -> list[str]:
    store = await PostgresStore.open(database.app_url, pool_size=1, exact_below=exact_below)
    try:
        found = await store.read(ANA, lambda tx: tx.index.dense(ASKED, GENERATION, Filter(), T0, 5))
        return [f"{hit.score:.4f}" for hit in found]
    finally:
        await store.close()


async def test_large_scopes_walk_the_graph_of_their_part(filled: Database) -> None:
    assert await nearest(filled, 1) == await nearest(filled, 10**9)
    deadline, walks = time.monotonic() + PATIENCE_S, 0
    with psycopg.connect(filled.superuser_url, autocommit=True) as connection:
        graph = "SELECT coalesce(sum(idx_scan), 0)::int FROM pg_stat_user_indexes WHERE indexrelname ~ 'vector_idx'"
        while not walks:  # the count may arrive late
            assert time.monotonic() < deadline
            walks = connection.execute(graph.encode()).fetchall()[0][0]
    assert walks == 1, "one part's"


async def test_a_new_generation_has_its_index_at_once_only_while_all_parts_are_small(filled: Database) -> None:
    await add_generation(filled, "small")
    with psycopg.connect(filled.superuser_url, autocommit=True) as connection:
        assert [each.valid for each in graphs(connection)] == [True]
        row = connection.execute("SELECT prosrc FROM pg_proc WHERE proname = 'recollect_prepare_generation'").fetchone()
        assert row is not None
        assert str(AT_ONCE_BELOW) in row[0]
    take_for_large(filled)
    await add_generation(filled, "large")
    with psycopg.connect(filled.superuser_url) as connection:
        assert [each.valid for each in graphs(connection) if each.generation == "large"] == [None]
    assert await build(filled.owner_url, lambda *_: None) == ["large"]


async def test_a_killed_build_goes_on_with_the_part_it_was_at(filled: Database, cli: CommandLine) -> None:
    cli.env["RECOLLECT_MIGRATE_URL"] = filled.owner_url
    command = ("db", "index", "--store", filled.app_url)

    def until(what: str, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < deadline, f"waited in vain: {what}"
            time.sleep(0.05)

    with (
        psycopg.connect(filled.superuser_url, autocommit=True) as watcher,
        psycopg.connect(filled.superuser_url) as writer,
    ):
        watcher.execute(f"DROP INDEX {graphs(watcher)[0].name}".encode())
        writer.execute("LOCK TABLE embeddings_p001 IN ROW EXCLUSIVE MODE")  # a writer whom the build has to wait for
        building = cli.start(*command)
        unfinished = "SELECT count(*) FROM pg_index WHERE NOT indisvalid AND indrelid = 'embeddings_p001'::regclass"
        until("it is at the second", lambda: watcher.execute(unfinished.encode()).fetchall() == [(1,)])
        assert len(await nearest(filled, 1)) == 5, "searched exactly meanwhile"
        building.kill()
        building.communicate()
        at_work = (
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND state = 'active'"
        )
        until("the server has noticed", lambda: watcher.execute(at_work.encode()).fetchall() == [(0,)])
        writer.rollback()
        (first,) = watcher.execute(VALID.encode()).fetchall()
        place = watcher.execute("SELECT %s::regclass::oid", first).fetchone()
        assert [each.valid for each in graphs(watcher)] == [False]
        assert await asyncio.to_thread(cli.json, *command) == {"built": [GENERATION]}
        assert [each.valid for each in graphs(watcher)] == [True]
        assert len(watcher.execute(VALID.encode()).fetchall()) == PARTS
        assert watcher.execute("SELECT %s::regclass::oid", first).fetchone() == place, "what was there stayed there"
        assert (await asyncio.to_thread(cli, *command)).stdout.strip() == "nothing to build"
