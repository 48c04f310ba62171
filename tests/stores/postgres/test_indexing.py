"""`recollect db index`: vector indexes are built while people write; what a killed build left is dropped and built again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import numpy as np
import psycopg
import pytest

from recollect.model import Filter, Scope
from recollect.stores.migrations.postgres_ddl import AT_ONCE_BELOW
from recollect.stores.postgres import PostgresStore
from recollect.stores.postgres.doctor import graph
from recollect.stores.postgres.indexing import build, graphs
from tests.cli.conftest import CommandLine, cli, server
from tests.contract.samples import ANA, T0, entry, generation, shelve
from tests.providers.wire import SIZE, EmbeddingServer
from tests.services.postgres import Database
from tests.stores.postgres.filling import GENERATION, fill

__all__ = ["cli", "server"]
ASKED = np.ones(3, dtype=np.float32)
PATIENCE_S = 120
BUILDING = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND datname = current_database()"
UNFINISHED = "SELECT count(*) FROM pg_index WHERE NOT indisvalid"


def until(what: str, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(0.05)


@pytest.fixture
async def filled(database: Database) -> Database:
    """Ana has thousands of vectors that belong in an index, and there is none."""
    fill(database)
    store = await PostgresStore.open(database.app_url)
    await store.system(lambda system: system.add_generation(generation(GENERATION)))
    await store.close()
    with psycopg.connect(database.superuser_url) as connection:
        connection.execute("UPDATE embeddings SET large = true WHERE user_id = 'ana'")
        (made,) = graphs(connection)
        connection.execute(f"DROP INDEX {made.name}".encode())
    return database


async def test_a_killed_build_is_begun_again_and_nobody_waits_for_it(filled: Database, cli: CommandLine) -> None:
    cli.env["RECOLLECT_MIGRATE_URL"] = filled.owner_url
    command = ("db", "index", "--store", filled.app_url)
    store = await PostgresStore.open(filled.app_url, exact_below=1)
    with (
        psycopg.connect(filled.superuser_url, autocommit=True) as watcher,
        psycopg.connect(filled.superuser_url) as writer,
    ):
        writer.execute("LOCK TABLE embeddings IN ROW EXCLUSIVE MODE")  # a writer whom the build has to wait for
        building = cli.start(*command)
        until("it is under way", lambda: watcher.execute(UNFINISHED).fetchall() == [(1,)])
        await shelve(store, Scope("acme", "ben"), entry("m1", "tea"))
        await store.write(ANA, lambda tx: tx.embeddings.queue({entry("m1").target: "h"}, GENERATION, T0))
        found = await store.read(ANA, lambda tx: tx.index.dense(ASKED, GENERATION, Filter(), T0, 5))
        assert len(found) == 5, "searched exactly meanwhile"
        building.kill()
        building.communicate()
        until("the server has noticed", lambda: watcher.execute(BUILDING).fetchall() == [(0,)])
        writer.rollback()
        assert [each.valid for each in graphs(watcher)] == [False]
        assert await asyncio.to_thread(cli.json, *command) == {"built": [GENERATION]}
        assert [each.valid for each in graphs(watcher)] == [True]
        assert (await asyncio.to_thread(cli, *command)).stdout.strip() == "nothing to build"
        assert len(await store.read(ANA, lambda tx: tx.index.dense(ASKED, GENERATION, Filter(), T0, 5))) == 5
    await store.close()


def take_for_large(database: Database) -> None:
    """Have the function that prepares a generation believe that this is a large table."""
    body = "SELECT prosrc FROM pg_proc WHERE proname = 'recollect_prepare_generation'"
    with psycopg.connect(database.superuser_url) as connection:
        source: str = connection.execute(body).fetchall()[0][0]
        smaller = source.replace(str(AT_ONCE_BELOW), "1")
        connection.execute("UPDATE pg_proc SET prosrc = %s WHERE proname = 'recollect_prepare_generation'", [smaller])


def test_a_new_model_has_its_index_before_it_serves(
    database: Database, cli: CommandLine, server: EmbeddingServer
) -> None:
    cli.env |= {"RECOLLECT_MIGRATE_URL": database.owner_url, "RECOLLECT_STORE": database.app_url}
    cli("seed", "-", input="Ana likes tea\nBo likes coffee\n")
    take_for_large(database)
    model = ("--provider", "openai", "--url", f"{server.url}/v1", "--model", "m", "--dimensions", str(SIZE))
    begun = cli.json("reembed", *model)
    assert begun["complete"]
    with psycopg.connect(database.superuser_url) as connection:
        assert {each.generation: each.valid for each in graphs(connection)} == {begun["generation"]: True}


async def test_a_large_table_is_not_read_while_everybody_waits(filled: Database) -> None:
    take_for_large(filled)
    store = await PostgresStore.open(filled.app_url)
    await store.system(lambda system: system.add_generation(generation("g2", state="building")))
    await store.close()
    told: list[tuple[str, str, int, int]] = []
    with psycopg.connect(filled.superuser_url) as connection:
        assert {each.generation: each.valid for each in graphs(connection)} == {GENERATION: None, "g2": None}
        assert graph(connection).ok, "nobody has enough for it to matter"
        connection.execute("UPDATE spaces SET size = 200000 WHERE user_id = 'ana'")
        assert not graph(connection).ok
    assert await build(filled.owner_url, lambda *facts: told.append(facts), memory_mb=64) == [GENERATION, "g2"]
    with psycopg.connect(filled.superuser_url) as connection:
        assert graph(connection).ok
    assert {GENERATION, "g2"} >= {generation for generation, *_ in told}
