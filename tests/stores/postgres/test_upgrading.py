"""An upgrade without a pause: the version before goes on working on the new schema, until the last of its processes is replaced.

Two things hold it. What every revision does to what was there before is read from the catalogue and held to the rule: nothing
goes, nothing is renamed or made stricter, and what is added to an existing table may be left out. And what the code of earlier
revisions said to the database, written down when it was current (`recording`), is said again to the schema of today. The other
way round, the new code on the schema before, is refused at the start in so many words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import psycopg
import pytest
from sqlalchemy.exc import OperationalError

from recollect.errors import Unavailable
from recollect.model import Listing
from recollect.stores import migrations
from recollect.stores.migrations import run
from recollect.stores.postgres import PostgresStore
from tests.contract.samples import ANA, digest, memory
from tests.services.postgres import Database, PostgresServer
from tests.stores.postgres.recording import SPOKEN, read

REVISIONS = [script.revision for script in reversed([*run.scripts().walk_revisions()])]
RECORDED = sorted(path.stem for path in SPOKEN.glob("*.sql"))

BEFORE_ANYBODY = {
    "0003: table provider_configs is gone": "nothing could ever write it",
    "0004: index embeddings_outside is new on embeddings": "made before the first release",
    "0007: index ix_memories_simhash is new on memories": "made before the first release",
}
"""What revisions did when there was no version before them that anybody ran. Nothing is added here."""

CATALOGUE: Mapping[str, str] = {
    "table": """SELECT relname::text, relname::text, '' FROM pg_class
                WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'alembic_version'""",
    "column": """SELECT table_name || '.' || column_name, table_name::text,
                        concat_ws(' ', data_type, character_maximum_length, is_nullable, column_default)
                 FROM information_schema.columns WHERE table_schema = 'public'""",
    "constraint": """SELECT conname::text, conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint
                     WHERE connamespace = 'public'::regnamespace AND contype <> 'n'""",
    "index": """SELECT indexname::text, tablename::text, indexdef FROM pg_indexes WHERE schemaname = 'public'""",
    "function": """SELECT proname::text, '', pg_get_function_arguments(oid) || ' -> ' || pg_get_function_result(oid)
                   FROM pg_proc WHERE proname LIKE 'recollect%'""",
    "right": """SELECT table_name || ' ' || privilege_type, table_name::text, '' FROM information_schema.role_table_grants
                WHERE grantee = 'app'""",
}
ENTER = "SELECT set_config('app.tenant_id', 'recollect', true), set_config('app.user_id', 'rounds', true)"
Schema = dict[tuple[str, str], tuple[str, str]]


def schema_of(url: str) -> Schema:
    """Everything there is, by kind and name: the table it is part of, and how it is made."""
    with psycopg.connect(url) as connection:
        return {
            (kind, name): (table, made)
            for kind, statement in CATALOGUE.items()
            for name, table, made in connection.execute(statement.encode())
        }


def breaches(before: Schema, after: Schema) -> Iterator[str]:
    """What the version before would stumble over, or wait for."""
    gone = {name for kind, name in before.keys() - after.keys() if kind == "table"}
    for (kind, name), (table, made) in sorted(before.items()):
        if (kind, name) not in after:
            if kind == "table" or table not in gone:
                yield f"{kind} {name} is gone"
        elif after[kind, name][1] != made:
            yield f"{kind} {name} is another"
    for kind, name in sorted(after.keys() - before.keys()):
        table, made = after[kind, name]
        if ("table", table) not in before:
            continue
        if kind == "column" and " NO" in made and not made.split(" NO", 1)[1].strip():
            yield f"column {name} can't be left out"
        elif kind in {"constraint", "index"}:
            yield f"{kind} {name} is new on {table}"


@pytest.fixture(scope="module")
def history(postgres: PostgresServer) -> dict[str, Schema]:
    """The schema at every revision, in order."""
    database = postgres.fresh_database()
    found: dict[str, Schema] = {}
    for revision in REVISIONS:
        migrations.upgrade(database.owner_url, revision, app_role="app")
        found[revision] = schema_of(database.superuser_url)
    postgres.discard(database)
    return found


def test_every_revision_leaves_what_the_one_before_uses(history: dict[str, Schema]) -> None:
    found = {
        f"{later}: {breach}"
        for earlier, later in pairwise(REVISIONS)
        for breach in breaches(history[earlier], history[later])
    }
    assert found == set(BEFORE_ANYBODY)


def test_the_revision_before_the_newest_was_recorded() -> None:
    assert REVISIONS[-2] in RECORDED, "python -m tests.stores.postgres.recording, with the code of that revision"


@pytest.mark.parametrize("revision", RECORDED)
def test_what_earlier_code_says_is_understood(revision: str, database: Database) -> None:
    everything = [*read(revision)]
    mine = [said for said in everything if not said.verb.startswith("system.")]
    with psycopg.connect(database.app_url) as connection:
        connection.execute(ENTER)
        for said in mine:
            assert connection.execute(said.statement.encode()).rowcount == said.rows, said
        connection.rollback()
        for said in everything[len(mine) :]:
            assert connection.execute(said.statement.encode()).rowcount == said.rows, said
        connection.rollback()


@pytest.mark.parametrize(
    ("statement", "breach"),
    [
        ("ALTER TABLE themes DROP COLUMN description", "column themes.description is gone"),
        ("ALTER TABLE themes RENAME TO topics", "table themes is gone"),
        ("ALTER TABLE themes ADD COLUMN colour text NOT NULL", "column themes.colour can't be left out"),
        ("ALTER TABLE themes ALTER COLUMN description SET NOT NULL", "column themes.description is another"),
        ("ALTER TABLE themes ADD CONSTRAINT named CHECK (display_name <> '')", "constraint named is new on themes"),
        ("CREATE UNIQUE INDEX one ON themes (tenant_id, display_name)", "index one is new on themes"),
        ("REVOKE UPDATE ON themes FROM app", "right themes UPDATE is gone"),
        ("DROP FUNCTION recollect_backlog", "function recollect_backlog is gone"),
        ("ALTER TABLE themes ADD COLUMN colour text", None),
        ("ALTER TABLE themes ADD COLUMN colour text NOT NULL DEFAULT 'grey'", None),
        ("CREATE TABLE colours (name text PRIMARY KEY)", None),
    ],
)
def test_a_breach_is_seen(statement: str, breach: str | None, database: Database) -> None:
    before = schema_of(database.superuser_url)
    with psycopg.connect(database.owner_url, autocommit=True) as connection:
        connection.execute(statement.encode())
    found = list(breaches(before, schema_of(database.superuser_url)))
    assert breach in found if breach else found == []


async def test_new_code_says_that_the_schema_is_too_old_and_works_once_it_is_not(blank_database: Database) -> None:
    migrations.upgrade(blank_database.owner_url, REVISIONS[-2], app_role="app")
    with pytest.raises(Unavailable, match="recollect db upgrade"):
        await PostgresStore.open(blank_database.app_url)
    store = await PostgresStore.open(blank_database.app_url, migrate_url=blank_database.owner_url)
    await store.close()


def test_nobody_waits_behind_an_upgrade_that_waits(blank_database: Database) -> None:
    migrations.upgrade(blank_database.owner_url, "0009", app_role="app")
    address = blank_database.owner_url.replace("postgresql://", "postgresql+psycopg://")
    with psycopg.connect(blank_database.owner_url) as reader:
        reader.execute("LOCK TABLE embeddings IN ACCESS SHARE MODE")  # a report that takes its time
        with pytest.raises(OperationalError, match="lock timeout"):
            run.upgrade_postgres(address, app_role="app", patience_ms=100)
        assert migrations.current(blank_database.owner_url) == "0009"
    run.upgrade_postgres(address, app_role="app")
    assert migrations.current(blank_database.owner_url) == migrations.head()


async def test_an_owner_who_is_away_is_said_to_be(database: Database) -> None:
    with pytest.raises(Unavailable):
        await PostgresStore.open(
            database.app_url, migrate_url="postgresql://owner@127.0.0.1:1/nowhere?connect_timeout=5"
        )


async def test_a_newer_schema_is_worked_on(database: Database) -> None:
    with psycopg.connect(database.owner_url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.execute("ALTER TABLE memories ADD COLUMN colour text NOT NULL DEFAULT 'grey'")
    store = await PostgresStore.open(database.app_url)
    await store.write(ANA, lambda tx: tx.memories.insert(memory(), digest("x")))
    assert (await store.read(ANA, lambda tx: tx.memories.list(Listing()))).total == 1
    await store.close()
