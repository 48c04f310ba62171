"""`recollect db partition`: nothing is lost, nothing is laid open, and it can be said again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from recollect.errors import Conflict, NotAllowed, Unavailable, Unsupported
from recollect.model import Scope
from recollect.stores import migrations
from recollect.stores.migrations.postgres_ddl import PROTECTED, grants
from recollect.stores.postgres import PostgresStore, citus, partitions
from recollect.stores.postgres.doctor import in_parts
from recollect.stores.postgres.partitions import PARTED
from recollect.stores.postgres.shapes import shape
from tests.cli.conftest import CommandLine, cli
from tests.contract.samples import ANA, generation, memory, remember
from tests.contract.stores import divide
from tests.services.postgres import Database, PostgresServer
from tests.stores.postgres.conftest import migrated
from tests.stores.postgres.filling import GENERATION, fill
from tests.stores.postgres.test_row_security import fill_every_table

__all__ = ["cli"]
PARTS = 4
OF_PARTS = "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relispartition ORDER BY 1"


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[Database]:
    """As it is before anybody divides anything."""
    made = migrated(postgres)
    yield made
    postgres.discard(made)


def rows(database: Database) -> dict[str, list[Any]]:
    """Everything in every table, as a superuser sees it."""
    with psycopg.connect(database.superuser_url) as connection:
        return {
            table: connection.execute(
                sql.SQL("SELECT t::text FROM {} AS t ORDER BY 1").format(sql.Identifier(table))
            ).fetchall()
            for table in PROTECTED
        }


def asked(database: Database, statement: str) -> list[Any]:
    with psycopg.connect(database.superuser_url, autocommit=True) as connection:
        found = connection.execute(statement.encode())
        return found.fetchall() if found.description else []


async def filled(database: Database) -> None:
    """A row in every table and thousands in some, and an index of vectors."""
    fill(database)
    store = await PostgresStore.open(database.app_url, pool_size=1)
    await store.system(lambda system: system.add_generation(generation(GENERATION)))
    for user in ("ben", "cleo"):
        await store.write(Scope("globex", user), fill_every_table)
    await store.close()
    asked(database, "UPDATE embeddings SET large = true WHERE user_id = 'ana'")


async def test_every_row_key_index_policy_and_right_is_as_before(database: Database) -> None:
    await filled(database)
    asked(database, "ALTER TABLE memories SET (fillfactor = 70)")
    before = rows(database)
    with psycopg.connect(database.owner_url) as connection:
        shapes = [shape(connection, table) for table in PROTECTED]
    assert all(before.values())
    divide(database, PARTS)
    assert rows(database) == before
    with psycopg.connect(database.owner_url) as connection:
        assert {was.name: was.differs(shape(connection, was.name)) for was in shapes} == {
            was.name: [] for was in shapes
        }
        assert partitions.parted(connection) == dict.fromkeys(PARTED, PARTS)
        assert [each.ok for each in in_parts(connection)] == [True]
        parts = [shape(connection, name) for (name,) in connection.execute(OF_PARTS)]
    whole = {was.name: was for was in shapes}
    for part in parts:
        of = whole[part.name.rpartition("_p")[0]]
        assert part.columns == of.columns, "down to what ANALYZE may copy"
        assert (part.options, part.owner, part.guarded) == (of.options, of.owner, (True, True))
        assert len(part.indexes) == len(of.indexes)
    assert len(parts) == PARTS * len(PARTED)
    assert len({row[0] for row in asked(database, "SELECT tableoid FROM memories")}) == PARTS, "everybody has a part"


async def test_who_was_at_work_before_goes_on(database: Database) -> None:
    store = await PostgresStore.open(database.app_url, pool_size=1)
    for number in range(3):
        await remember(store, ANA, memory(f"before{number}", "tea"))
    divide(database, PARTS)
    await remember(store, ANA, memory("after", "tea"))
    assert len(await store.read(ANA, lambda tx: tx.memories.get(["before0", "before2", "after"]))) == 3
    await store.close()


@pytest.mark.parametrize("role", ["app_url", "owner_url"])
async def test_a_part_is_no_way_around_the_policies(database: Database, role: str) -> None:
    """Not even where the owner gives away rights on whatever tables they make."""
    asked(database, "ALTER DEFAULT PRIVILEGES FOR ROLE owner GRANT SELECT ON TABLES TO app, PUBLIC")
    await filled(database)
    divide(database, PARTS)
    parts = [name for (name,) in asked(database, OF_PARTS)]
    with psycopg.connect(getattr(database, role), autocommit=True) as connection:
        connection.execute("SELECT set_config('app.tenant_id', 'acme', false), set_config('app.user_id', 'ana', false)")
        owners = connection.execute("SELECT DISTINCT user_id FROM memories").fetchall()
        assert owners == [("ana",)]
        for part in map(sql.Identifier, parts):
            try:
                assert connection.execute(sql.SQL("SELECT FROM {}").format(part)).fetchall() == []
                assert role == "owner_url"
            except psycopg.errors.InsufficientPrivilege:
                assert role == "app_url"
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(
                "INSERT INTO slots (tenant_id, user_id, space, slot, memory_id) VALUES ('acme', 'ben', 'default', 's', 'm')"
            )


async def test_a_role_that_comes_later_may_clean_and_nothing_else(database: Database) -> None:
    divide(database, PARTS)
    asked(database, "DO $$ BEGIN CREATE ROLE later LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute(grants("later").encode())
    rights = "SELECT DISTINCT privilege_type FROM information_schema.role_table_grants WHERE grantee = 'later' "
    assert asked(database, rights + "AND table_name ~ '_p[0-9]+$'") == [], "none of those that the standard knows"
    assert asked(database, "SELECT has_table_privilege('later', 'entries_p001', 'MAINTAIN')") == [(True,)]


def test_it_is_done_once_and_says_so(database: Database, cli: CommandLine) -> None:
    cli.env["RECOLLECT_MIGRATE_URL"] = database.owner_url
    command = ("db", "partition", "--store", database.app_url, "--parts")
    shown = cli.json(*command, "2", "--dry-run")
    assert shown["dry_run"]
    assert "CREATE TABLE memories_p001 PARTITION OF memories" in " ".join(shown["statements"])
    assert asked(database, OF_PARTS) == [], "nothing was done"
    assert cli(*command, "2").stdout.strip() == "in 2 parts, by user"
    assert "in 2 parts already" in cli(*command, "2", code=1).output
    assert "in 2 parts already" in cli(*command, "4", code=1).output
    assert "greater than or equal to 2" in cli(*command, "1", code=2).output
    assert "large tables are in 2, by user" in " ".join(cli("doctor", "--store", database.app_url).stdout.split())


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("CREATE VIEW recent AS SELECT id FROM memories", "memories has a view"),
        ("CREATE PUBLICATION told FOR TABLE entries", "entries has a publication"),
        ("CREATE STATISTICS together ON kind, state FROM embeddings", "embeddings has statistics of several columns"),
        ("GRANT SELECT (id) ON messages TO pg_monitor", "messages has rights on single columns"),
        ("CREATE RULE quiet AS ON DELETE TO uses DO INSTEAD NOTHING", "uses has a rule"),
        (
            "CREATE TRIGGER noisy BEFORE UPDATE ON slots FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
            "slots has a trigger",
        ),
    ],
)
def test_what_would_be_lost_is_refused(database: Database, made: str, said: str) -> None:
    asked(database, made)
    with pytest.raises(Unsupported, match=said):
        divide(database, PARTS)
    assert asked(database, OF_PARTS) == []


async def test_nobody_is_held_up_for_long_and_only_the_owner_may(database: Database) -> None:
    with pytest.raises(NotAllowed):
        await partitions.divide(database.app_url, PARTS, lambda _done, _all: None)
    with psycopg.connect(database.app_url) as writer:
        writer.execute("LOCK TABLE memories IN ROW EXCLUSIVE MODE")
        with pytest.raises(Unavailable, match="lock"):
            await partitions.divide(database.owner_url, PARTS, lambda _done, _all: None)
    assert asked(database, OF_PARTS) == []


async def test_broken_off_it_has_changed_nothing(database: Database) -> None:
    await filled(database)
    before = rows(database)

    def give_up(done: int, of: int) -> None:
        if done == of - 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        partitions._divide(database.owner_url, PARTS, give_up, False)
    assert rows(database) == before
    assert asked(database, OF_PARTS) == []


async def test_an_administrator_leaves_the_tables_to_their_owner(database: Database) -> None:
    await partitions.divide(database.superuser_url, PARTS, lambda _done, _all: None)
    owners = "SELECT DISTINCT tableowner::text FROM pg_tables WHERE schemaname = 'public'"
    assert asked(database, owners) == [("owner",)]


async def test_a_cluster_deals_out_whole_tables(database: Database) -> None:
    divide(database, PARTS)
    asked(
        database,
        """INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
           SELECT 16000, 'citus', extowner, extnamespace, extrelocatable, '0' FROM pg_extension WHERE extname = 'vector'""",
    )
    with pytest.raises(Unsupported, match="is in parts"):
        await citus.spread(database.owner_url, 32)
    with pytest.raises(Unsupported, match="Citus"):
        divide(database, PARTS)


def test_upgrades_run_on_tables_in_parts_and_what_they_add_is_divided_later(postgres: PostgresServer) -> None:
    database = postgres.fresh_database()
    migrations.upgrade(database.owner_url, "0004", app_role="app")
    divide(database, PARTS)
    migrations.upgrade(database.owner_url, app_role="app")
    fill(database)
    with psycopg.connect(database.owner_url) as connection:
        behind = ["slots", "uses", "recollect_drop_leftovers", "recollect_prepare_generation"]
        assert partitions.left_behind(connection) == behind
        (said,) = in_parts(connection)
        assert not said.ok
        assert (
            f"not in parts: {', '.join(behind)}; the owner runs `recollect db partition --parts 4` again" == said.detail
        )
    before = rows(database)
    with pytest.raises(Conflict, match="say `--parts 4`"):
        divide(database, 8)
    divide(database, PARTS)
    assert rows(database) == before
    fresh = migrated(postgres)
    with psycopg.connect(database.owner_url) as old, psycopg.connect(fresh.owner_url) as new:
        assert partitions.left_behind(old) == []
        for table in PROTECTED:
            upgraded, made = shape(old, table), shape(new, table)
            assert upgraded.differs(made) == [], table
    for each in (database, fresh):
        postgres.discard(each)


async def test_of_two_who_divide_at_once_one_does(database: Database) -> None:
    both = [partitions.divide(database.owner_url, PARTS, lambda _done, _all: None) for _ in range(2)]
    outcomes = await asyncio.gather(*both, return_exceptions=True)
    assert sorted(type(each).__name__ for each in outcomes) == ["Conflict", "list"]
