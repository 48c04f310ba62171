"""What waits is counted at once for everybody: as long as the queue is, however many people and memories there are."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest

from recollect.model import Scope
from recollect.stores import migrations
from recollect.stores.migrations.postgres_ddl import COUNTED_AT_ONCE
from recollect.stores.postgres import PostgresStore
from tests.contract.samples import ANA, T0, entry, generation, shelve
from tests.services.postgres import Database, PostgresServer
from tests.stores.postgres.filling import GENERATION, fill

(COUNT,) = re.findall(r"SELECT count.*?;", COUNTED_AT_ONCE.replace("$1", "%s"), re.DOTALL)
INTO = "INTO pending, error, retrying, oldest"


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for below in plan.get("Plans", ()) for node in nodes(below))]


def test_it_goes_by_the_index_of_what_is_unsettled(database: Database) -> None:
    fill(database)
    with psycopg.connect(database.owner_url) as connection:
        connection.execute("SET app.counting = 'yes'")  # as the function does
        found = connection.execute(
            f"EXPLAIN (FORMAT JSON) {COUNT.replace(INTO, '')}".encode(), [GENERATION]
        ).fetchall()[0][0]
    assert [node["Index Name"] for node in nodes(found[0]["Plan"]) if "Relation Name" in node] == ["ix_embeddings_due"]


async def test_everybody_is_counted_and_nobody_else_may_look(store: PostgresStore, database: Database) -> None:
    await store.system(lambda system: system.add_generation(generation()))
    for scope in (ANA, Scope("acme", "ben"), Scope("other", "ana")):
        await shelve(store, scope, entry("m1", "tea"))
        await store.write(scope, lambda tx: tx.embeddings.queue({entry("m1").target: "h"}, "g1", T0))
    backlog = await store.system(lambda system: system.backlog("g1"))
    assert (backlog.pending, backlog.error, backlog.oldest) == (3, 0, T0)
    with psycopg.connect(database.app_url) as connection:
        connection.execute("SET app.counting = 'yes'")
        assert connection.execute("SELECT count(*) FROM embeddings").fetchall() == [(0,)]
        assert connection.execute("SELECT pending FROM recollect_backlog('g1')").fetchall() == [(3,)]


async def test_a_queue_that_nobody_may_count_is_not_empty(store: PostgresStore, database: Database) -> None:
    """As after a restore under another owner: a generation with nothing in the queue would take over."""
    await store.system(lambda system: system.add_generation(generation()))
    with psycopg.connect(database.superuser_url) as connection:
        connection.execute("ALTER POLICY counted ON embeddings TO pg_monitor")
    with psycopg.connect(database.app_url) as connection, pytest.raises(psycopg.Error, match="was not made"):
        connection.execute("SELECT pending FROM recollect_backlog('g1')")


async def test_everybody_is_counted_whoever_has_upgraded(postgres: PostgresServer) -> None:
    database = postgres.fresh_database()
    migrations.upgrade(database.owner_url, "0009", app_role="app")
    migrations.upgrade(database.superuser_url, app_role="app")
    store = await PostgresStore.open(database.app_url, pool_size=2)
    await store.system(lambda system: system.add_generation(generation()))
    await shelve(store, ANA, entry("m1", "tea"))
    await store.write(ANA, lambda tx: tx.embeddings.queue({entry("m1").target: "h"}, "g1", T0))
    assert (await store.system(lambda system: system.backlog("g1"))).pending == 1
    await store.close()
    postgres.discard(database)
