"""Exact below the threshold, HNSW above it, and never a result less because of a filter."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from functools import partial

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from recollect.errors import Conflict
from recollect.model import (
    Entry,
    Filter,
    Found,
    Generation,
    GenerationState,
    Memory,
    Scope,
    Target,
)
from recollect.ports import Tx
from recollect.stores import migrations
from recollect.stores.postgres import PostgresStore
from tests.services.postgres import Database, PostgresServer

NOW = datetime(2025, 6, 1, tzinfo=UTC)
ANA = Scope("acme", "ana")
COUNT, DIMENSIONS, LIMIT = 1_700, 16, 10
SHARES = {"all": 1, "tenth": 10, "hundredth": 100, "few": 600, "one": COUNT}
GENERATION = "it's 100% ours"
BEFORE = """
WITH space AS (
  INSERT INTO spaces (tenant_id, user_id, space, revision, purged, size, memory_enabled, incognito_default, soft_cap,
                      shared_tags, created_at, last_active_at)
  VALUES ('acme', %(user)s, 'default', 1, 1, %(size)s, true, false, 0, '{}', now(), now())
)
INSERT INTO embeddings (tenant_id, user_id, space, kind, target_id, generation, state, attempts, content_hash, vector,
                        created_at, updated_at)
VALUES ('acme', %(user)s, 'default', 'memory', 'm', 'g', 'ready', 0, 'h', '[1,2,3]', now(), now())
"""


def generation(id: str, dimensions: int = DIMENSIONS) -> Generation:
    return Generation(
        id=id,
        provider="test",
        model="none",
        dimensions=dimensions,
        state=GenerationState.BUILDING,
        created_at=NOW,
    )


def sample() -> NDArray[np.float32]:
    points = np.random.default_rng(7).normal(size=(COUNT, DIMENSIONS))
    unit: NDArray[np.float32] = (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)
    return unit


def target(number: int) -> Target:
    return Target("memory", f"m{number:05}")


def fill(tx: Tx, numbers: range = range(COUNT)) -> None:
    for number in numbers:
        tx.memories.insert(Memory(id=target(number).id, content="x", created_at=NOW, updated_at=NOW), f"d{number}")
    tx.index.put(
        [
            Entry(
                target=target(number),
                terms=("x",),
                chars=1,
                created_at=NOW,
                tags=tuple(tag for tag, share in SHARES.items() if number % share == 0),
            )
            for number in numbers
        ]
    )
    tx.embeddings.queue({target(number): "h" for number in numbers}, GENERATION, NOW)
    jobs = tx.embeddings.claim(GENERATION, NOW, timedelta(minutes=1), len(numbers))
    vectors = sample()
    tx.embeddings.settle([(job, vectors[int(job.target.id[1:])]) for job in jobs], NOW)


async def filled_with(database: Database, exact_below: int, *parts: range) -> Database:
    """Filled by a store to which a scope is large from `exact_below` on, one part after the other."""
    store = await PostgresStore.open(
        database.app_url, pool_size=2, statement_timeout_ms=60_000, exact_below=exact_below
    )
    await store.system(lambda system: system.add_generation(generation(GENERATION)))
    for part in parts:
        await store.write(ANA, partial(fill, numbers=part))
    await store.close()
    return database


@pytest.fixture
async def filled(database: Database) -> Database:
    return await filled_with(database, COUNT, range(COUNT))


def joined(database: Database) -> int:
    """How many vectors are in the index."""
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        row = connection.execute("SELECT count(*) FROM embeddings WHERE large").fetchone()
        assert row is not None
        return int(row[0])


async def nearest(store: PostgresStore, query: NDArray[np.float32], filter: Filter) -> list[Found]:
    return list(await store.read(ANA, lambda tx: tx.index.dense(query, GENERATION, filter, NOW, LIMIT)))


def walks_through_the_graph(database: Database, expected: int) -> int:
    """How often the HNSW index was scanned. The count may arrive late, so this waits for the number it hopes for."""
    statement = (
        "SELECT coalesce(sum(idx_scan), 0)::int FROM pg_stat_user_indexes WHERE indexrelname ~ '^embeddings_hnsw_'"
    )
    deadline = time.monotonic() + 60
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        while True:
            row = connection.execute(statement).fetchone()
            assert row is not None
            if row[0] == expected or time.monotonic() > deadline:
                return int(row[0])
            time.sleep(0.1)


@pytest.mark.slow
async def test_large_scopes_walk_the_graph_and_filters_lose_nothing(filled: Database) -> None:
    vectors, queries = sample(), np.random.default_rng(8).normal(size=(8, DIMENSIONS)).astype(np.float32)
    small = await PostgresStore.open(filled.app_url, pool_size=1)
    large = await PostgresStore.open(filled.app_url, pool_size=1, exact_below=COUNT)
    recalled = []
    for query in queries:
        similarity = vectors @ (query / np.linalg.norm(query))
        for tag, share in SHARES.items():
            members = [number for number in range(COUNT) if number % share == 0]
            best = sorted(members, key=lambda number: -similarity[number])[:LIMIT]
            exact = await nearest(small, query, Filter(tags=(tag,)))
            found = await nearest(large, query, Filter(tags=(tag,)))
            assert [hit.score for hit in exact] == pytest.approx([similarity[n] for n in best], abs=2e-3)
            assert len(found) == len(best), f"the filter {tag!r} made results go missing"
            assert {hit.target for hit in found} <= {target(n) for n in members}
            assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
            recalled.append(len({h.target for h in found} & {h.target for h in exact}) / len(best))
    assert np.mean(recalled) > 0.95
    for store in (small, large):
        await store.close()  # a connection that ends reports all it did
    assert walks_through_the_graph(filled, len(recalled)) == len(recalled)


@pytest.mark.slow
async def test_small_scopes_stay_out_of_the_index(database: Database) -> None:
    await filled_with(database, COUNT + 1, range(COUNT))
    assert joined(database) == 0
    query = sample()[0]
    store = await PostgresStore.open(database.app_url, pool_size=1, exact_below=COUNT)
    found = await nearest(store, query, Filter())
    await store.close()
    best = np.argsort(-(sample() @ query))[:LIMIT]
    assert [hit.target for hit in found] == [target(number) for number in best]


@pytest.mark.slow
async def test_a_scope_that_grows_large_joins_the_index_little_by_little(database: Database) -> None:
    """Those that have not joined yet are found beside it, filtered or not."""
    await filled_with(database, 1_000, range(900), range(900, 1_100))
    assert joined(database) == 4 * 200
    store = await PostgresStore.open(database.app_url, pool_size=1, exact_below=1_000)
    await store.write(ANA, partial(fill, numbers=range(1_100, COUNT)))
    assert joined(database) == COUNT
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        connection.execute("UPDATE embeddings SET large = target_id < 'm01500'")
    vectors, queries = sample(), np.random.default_rng(9).normal(size=(8, DIMENSIONS)).astype(np.float32)
    shares = []
    for query in queries:
        similarity = vectors @ (query / np.linalg.norm(query))
        for tag, share in SHARES.items():
            best = sorted(range(0, COUNT, share), key=lambda number: -similarity[number])[:LIMIT]
            found = await nearest(store, query, Filter(tags=(tag,)))
            assert len(found) == len(best), f"the filter {tag!r} made results go missing"
            shares.append(len({hit.target for hit in found} & {target(n) for n in best}) / len(best))
    await store.close()
    assert np.mean(shares) > 0.95


async def test_upgrading_keeps_large_scopes_in_the_index(postgres: PostgresServer) -> None:
    database = postgres.fresh_database()
    migrations.upgrade(database.owner_url, "0003", app_role="app")
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO generations VALUES ('g', 'test', 'none', 3, 'serving', now());"
            "SELECT recollect_prepare_generation('g')"
        )
        for user, size in (("ana", 200_000), ("bob", 10)):
            connection.execute(BEFORE, {"user": user, "size": size})
    migrations.upgrade(database.owner_url, app_role="app")
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        found = connection.execute("SELECT user_id, large FROM embeddings ORDER BY user_id").fetchall()
        (definition,) = connection.execute("SELECT indexdef FROM pg_indexes WHERE indexname ~ 'hnsw'").fetchall()
    assert found == [("ana", True), ("bob", False)]
    assert "large" in definition[0]
    postgres.discard(database)


@pytest.mark.slow
async def test_a_small_share_of_the_index_is_scanned_exactly(filled: Database) -> None:
    """Walking a graph that is mostly other users' would visit more of it than the scope has rows."""
    with psycopg.connect(filled.superuser_url, autocommit=True) as connection:
        connection.execute("ANALYZE embeddings")
        connection.execute("UPDATE pg_class SET reltuples = 1e7 WHERE relname ~ '^embeddings_hnsw_'")
    store = await PostgresStore.open(filled.app_url, pool_size=1, exact_below=COUNT)
    assert len(await nearest(store, sample()[0], Filter())) == LIMIT
    await store.close()
    assert walks_through_the_graph(filled, 0) == 0


async def test_generations_bring_and_take_their_index(store: PostgresStore, database: Database) -> None:
    def indexed() -> list[str]:
        with psycopg.connect(database.superuser_url) as connection:
            found = connection.execute(
                "SELECT indexdef FROM pg_indexes WHERE indexname ~ '^embeddings_hnsw_' ORDER BY indexdef"
            )
            return [row[0] for row in found]

    await store.system(lambda system: system.add_generation(generation("small", 3)))
    await store.system(lambda system: system.add_generation(generation("beyond hnsw", 4001)))
    (definition,) = indexed()
    assert "halfvec(3)" in definition
    assert "'small'" in definition
    await store.system(lambda system: system.set_generation("small", GenerationState.SERVING))
    with pytest.raises(Conflict):
        await store.system(lambda system: system.drop_generation("small"))
    await store.system(lambda system: system.set_generation("beyond hnsw", GenerationState.SERVING))
    await store.system(lambda system: system.drop_generation("small"))
    assert indexed() == []
    kept = await store.system(lambda system: system.generations())
    assert [each.id for each in kept] == ["beyond hnsw"]
