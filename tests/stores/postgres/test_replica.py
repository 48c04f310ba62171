"""Reads on a real streaming replica: only when nobody can tell, and never when it is down."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import psycopg
import pytest

from recollect.model import Scope
from recollect.ports import Tx
from recollect.stores import migrations
from recollect.stores.postgres import PostgresStore
from recollect.stores.postgres.pool import END
from recollect.stores.postgres.replica import REMEMBERED, Replica
from recollect.stores.postgres.session import Opening
from tests.contract.samples import ANA, memory, remember
from tests.services.postgres import Database, PostgresServer, running_postgres
from tests.services.standby import Standby, standing_by

BEN = Scope("acme", "ben")


@pytest.fixture(scope="module")
def primary() -> Iterator[PostgresServer]:
    with running_postgres(durable=False) as server:
        yield server


@pytest.fixture
def home(primary: PostgresServer) -> Database:
    made = primary.fresh_database()
    migrations.upgrade(made.owner_url, app_role="app")
    return made


@pytest.fixture
def standby(primary: PostgresServer, home: Database) -> Iterator[Standby]:
    with standing_by(primary) as replica:
        yield replica


@pytest.fixture
async def store(home: Database, standby: Standby) -> AsyncIterator[PostgresStore]:
    opened = await PostgresStore.open(home.app_url, read_url=standby.url(home.app_url), pool_size=2)
    yield opened
    await opened.close()


def where(tx: Tx) -> bool:
    """Whether a replica answers."""
    return bool(tx._session.query("SELECT pg_is_in_recovery()", {})[0][0])  # type: ignore[attr-defined]


def seen(tx: Tx) -> tuple[bool, set[str]]:
    return where(tx), set(tx.memories.get(["m1", "m2"]))


async def until_there(store: PostgresStore, scope: Scope) -> None:
    deadline = time.monotonic() + 90
    while not await store.read(scope, where):
        assert time.monotonic() < deadline, "the replica never caught up"


async def test_reads_go_where_everything_seen_so_far_is(store: PostgresStore, standby: Standby, home: Database) -> None:
    await remember(store, ANA, memory("m1"))
    await until_there(store, ANA)
    await until_there(store, BEN)
    assert await store.read(ANA, seen) == (True, {"m1"})

    standby.pause(home)
    await remember(store, ANA, memory("m2", "another"))
    assert await store.read(ANA, seen) == (False, {"m1", "m2"})
    assert await store.read(BEN, where)  # of whom nothing was written meanwhile
    await store.write(ANA, lambda tx: tx.memories.delete(["m1"]))
    assert await store.read(ANA, seen) == (False, {"m2"})
    await store.system(lambda system: system.generations())
    assert not await store.read(BEN, where)  # what belongs to nobody is waited for by all

    standby.resume(home)
    await until_there(store, ANA)
    assert await store.read(ANA, seen) == (True, {"m2"})


async def test_what_another_process_wrote_is_not_gone_again_once_it_was_seen(
    store: PostgresStore, standby: Standby, home: Database
) -> None:
    await remember(store, ANA, memory("m1"))
    await until_there(store, ANA)
    standby.pause(home)
    await store.write(ANA, lambda tx: tx.memories.touch(["m1"], memory().created_at))
    mine = await PostgresStore.open(home.app_url, pool_size=1)
    await remember(mine, ANA, memory("m2", "another"))
    await mine.close()
    assert await store.read(ANA, seen) == (False, {"m1", "m2"})
    standby.resume(home)
    await until_there(store, ANA)
    assert await store.read(ANA, seen) == (True, {"m1", "m2"})


async def test_a_replica_that_dies_or_never_was_is_nobodys_problem(
    store: PostgresStore, standby: Standby, home: Database
) -> None:
    await remember(store, ANA, memory("m1"))
    await until_there(store, ANA)
    standby.kill()
    assert await store.read(ANA, seen) == (False, {"m1"})
    other = await PostgresStore.open(home.app_url, read_url=standby.url(home.app_url), pool_size=1)
    assert await other.read(ANA, seen) == (False, {"m1"})
    await other.close()


class Nowhere:
    """A pool that is never asked."""


def test_positions_are_remembered_for_as_many_as_fit_and_then_for_all() -> None:
    replica = Replica(Nowhere())  # type: ignore[arg-type]
    for number in range(REMEMBERED + 1):
        replica.seen(Scope("acme", f"user{number}"))(number + 1)
    assert replica.wanted(Scope("acme", "user0")) == 1
    assert replica.wanted(Scope("acme", "nobody")) == 1
    assert replica.wanted(Scope("acme", "user7")) == 8


class Near:
    """A pool with one connection, which has come as far as anybody asks."""

    async def open(self) -> None:
        """Nothing to open."""

    async def transaction(self, work: Callable[[Any], object], *, writes: bool) -> object:
        return work(self)


async def test_positions_of_those_who_only_read_take_no_more_room() -> None:
    replica = Replica(Near())  # type: ignore[arg-type]
    for number in range(REMEMBERED + 1):
        await replica.read(Scope("acme", f"user{number}"), lambda _, located, at=number + 1: located(at))  # type: ignore[misc]
    assert replica.wanted(Scope("acme", "nobody")) == replica.wanted(Scope("acme", "user0")) == 1
    assert replica.wanted(Scope("acme", "user7")) == 8


def test_a_position_that_could_not_be_learnt_waits_for_one_that_can() -> None:
    replica = Replica(Nowhere())  # type: ignore[arg-type]
    for scope in (ANA, None):
        replica.seen(scope)(END)
        assert replica.wanted(ANA) == END
        replica.seen(scope)(5)
        assert replica.wanted(ANA) == 5
        replica.seen(scope)(3)
        assert replica.wanted(ANA) == 5


async def test_behind_a_pooler_nothing_is_prepared_and_every_transaction_says_its_settings(home: Database) -> None:
    store = await PostgresStore.open(home.app_url, pool_size=1, prepare=False, statement_timeout_ms=4_321)
    for number in range(5):
        await remember(store, ANA, memory(f"m{number}", f"text {number}"))
    asked = (
        "SELECT count(*), current_setting('statement_timeout'), current_setting('TimeZone') FROM pg_prepared_statements"
    )
    told = await store.read(ANA, lambda tx: tx._session.query(asked, {}))  # type: ignore[attr-defined]
    assert told == [(0, "4321ms", "UTC")]
    assert await store._pool.outside(lambda it: it.execute("SHOW statement_timeout").fetchall()) == [("0",)]
    await store.close()


async def test_names_arrive_unharmed_when_they_are_said_to_every_node(home: Database) -> None:
    with psycopg.connect(home.app_url, autocommit=True) as connection:
        for name in ("o'hara", "a\\b", "'; DROP TABLE memories; --", "💣"):
            Opening(Scope("acme", name, "s"), writes=False, spread=True).run(connection)
            row = connection.execute(
                "SELECT current_setting('app.user_id'), current_setting('app.tenant_id')"
            ).fetchone()
            assert row == (name, "acme")
            connection.rollback()
