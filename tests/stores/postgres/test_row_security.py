"""Row-level security, proven past the store: raw statements without a WHERE clause, as the role the store connects as."""

from __future__ import annotations

from datetime import UTC, datetime

import psycopg
import pytest
from psycopg import sql

from recollect.errors import NotAllowed
from recollect.model import (
    AuditEvent,
    Conversation,
    Entry,
    Flag,
    Memory,
    Message,
    Repeat,
    Scope,
    Target,
    Theme,
    Tombstone,
    Use,
    WorkingMemory,
)
from recollect.ports import Tx
from recollect.stores.migrations.postgres_ddl import PROTECTED
from recollect.stores.postgres import PostgresStore
from tests.services.postgres import PASSWORD, Database

NOW = datetime(2025, 6, 1, tzinfo=UTC)
ANA, BEN, OTHER_ANA = Scope("acme", "ana"), Scope("acme", "ben"), Scope("globex", "ana")


def fill_every_table(tx: Tx) -> None:
    tx.memories.insert(Memory(id="m", content="text", created_at=NOW, updated_at=NOW), "digest")
    tx.links.keep(Repeat(memory_id="m", id="r", place=1, content="text", at=NOW))
    tx.links.flag([Flag(memory_id="m", other_id="n", at=NOW)])
    tx.links.state("m", ["slot"])
    tx.links.use([Use(memory_id="m", message_id="s", reference="m1", cited=True, at=NOW)])
    tx.conversations.open(Conversation(id="c", created_at=NOW, updated_at=NOW))
    tx.conversations.append([Message(id="s", session_id="c", order=0, role="user", content="text", created_at=NOW)])
    tx.index.put([Entry(target=Target("memory", "m"), terms=("text",), chars=4, created_at=NOW)])
    tx.embeddings.queue({Target("memory", "m"): "hash"}, "g", NOW)
    tx.space.save_theme(Theme(slug="t", display_name="T", created_at=NOW, updated_at=NOW))
    tx.space.bury([Tombstone(digest="digest", created_at=NOW, expires_at=NOW)])
    tx.space.record(AuditEvent(id="a", at=NOW, action="remember"))
    tx.space.save_working(WorkingMemory(session_id="c", created_at=NOW, updated_at=NOW))
    tx.space.declare_incognito("s" * 64, True, NOW)


@pytest.fixture
async def filled(store: PostgresStore, database: Database) -> Database:
    for scope in (ANA, BEN, OTHER_ANA):
        await store.write(scope, fill_every_table)
    return database


def enter(connection: psycopg.Connection[tuple[object, ...]], scope: Scope) -> None:
    connection.execute(
        "SELECT set_config('app.tenant_id', %s, true), set_config('app.user_id', %s, true)",
        [scope.tenant, scope.user],
    )


def owners(connection: psycopg.Connection[tuple[object, ...]], table: str) -> list[tuple[object, ...]]:
    return connection.execute(sql.SQL("SELECT tenant_id, user_id FROM {}").format(sql.Identifier(table))).fetchall()


@pytest.mark.parametrize("role", ["app", "owner"])
async def test_a_forgotten_where_clause_finds_nothing_foreign(filled: Database, role: str) -> None:
    with psycopg.connect(filled.app_url if role == "app" else filled.owner_url) as connection:
        for table in PROTECTED:
            assert owners(connection, table) == [], f"{table} shows rows to nobody in particular"
        enter(connection, ANA)
        for table in PROTECTED:
            assert owners(connection, table) == [("acme", "ana")], table
    with psycopg.connect(filled.superuser_url) as connection:
        for table in PROTECTED:
            assert len(owners(connection, table)) == 3, f"{table} was not filled: the test proves nothing"


async def test_nothing_foreign_can_be_changed_or_removed(filled: Database) -> None:
    with psycopg.connect(filled.app_url) as connection:
        enter(connection, ANA)
        # Messages refer to conversations, so they go first.
        for table in sorted(PROTECTED, key=lambda name: name == "conversations"):
            name = sql.Identifier(table)
            assert connection.execute(sql.SQL("UPDATE {} SET space = space").format(name)).rowcount == 1
            assert connection.execute(sql.SQL("DELETE FROM {}").format(name)).rowcount == 1
    with psycopg.connect(filled.superuser_url) as connection:
        for table in PROTECTED:
            assert sorted(owners(connection, table)) == [("acme", "ben"), ("globex", "ana")]


async def test_rows_for_someone_else_are_refused(filled: Database) -> None:
    row = "INSERT INTO tombstones VALUES (%s, %s, 'default', 'd2', now(), now())"
    with psycopg.connect(filled.app_url) as connection:
        for tenant, user in (("acme", "ben"), ("globex", "ana")):
            enter(connection, ANA)
            with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                connection.execute(row, [tenant, user])
            with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                connection.execute("UPDATE tombstones SET tenant_id = %s, user_id = %s", [tenant, user])
        connection.execute(row, ["acme", "ana"])


async def test_a_scope_does_not_outlive_its_transaction(filled: Database) -> None:
    store = await PostgresStore.open(filled.app_url, pool_size=1)
    await store.read(ANA, lambda tx: tx.memories.get(["m"]))

    def raw_count(connection: psycopg.Connection[tuple[object, ...]]) -> list[tuple[object, ...]]:
        return connection.execute("SELECT * FROM memories").fetchall()

    assert await store._pool.outside(raw_count) == []  # the very connection that just served ana
    await store.close()


async def test_privileged_roles_are_refused_unless_meant(database: Database) -> None:
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS unbound")
        connection.execute(f"CREATE ROLE unbound LOGIN BYPASSRLS PASSWORD '{PASSWORD}'".encode())
    unbound = database.app_url.replace("//app:", "//unbound:")
    for url, why in (
        (database.superuser_url, "is a superuser"),
        (unbound, "has BYPASSRLS"),
        (database.owner_url, "owns the tables"),
    ):
        with pytest.raises(NotAllowed, match=why):
            await PostgresStore.open(url)
    meant = await PostgresStore.open(database.owner_url, allow_privileged=True)
    await meant.close()


async def test_a_role_without_rights_is_told_so(blank_database: Database) -> None:
    outsider = await PostgresStore.open(blank_database.app_url, migrate_url=blank_database.owner_url)
    await outsider.close()
    with psycopg.connect(blank_database.owner_url) as connection:
        connection.execute("REVOKE INSERT ON memories FROM app")
    with pytest.raises(NotAllowed, match="memories: INSERT"):
        await PostgresStore.open(blank_database.app_url)
    # Opening with the owner's address repairs it, though there is nothing left to migrate.
    repaired = await PostgresStore.open(blank_database.app_url, migrate_url=blank_database.owner_url)
    await repaired.close()


async def test_the_owners_functions_do_only_what_they_are_for(filled: Database) -> None:
    with psycopg.connect(filled.app_url) as connection:
        with pytest.raises(psycopg.errors.InvalidParameterValue), connection.transaction():
            connection.execute("SELECT recollect_prepare_generation('x'') ; DROP TABLE memories; --')")
        with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
            connection.execute("CREATE INDEX ON memories (content)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
            connection.execute("ALTER TABLE memories DISABLE ROW LEVEL SECURITY")
        counted = connection.execute("SELECT pending FROM recollect_backlog('g')").fetchone()
        assert counted == (3,)
        assert owners(connection, "embeddings") == []  # counting left no scope behind
